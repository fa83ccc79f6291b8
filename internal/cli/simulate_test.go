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
	"unicode/utf8"
)

const testPolicies = "testdata/simulate.yaml"

// simulateGolden are the command lines whose output is pinned: the same seed gives the same bytes.
var simulateGolden = map[string][]string{
	"simulate_help":      {"simulate", "--help"},
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

func TestOneWhoIsAcceptedBeforeTheLastOutageIsOverIsNotCountedFromItsEnd(t *testing.T) {
	code, stdout, stderr := worker(t, []string{"simulate", "--outage", "1h", "--outage", "4h+1h", "--claims", "500"})
	if code != 0 || !strings.Contains(stdout, "\nlast survivor, after the outage                -\n") {
		t.Errorf("exit code %d, complaint %s, output\n%s", code, stderr, stdout)
	}
	_, stdout, _ = worker(t, []string{"simulate", "--outage", "1h", "--outage", "4h+1h", "--claims", "500", "--json"})
	if !strings.Contains(stdout, `"lastAcceptedAfterOutageSeconds": null`) {
		t.Errorf("as JSON:\n%s", stdout)
	}
}

func TestAComparisonOfAMillionClaimsFitsATerminal(t *testing.T) {
	for _, arrivals := range []string{"0s", "40m"} {
		code, stdout, stderr := worker(t, []string{"simulate", "--policy", "fast", "--compare", "job-queue", "--outage", "10m", "--arrivals", arrivals, "--claims", "1000000"})
		if code != 0 || !strings.Contains(stdout, "difference") {
			t.Fatalf("exit code %d, complaint %s", code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("a line of %d columns: %s", n, line)
			}
		}
	}
}

func TestNearlyAllClaimsAreNotToldAsAll(t *testing.T) {
	_, stdout, _ := worker(t, []string{"simulate", "--policy", "fast", "--outage", "1s", "--arrivals", "2h", "--claims", "10000"})
	if !strings.Contains(stdout, "(99.9 %)") || strings.Contains(stdout, "100.0 %") {
		t.Errorf("%s", stdout)
	}
}

func TestThePictureIsDrawnWithoutOverlapsOfTheFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	args := append([]string{"--svg", path}, simulateGolden["simulate_compare"][1:]...)
	if code, _, stderr := worker(t, append([]string{"simulate"}, args...)); code != 0 {
		t.Fatal(stderr)
	}
	picture, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkXML(t, picture)
	for _, part := range []string{"retries of short", "retries of long", "the same without jitter", ">outage<", "time since the first claims were submitted", "retry 8"} {
		if !strings.Contains(string(picture), part) {
			t.Errorf("the picture lacks %q", part)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, error %v", info.Mode(), err)
	}
	checkGolden(t, "simulate_svg", string(picture))
}

func TestAnErrorTextCannotBreakThePicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	args := []string{"simulate", "--policy", testPolicies + ":short", "--outage", "1h", "--claims", "10", "--svg", path, "--error", "TIMEOUT </text><script>\x00&"}
	code, stdout, stderr := worker(t, args)
	if code != 0 {
		t.Fatal(stderr)
	}
	checkScreen(t, stdout)
	picture, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkXML(t, picture)
	if strings.Contains(string(picture), "<script") {
		t.Error("the text is part of the picture's markup")
	}
}

func checkXML(t *testing.T, text []byte) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(text)))
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
	if err := os.WriteFile(own, []byte("policies: [{name: own, extends: tiss, maxRetries: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	replaced := filepath.Join(t.TempDir(), "replaced.yaml")
	if err := os.WriteFile(replaced, []byte("policies: [{name: tiss, extends: tiss, maxRetries: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ named, file, want, complaint string }{
		{"tiss", "", "Policy tiss,", ""},
		{own, "", "Policy own,", ""},
		{own + ":own", "", "Policy own,", ""},
		{own + ":tiss", "", "Policy tiss,", ""},
		{"own", own, "Policy own,", ""},
		{"tiss", replaced, "tries for each claim                        2.00", ""},
		{replaced, "", "tries for each claim                        2.00", ""},
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

func TestAMistakeInASimulationIsTold(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "--outage is missing"},
		{"--outage 3", "500ms, 90s, 5m or 24h"},
		{"--outage 3h+", "500ms, 90s, 5m or 24h"},
		{"--outage 1500ms", "an outage is from 0s to 1.5s but must last a second or more, in whole seconds"},
		{"--outage 3h --claims 0 --failure-rate 1", "claims are 0 but must be 1 to 1000000\nworker: the failure rate is 1"},
		{"--outage 3h --arrivals 90", "--arrivals"},
		{"--outage 3h --claims 10 --svg /nonexistent/out.svg", "picture: open /nonexistent/out.svg"},
	} {
		code, stdout, stderr := worker(t, append([]string{"simulate"}, strings.Fields(test.args)...))
		if code == 0 || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d, output %q, complaint %s", test.args, code, stdout, stderr)
		}
	}
}

func TestTheDocumentationShowsASimulationAndAReplayAsTheyAre(t *testing.T) {
	text, err := os.ReadFile("../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(text)
	_, rest, _ := strings.Cut(document, "```yaml\n")
	policies, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	file, svg := filepath.Join(dir, "patient.yaml"), filepath.Join(dir, "out.svg")
	if err := os.WriteFile(file, []byte(policies), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := worker(t, []string{"simulate", "--outage", "3h", "--arrivals", "30m", "--compare", file, "--svg", svg})
	if code != 0 {
		t.Fatal(stderr)
	}
	table, _, _ := strings.Cut(withoutVersions(stdout), "\nRetries in each")
	if !strings.Contains(document, "--compare patient.yaml --svg out.svg\n"+table+"```\n") {
		t.Errorf("docs/simulate.md does not hold this:\n%s", table)
	}
	drawn, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("../../docs/images/simulate.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(shown) != string(drawn) {
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
