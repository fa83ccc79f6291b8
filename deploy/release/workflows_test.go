// Package release_test holds the workflows and the configuration of a release to what they promise. They cannot be run
// here.
package release_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// actionlint is run by its version: what it needs does not go together with what this module needs.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

// workflow is what the tests here look at.
type workflow struct {
	Permissions any `json:"permissions"`
	Concurrency any `json:"concurrency"`
	Jobs        map[string]struct {
		Permissions    map[string]string `json:"permissions"`
		TimeoutMinutes int               `json:"timeout-minutes"`
		Needs          string            `json:"needs"`
		Steps          []struct {
			Uses string         `json:"uses"`
			Run  string         `json:"run"`
			With map[string]any `json:"with"`
		} `json:"steps"`
	} `json:"jobs"`
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	found := map[string]workflow{}
	for _, file := range deploytest.Files(t, ".github/workflows/*") {
		var w workflow
		if err := yaml.Unmarshal([]byte(deploytest.Read(t, file)), &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[filepath.Base(file)] = w
	}
	if len(found) != 3 {
		t.Fatalf("workflows: %v", slices.Collect(maps.Keys(found)))
	}
	return found
}

func TestTheWorkflowsHaveNoFaultThatTheirLinterKnows(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOBIN", dir)
	t.Setenv("GOFLAGS", "")
	if out, err := deploytest.Run(t, ".", "go", "install", actionlint); err != nil {
		t.Fatalf("actionlint cannot be had: %v\n%s", err, out)
	}
	lint := func(args ...string) (string, error) {
		return deploytest.Run(t, deploytest.Path(t, ""), filepath.Join(dir, "actionlint"), append([]string{"-no-color"}, args...)...)
	}
	if out, err := lint(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	bad := filepath.Join(dir, "bad.yml")
	deploytest.Write(t, bad, "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo ${{ matrix.none }}\n")
	if out, err := lint(bad); err == nil || !strings.Contains(out, "none") {
		t.Errorf("actionlint finds no fault with a name that is not there: %s", out)
	}
}

// A tag can be moved to other code, a commit cannot.
func TestEveryActionIsPinnedToACommit(t *testing.T) {
	pinned := regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	commits := map[string]string{}
	for name := range workflows(t) {
		for line := range strings.Lines(deploytest.Read(t, ".github/workflows/"+name)) {
			line = strings.TrimSpace(line)
			if !strings.Contains(line, "uses:") {
				continue
			}
			if !pinned.MatchString(line) {
				t.Errorf("%s: %s", name, line)
				continue
			}
			action, rest, _ := strings.Cut(line, "@")
			if known, seen := commits[action]; seen && known != rest {
				t.Errorf("%s is there in two versions: %s and %s", action, known, rest)
			}
			commits[action] = rest
		}
	}
}

func TestAWorkflowTakesOnlyTheRightsThatItNeeds(t *testing.T) {
	may := map[string]map[string]string{
		"release.yml test":     {"contents": "read"},
		"release.yml binaries": {"contents": "write", "id-token": "write", "attestations": "write"},
		"release.yml image":    {"contents": "read", "packages": "write", "id-token": "write"},
	}
	for name, w := range workflows(t) {
		whole, _ := w.Permissions.(map[string]any)
		if w.Permissions == nil || len(whole) > 1 || len(whole) == 1 && whole["contents"] != "read" {
			t.Errorf("%s: permissions %v; without a line of its own a workflow may do much", name, w.Permissions)
		}
		if w.Concurrency == nil {
			t.Errorf("two runs of %s may overlap", name)
		}
		for job, j := range w.Jobs {
			if !maps.Equal(j.Permissions, may[name+" "+job]) {
				t.Errorf("%s, %s: permissions %v, want %v", name, job, j.Permissions, may[name+" "+job])
			}
			if j.TimeoutMinutes == 0 {
				t.Errorf("%s, %s: it has no timeout and could hang for six hours", name, job)
			}
			for _, step := range j.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s, %s: the checkout leaves its token for whatever runs next", name, job)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s, %s: a name from outside becomes part of a script: %s", name, job, step.Run)
				}
			}
		}
	}
}

func TestWhatIsTestedIsWhatEverybodyRuns(t *testing.T) {
	all := workflows(t)
	for _, c := range []struct{ file, job string }{{"test.yml", "verify"}, {"release.yml", "test"}} {
		steps := all[c.file].Jobs[c.job].Steps
		if !strings.HasSuffix(steps[len(steps)-1].Run, " .ci/run") {
			t.Errorf("%s does not run .ci/run: %+v", c.file, steps)
		}
	}
	for job, j := range all["release.yml"].Jobs {
		if job != "test" && j.Needs != "test" {
			t.Errorf("%s does not wait for the tests", job)
		}
	}
}

func TestVulnerabilitiesAreLookedForEveryWeek(t *testing.T) {
	text := deploytest.Read(t, ".github/workflows/govulncheck.yml")
	if !regexp.MustCompile(`cron: "\d+ \d+ \* \* [0-6]"`).MatchString(text) || !strings.Contains(text, "govulncheck@v") {
		t.Error(text)
	}
}

// The two packages of Zeebe must stay at 8.5, whatever newer there is.
func TestUpdatesOfZeebeAreHeldBack(t *testing.T) {
	var renovate struct {
		PackageRules []struct {
			MatchPackageNames []string
			AllowedVersions   string
			Enabled           *bool
		}
	}
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, ".github/renovate.json")), &renovate); err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, r := range renovate.PackageRules {
		if slices.Contains(r.MatchPackageNames, "camunda/zeebe") && r.AllowedVersions == "~8.5.0" {
			held++
		}
		if slices.Contains(r.MatchPackageNames, "github.com/camunda/zeebe/clients/go/v8") && r.Enabled != nil && !*r.Enabled {
			held++
		}
	}
	if held != 2 {
		t.Errorf("of Zeebe's two packages %d are held back", held)
	}
}
