package cli_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

const testPolicies = "testdata/simulate.yaml"

// simulateGolden are the command lines whose output is pinned: the same seed gives the same bytes.
var simulateGolden = map[string][]string{
	"simulate":           {"simulate", "--policy", testPolicies + ":short", "--outage", "3h", "--claims", "500"},
	"simulate_compare":   {"simulate", "--policy", testPolicies + ":short", "--compare", testPolicies + ":long", "--outage", "3h", "--outage", "8h+2h", "--arrivals", "12h", "--claims", "500", "--failure-rate", "0.02", "--seed", "7"},
	"simulate_burst":     {"simulate", "--policy", testPolicies + ":long", "--outage", "3h", "--arrivals", "0s", "--claims", "500"},
	"simulate_permanent": {"simulate", "--policy", testPolicies + ":long", "--outage", "3h", "--error", "EXPIRED", "--claims", "500"},
	"simulate_json":      {"simulate", "--policy", testPolicies + ":short", "--outage", "30m", "--claims", "50", "--json"},
}

func TestASimulationIsPinned(t *testing.T) { with().pinned(t, "", simulateGolden) }

func TestSurvivorBeforeTheLastOutageIsNotCounted(t *testing.T) {
	args := []string{"simulate", "--outage", "1h", "--outage", "4h+1h", "--claims", "500"}
	with().prints(t, args, "last survivor, after the outage -\n")
	with().prints(t, append(args, "--json"), `"lastAcceptedAfterOutageSeconds": null`)
}

func TestThePictureIsDrawnWithoutOverlapsOfTheFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	with().must(t, append(simulateGolden["simulate_compare"], "--svg", path)...)
	picture := read(t, path)
	checkXML(t, picture)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, error %v", info.Mode(), err)
	}
	checkGolden(t, "simulate_svg", picture)
	with().fails(t, 1, "picture: open /nonexistent/out.svg", strings.Fields("simulate --outage 3h --claims 10 --svg /nonexistent/out.svg")...)
}

func TestAnErrorTextCannotBreakThePicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	checkScreen(t, with().must(t, "simulate", "--policy", testPolicies+":short", "--outage", "1h", "--claims", "10", "--svg", path,
		"--error", "TIMEOUT </text><script>\x00&"))
	picture := read(t, path)
	checkXML(t, picture)
	if strings.Contains(picture, "<script") {
		t.Error("the text is part of the picture's markup")
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		check.Must(t, err)
	}
}

func TestAPolicyIsNamedByNameOrByFile(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.yaml")
	write(t, own, "policies: [{name: own, extends: tiss, maxRetries: 1}]")
	replaced := filepath.Join(t.TempDir(), "replaced.yaml")
	write(t, replaced, "policies: [{name: tiss, extends: tiss, maxRetries: 1}]")
	for _, test := range []struct{ named, file, want, complaint string }{
		{"tiss", "", "Policy tiss,", ""},
		{own, "", "Policy own,", ""},
		{own + ":own", "", "Policy own,", ""},
		{own + ":tiss", "", "Policy tiss,", ""},
		{"own", own, "Policy own,", ""},
		{"tiss", replaced, "tries for each claim             2.00", ""},
		{replaced, "", "tries for each claim             2.00", ""},
		{"own", "", "", `there is no policy "own"; there are fast,`},
		{testPolicies, "", "", "testdata/simulate.yaml has 2 policies; name one of them: testdata/simulate.yaml:long, testdata/simulate.yaml:short"},
		{"none.yaml", "", "", "none.yaml"},
		{testPolicies + ":none", "", "", `there is no policy "none"`},
		{"tiss", "none.yaml", "", "none.yaml"},
	} {
		set, args := with("RETRY_POLICIES_FILE="+test.file), []string{"simulate", "--outage", "100h", "--arrivals", "0s", "--claims", "10", "--policy", test.named}
		if test.complaint != "" {
			set.fails(t, 2, test.complaint, args...)
		} else {
			set.prints(t, args, test.want)
		}
	}
}

func TestDocumentationShowsARealSimulationAndReplay(t *testing.T) {
	document := read(t, "../../docs/simulate.md")
	_, rest, _ := strings.Cut(document, "```yaml\n")
	policies, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	file, svg := filepath.Join(dir, "patient.yaml"), filepath.Join(dir, "out.svg")
	write(t, file, policies)
	stdout := with().must(t, "simulate", "--outage", "3h", "--arrivals", "30m", "--compare", file, "--svg", svg)
	table, _, _ := strings.Cut(withoutVersions(stdout), "\nRetries in each")
	if !strings.Contains(document, "--compare patient.yaml --svg out.svg\n"+table+"```\n") {
		t.Errorf("docs/simulate.md does not hold this:\n%s", table)
	}
	if read(t, "../../docs/images/simulate.svg") != read(t, svg) {
		t.Error("docs/images/simulate.svg is not what the command of docs/simulate.md draws: draw it again")
	}

	_, again, _ := strings.Cut(played(t).must(t, "replay", "--policy", testPolicies+":long"), "\nSingle")
	again, _, _ = strings.Cut(again, "\nThe texts are")
	if !strings.Contains(document, "...\nSingle"+again+"```\n") {
		t.Errorf("docs/simulate.md does not hold this:\nSingle%s", again)
	}
}

// withoutVersions leaves out the versions of policies, as the documentation does: each new rule of tiss is another one.
func withoutVersions(text string) string {
	return regexp.MustCompile(`version [0-9a-f]{12}`).ReplaceAllString(text, "version ...")
}
