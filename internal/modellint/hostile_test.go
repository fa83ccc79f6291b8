package modellint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/testing/check"
)

const head = `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">`

func lintText(text string) []modellint.Finding {
	return modellint.Lint([]modellint.File{{Name: "it.bpmn", Content: []byte(text)}}, modellint.Options{})
}

func TestWhatIsNoModelIsUnreadableWithTheReason(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"text":           {"hello", "it is empty, or no XML"},
		"no process":     {head + `</bpmn:definitions>`, "no process"},
		"too many nodes": {head + `<bpmn:process id="p">` + strings.Repeat("<bpmn:task/>", 6000) + `</bpmn:process></bpmn:definitions>`, "more than 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			found := lintText(c.text)
			if len(found) != 1 || found[0].Rule != "unreadable" || found[0].Severity != modellint.SevereError || !strings.Contains(found[0].Problem, c.says) {
				t.Errorf("%+v, want unreadable: %s", found, c.says)
			}
		})
	}
}

// Circles of calls, flows and links, and attachments to nothing, must end.
func TestCircularModelsEnd(t *testing.T) {
	found := lintText(head + `<bpmn:process id="p">
		<bpmn:callActivity id="a"><bpmn:extensionElements><zeebe:calledElement processId="p"/></bpmn:extensionElements></bpmn:callActivity>
		<bpmn:boundaryEvent id="b" attachedToRef="b"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>
		<bpmn:serviceTask id="t"><bpmn:extensionElements><zeebe:taskDefinition type="analyze-retry" retries="3"/></bpmn:extensionElements></bpmn:serviceTask>
		<bpmn:sequenceFlow sourceRef="t" targetRef="t"/><bpmn:sequenceFlow sourceRef="t" targetRef="nothing"/>
	</bpmn:process></bpmn:definitions>`)
	if !slices.ContainsFunc(found, func(f modellint.Finding) bool { return f.Rule == "error-not-caught" && f.Element == "a" }) {
		t.Errorf("the error that the process throws at its own call is not found: %+v", found)
	}
}

func TestTheLargestModelGetsAHundredFindings(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + `<bpmn:process id="p">`)
	const pairs = 333
	for i := range pairs {
		fmt.Fprintf(&b, `<bpmn:serviceTask id="t%d"><bpmn:extensionElements><zeebe:taskDefinition type="analyze-retry"/></bpmn:extensionElements></bpmn:serviceTask>
<bpmn:serviceTask id="s%d"/><bpmn:boundaryEvent id="e%d" attachedToRef="s%d"><bpmn:extensionElements><zeebe:ioMapping>
<zeebe:output source="=submissionError" target="submissionError"/></zeebe:ioMapping></bpmn:extensionElements><bpmn:errorEventDefinition/></bpmn:boundaryEvent>
<bpmn:sequenceFlow sourceRef="e%d" targetRef="t%d"/><bpmn:sequenceFlow sourceRef="t%d" targetRef="s%d"/>`, i, i, i, i, i, i, i, (i+1)%pairs)
	}
	b.WriteString(`</bpmn:process></bpmn:definitions>`)
	found := lintText(b.String())
	if last := found[len(found)-1]; len(found) != 101 || last.Rule != "more" || !strings.Contains(last.Problem, "more findings") {
		t.Errorf("%d findings, the last is %+v", len(found), last)
	}
}

func FuzzLint(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.bpmn", "testdata/bad/*.bpmn"} {
		paths, err := filepath.Glob(pattern)
		check.Must(f, err)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			check.Must(f, err)
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file := modellint.File{Name: "it.bpmn", Content: content}
		findings := modellint.Lint([]modellint.File{file}, modellint.Options{})
		if len(findings) > 101 {
			t.Errorf("%d findings", len(findings))
		}
		lines := strings.Count(string(content), "\n") + 1
		for _, found := range findings {
			if found.Line < 0 || found.Line > lines || found.Problem == "" || found.Rule == "" || found.File != "it.bpmn" {
				t.Errorf("%+v in a file of %d lines", found, lines)
			}
		}
	})
}
