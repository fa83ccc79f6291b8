package modellint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/policy"
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
		Policies: policies, Known: bundled(),
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
		for _, f := range modellint.Lint([]modellint.File{file(t, path)}, o) {
			t.Errorf("%s:%d: %s %s %s: %s", path, f.Line, f.Severity, f.Rule, f.Element, f.Problem)
		}
	}
}

// A bad model is named after the rule that it breaks; what it breaks besides would hide that.
func TestBadModelsHaveTheFindingTheyAreNamedAfter(t *testing.T) {
	o := corpusOptions(t)
	for _, path := range models(t, "testdata/bad/*.bpmn") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".bpmn"), func(t *testing.T) {
			want := ruleOf(t, path)
			findings := modellint.Lint([]modellint.File{file(t, path)}, o)
			if len(findings) == 0 {
				t.Errorf("no finding, want %s", want)
			}
			for _, f := range findings {
				if f.Rule != want {
					t.Errorf("line %d: %s %s: %s, want only %s", f.Line, f.Rule, f.Element, f.Problem, want)
				}
			}
		})
	}
}

// ruleOf returns the rule that a bad model is named after.
func ruleOf(t *testing.T, path string) string {
	t.Helper()
	name := filepath.Base(path)
	rules := modellint.Rules()
	i := slices.IndexFunc(rules, func(r modellint.Rule) bool {
		rest, is := strings.CutPrefix(name, r.ID)
		return is && (rest == ".bpmn" || strings.HasPrefix(rest, "-"))
	})
	if i < 0 {
		t.Fatalf("%s is named after no rule", name)
	}
	return rules[i].ID
}
