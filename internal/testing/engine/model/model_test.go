package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

func TestProcessesThatAreExecutableAreRead(t *testing.T) {
	processes, err := model.Read(content(t, "testdata/everything.bpmn"))
	check.Must(t, err)
	if len(processes) != 2 || processes[0].ID != "everything" || processes[1].ID != "second" {
		t.Fatalf("%d processes, want the two that are executable", len(processes))
	}
	elements := map[string]*model.Element{}
	for _, e := range processes[0].Root.Children {
		elements[e.ID] = e
	}
	check.Same(t, "kind", elements["Tell"].JobType.Text, "the job of a sendTask")
	check.Same(t, "sent", elements["Sent"].Message.Name.Text, "the name of a message, an expression")
	check.Same(t, map[string]string{"empty": "", "label": "fragile"}, elements["Pack"].Headers, "headers")
	check.Same(t, "fixed text", elements["Pack"].Inputs[1].Source.Text, "a source that is no expression")
}

// refusedByBroker are the models that 8.5.8 refuses too, and why they are refused here.
var refusedByBroker = map[string]string{
	"timer-duration-no-expression.bpmn": "Element: Event_WaitBackoff (line 72): Invalid duration format",
	"unreadable-cut-off.bpmn":           "unexpected EOF",
	"unreadable-text.bpmn":              "it is empty, or no XML",
	"unreadable-dmn.bpmn":               "it is no BPMN",
}

func TestModelsAreRefusedAsBrokerRefusesThem(t *testing.T) {
	var files, refused []string
	const lint = "internal/modellint/testdata/*"
	for _, pattern := range []string{"bpmn", "examples", "bench", "test/*", "test/*/testdata", lint} {
		found, err := filepath.Glob(filepath.Join("../../../..", pattern, "*.bpmn"))
		check.Must(t, err)
		files = append(files, found...)
	}
	if len(files) < 45 {
		t.Errorf("%d models, want all", len(files))
	}
	for _, file := range files {
		_, err := model.Read(content(t, file))
		if want, is := refusedByBroker[filepath.Base(file)]; is {
			check.Fails(t, err, want)
			refused = append(refused, file)
		} else if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	check.Same(t, len(refusedByBroker), len(refused), "the models that are refused")
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	_, err := model.Read(process(`
		<parallelGateway id="Fork"/>
		<serviceTask id="Task">
			<extensionElements>
				<zeebe:taskDefinition type="=1 +" retries="" priority="7"/>
				<zeebe:executionListeners/>
			</extensionElements>
		</serviceTask>
		<sequenceFlow id="Flow" sourceRef="Task" targetRef="Nowhere"/>
		<scriptTask id="Script"/>`))
	var got []string
	for line := range strings.Lines(fmt.Sprint(err)) {
		line, _, _ = strings.Cut(line, " '1 +'")
		got = append(got, strings.TrimSpace(line))
	}
	slices.Sort(got)
	check.Same(t, []string{
		"Element: Flow (line 9): refers to 'Nowhere', which does not exist",
		"Element: Fork (line 2): parallelGateway is not supported",
		"Element: Script (line 10): scriptTask is not supported",
		"Element: Task (line 3): failed to parse expression",
		`Element: Task (line 3): priority="7" of zeebe:taskDefinition is not supported`,
		"Element: Task (line 3): retries of zeebe:taskDefinition must not be empty",
		"Element: Task (line 3): zeebe:executionListeners is not supported",
	}, got, "the faults")
}

const head = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" ` +
	`xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">`

// process returns a model with these elements and a start event S in its process P.
func process(elements string, declarations ...string) []byte {
	return []byte(head + `<process id="P" isExecutable="true"><startEvent id="S"/>` + elements + `</process>` +
		strings.Join(declarations, "") + `</definitions>`)
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	check.Must(t, err)
	return text
}
