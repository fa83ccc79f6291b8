// Package prometheus_test holds the alert rules of this directory to their tests.
package prometheus_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promtool runs the program of that name in this directory.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing (Debian: apt-get install --no-install-recommends prometheus)")
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

func TestTheAlertRulesAreValidAndFireWhenTheyShould(t *testing.T) {
	promtool(t, append([]string{"check", "rules", "--lint-fatal"}, files(t, "*.rules.yml")...)...)
	promtool(t, append([]string{"test", "rules"}, files(t, "*.rules.test.yml")...)...)
}

// ours are the metrics of the worker, as a rule names them.
var ours = regexp.MustCompile(`\b((?:retry|backoff)_[a-z_]+)[{\[]`)

func TestTheAlertRulesNameMetricsThatTheWorkerHas(t *testing.T) {
	has, err := os.ReadFile("../../internal/metrics/testdata/at_start.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files(t, "*.rules.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := ours.FindAllStringSubmatch(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric of the worker", file)
		}
		for _, name := range names {
			if !regexp.MustCompile(`(?m)^` + name[1] + `[{ ]`).Match(has) {
				t.Errorf("%s: the worker has no %s", file, name[1])
			}
		}
	}
}
