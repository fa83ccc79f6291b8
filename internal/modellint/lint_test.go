package modellint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// settings are what models are checked against.
type settings struct {
	policies *policy.Set
	jobTypes map[string]string
}

// standard are those of a worker without settings.
var standard = settings{policy.BuiltIns(), map[string]string{"analyze-retry": "tiss", "retry-submission-backoff": "tiss"}}

// ofTheCorpus are the settings under which the corpus was run.
func ofTheCorpus(t *testing.T) settings {
	t.Helper()
	policies, err := policy.Open("testdata/policies.yaml", retry.Settings{})
	check.Must(t, err)
	return settings{policies, map[string]string{
		"analyze-retry": "tiss", "retry-submission-backoff": "tiss", "analyze-retry-unimed": "tiss", "analyze-retry-odontoprev": "dental",
	}}
}

func models(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	check.Must(t, err)
	if len(paths) < 2 {
		t.Fatalf("%s names %d files", pattern, len(paths))
	}
	return paths
}

func file(t *testing.T, path string) bpmn.Model {
	t.Helper()
	content, err := os.ReadFile(path)
	check.Must(t, err)
	return bpmn.Model{Name: filepath.Base(path), Content: content}
}

func TestGoodModelsAndOurOwnHaveNoFinding(t *testing.T) {
	for pattern, o := range map[string]settings{
		"testdata/good/*.bpmn": ofTheCorpus(t), "../../bpmn/*.bpmn": standard, "../../examples/*.bpmn": standard,
		"testdata/good/not-run/*.bpmn": standard, // by the engine of the tests, which has not all that is in them
	} {
		for _, path := range models(t, pattern) {
			check.Same(t, nil, found(o, file(t, path)), "%s", path)
		}
	}
}

// A bad model is named after the rule that it breaks; what it breaks besides would hide that.
func TestBadModelsHaveTheFindingTheyAreNamedAfter(t *testing.T) {
	o := ofTheCorpus(t)
	for _, path := range models(t, "testdata/bad/*.bpmn") {
		name := strings.TrimSuffix(filepath.Base(path), ".bpmn")
		findings := modellint.Lint([]bpmn.Model{file(t, path)}, o.policies, o.jobTypes)
		if len(findings) == 0 {
			t.Errorf("%s: no finding", name)
		}
		for _, f := range findings {
			if !strings.HasPrefix(name+"-", f.Check+"-") {
				t.Errorf("%s, line %d: %s %s: %s", name, f.Line, f.Check, f.Subject, f.What)
			}
		}
	}
}

const head = `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">`

// Circles of calls and flows, and an event that is attached to itself, must end.
func TestCircularModelsEnd(t *testing.T) {
	findings := modellint.Lint([]bpmn.Model{{Name: "it.bpmn", Content: []byte(head + `<bpmn:process id="p" isExecutable="true">
		<bpmn:callActivity id="a"><bpmn:extensionElements><zeebe:calledElement processId="p"/></bpmn:extensionElements></bpmn:callActivity>
		<bpmn:boundaryEvent id="b" attachedToRef="b"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>
		<bpmn:serviceTask id="t"><bpmn:extensionElements><zeebe:taskDefinition type="analyze-retry" retries="3"/></bpmn:extensionElements></bpmn:serviceTask>
		<bpmn:sequenceFlow sourceRef="t" targetRef="t"/>
	</bpmn:process></bpmn:definitions>`)}}, standard.policies, standard.jobTypes)
	if !slices.ContainsFunc(findings, func(f text.Finding) bool { return f.Check == "error-not-caught" && f.Subject.String() == "a" }) {
		t.Errorf("the error that the process throws at its own call is not found: %+v", findings)
	}
}
