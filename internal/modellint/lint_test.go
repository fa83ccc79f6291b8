package modellint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// corpusOptions are the settings under which the corpus was run.
func corpusOptions(t *testing.T) modellint.Options {
	t.Helper()
	text, err := os.ReadFile("testdata/policies.yaml")
	check.Must(t, err)
	policies, err := policy.Parse("policies.yaml", text)
	check.Must(t, err)
	return modellint.Options{
		Policies: policies,
		JobTypes: map[string]string{
			"analyze-retry": "tiss", "retry-submission-backoff": "tiss", "analyze-retry-unimed": "tiss", "analyze-retry-odontoprev": "dental",
		},
	}
}

func models(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	check.Must(t, err)
	if len(paths) < 5 {
		t.Fatalf("%s names %d files", pattern, len(paths))
	}
	return paths
}

func TestGoodModelsHaveNoFinding(t *testing.T) {
	o := corpusOptions(t)
	for _, path := range models(t, "testdata/good/*.bpmn") {
		for _, f := range modellint.Lint([]bpmn.Model{file(t, path)}, o) {
			t.Errorf("%s:%d: %s %s %s: %s", path, f.Line, f.Severity, f.Check, f.Subject, f.What)
		}
	}
}

// A bad model is named after the rule that it breaks; what it breaks besides would hide that.
func TestBadModelsHaveTheFindingTheyAreNamedAfter(t *testing.T) {
	o := corpusOptions(t)
	for _, path := range models(t, "testdata/bad/*.bpmn") {
		name := strings.TrimSuffix(filepath.Base(path), ".bpmn")
		t.Run(name, func(t *testing.T) {
			findings := modellint.Lint([]bpmn.Model{file(t, path)}, o)
			if len(findings) == 0 {
				t.Error("no finding")
			}
			for _, f := range findings {
				if !strings.HasPrefix(name+"-", f.Check+"-") {
					t.Errorf("line %d: %s %s: %s", f.Line, f.Check, f.Subject, f.What)
				}
			}
		})
	}
}
