package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

func TestASimulationIsPinned(t *testing.T) {
	for name, args := range simulateGolden {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := worker(t, args)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, complaint %s", code, stderr)
			}
			checkScreen(t, stdout)
			if strings.HasSuffix(name, "_json") && !json.Valid([]byte(stdout)) {
				t.Error("that is no JSON")
			}
			checkGolden(t, name, stdout)
		})
	}
}

func TestSurvivorBeforeTheLastOutageIsNotCounted(t *testing.T) {
	code, stdout, stderr := worker(t, []string{"simulate", "--outage", "1h", "--outage", "4h+1h", "--claims", "500"})
	if code != 0 || !strings.Contains(stdout, "\nlast survivor, after the outage  -\n") {
		t.Errorf("exit code %d, complaint %s, output\n%s", code, stderr, stdout)
	}
	_, stdout, _ = worker(t, []string{"simulate", "--outage", "1h", "--outage", "4h+1h", "--claims", "500", "--json"})
	if !strings.Contains(stdout, `"lastAcceptedAfterOutageSeconds": null`) {
		t.Errorf("as JSON:\n%s", stdout)
	}
}

func TestThePictureIsDrawnWithoutOverlapsOfTheFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	args := append([]string{"--svg", path}, simulateGolden["simulate_compare"][1:]...)
	if code, _, stderr := worker(t, append([]string{"simulate"}, args...)); code != 0 {
		t.Fatal(stderr)
	}
	picture := read(t, path)
	checkXML(t, picture)
	for _, part := range []string{"retries of short", "retries of long", "the same without jitter", ">outage<", "time since the first claims were submitted", "retry 8"} {
		if !strings.Contains(picture, part) {
			t.Errorf("the picture lacks %q", part)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, error %v", info.Mode(), err)
	}
	checkGolden(t, "simulate_svg", picture)
}

func TestUnwritablePictureFails(t *testing.T) {
	code, stdout, stderr := worker(t, strings.Fields("simulate --outage 3h --claims 10 --svg /nonexistent/out.svg"))
	if code != 1 || stdout != "" || !strings.Contains(stderr, "picture: open /nonexistent/out.svg") {
		t.Errorf("exit code %d, output %q, complaint %s", code, stdout, stderr)
	}
}

func TestAnErrorTextCannotBreakThePicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	args := []string{"simulate", "--policy", testPolicies + ":short", "--outage", "1h", "--claims", "10", "--svg", path, "--error", "TIMEOUT </text><script>\x00&"}
	code, stdout, stderr := worker(t, args)
	if code != 0 {
		t.Fatal(stderr)
	}
	checkScreen(t, stdout)
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
		if err != nil {
			t.Fatal(err)
		}
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
		code, stdout, stderr := worker(t, []string{"simulate", "--outage", "100h", "--arrivals", "0s", "--claims", "10", "--policy", test.named}, "RETRY_POLICIES_FILE="+test.file)
		if test.complaint != "" {
			if code != 2 || !strings.Contains(stderr, test.complaint) {
				t.Errorf("--policy %s: exit code %d, complaint %s", test.named, code, stderr)
			}
			continue
		}
		if code != 0 || !strings.Contains(stdout, test.want) {
			t.Errorf("--policy %s: exit code %d, complaint %s, output\n%s", test.named, code, stderr, stdout)
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
	code, stdout, stderr := worker(t, []string{"simulate", "--outage", "3h", "--arrivals", "30m", "--compare", file, "--svg", svg})
	if code != 0 {
		t.Fatal(stderr)
	}
	table, _, _ := strings.Cut(withoutVersions(stdout), "\nRetries in each")
	if !strings.Contains(document, "--compare patient.yaml --svg out.svg\n"+table+"```\n") {
		t.Errorf("docs/simulate.md does not hold this:\n%s", table)
	}
	drawn := read(t, svg)
	shown := read(t, "../../docs/images/simulate.svg")
	if shown != drawn {
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
