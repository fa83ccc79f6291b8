package modellint_test

import (
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// standard are those of a worker without settings.
var standard = modellint.Options{
	Policies: policy.BuiltIns(),
	JobTypes: map[string]string{"analyze-retry": "tiss", "retry-submission-backoff": "tiss"},
}

func file(t *testing.T, path string) bpmn.Model {
	t.Helper()
	content, err := os.ReadFile(path)
	check.Must(t, err)
	return bpmn.Model{Name: filepath.Base(path), Content: content}
}

// lintAlone returns the findings about one file, with the bundled models known.
func lintAlone(t *testing.T, path string) []text.Finding {
	t.Helper()
	return modellint.Lint([]bpmn.Model{file(t, path)}, standard)
}

func TestOurOwnModelsAreClean(t *testing.T) {
	models, err := filepath.Glob("../../bpmn/*.bpmn")
	check.Must(t, err)
	examples, err := filepath.Glob("../../examples/*.bpmn")
	check.Must(t, err)
	if len(models) < 2 || len(examples) < 6 {
		t.Fatalf("found %d models and %d examples", len(models), len(examples))
	}
	for _, path := range append(models, examples...) {
		for _, f := range lintAlone(t, path) {
			t.Errorf("%s:%d: %s %s %s: %s", path, f.Line, f.Severity, f.Check, f.Subject, f.What)
		}
	}
}
