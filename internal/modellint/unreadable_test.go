package modellint_test

import (
	"slices"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/text"
)

const head = `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">`

func lintText(model string) []text.Finding {
	return modellint.Lint([]bpmn.Model{{Name: "it.bpmn", Content: []byte(model)}}, standard)
}

func TestAFileWithoutAProcessIsUnreadable(t *testing.T) {
	found := lintText(head + `</bpmn:definitions>`)
	if len(found) != 1 || found[0].Check != "unreadable" || found[0].Severity != text.Error || found[0].What.String() != "it has no process" {
		t.Errorf("%+v", found)
	}
}

// Circles of calls and flows, and an event that is attached to itself, must end.
func TestCircularModelsEnd(t *testing.T) {
	found := lintText(head + `<bpmn:process id="p" isExecutable="true">
		<bpmn:callActivity id="a"><bpmn:extensionElements><zeebe:calledElement processId="p"/></bpmn:extensionElements></bpmn:callActivity>
		<bpmn:boundaryEvent id="b" attachedToRef="b"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>
		<bpmn:serviceTask id="t"><bpmn:extensionElements><zeebe:taskDefinition type="analyze-retry" retries="3"/></bpmn:extensionElements></bpmn:serviceTask>
		<bpmn:sequenceFlow sourceRef="t" targetRef="t"/>
	</bpmn:process></bpmn:definitions>`)
	if !slices.ContainsFunc(found, func(f text.Finding) bool { return f.Check == "error-not-caught" && f.Subject.String() == "a" }) {
		t.Errorf("the error that the process throws at its own call is not found: %+v", found)
	}
}
