package model_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	check.Same(t, map[string]string{"empty": "", "label": "fragile"}, elements["Pack"].Headers, "headers")
	check.Same(t, "fixed text", elements["Pack"].Inputs[1].Source.Text, "a source that is no expression")
}

// refusals are why some models are refused. A broker refuses them too, but for the kind of the user task.
var refusals = map[string]string{
	"timer-duration-no-expression.bpmn": "Element: Event_WaitBackoff (line 72): Invalid duration format",
	"unreadable-cut-off.bpmn":           "unexpected EOF",
	"unreadable-no-process.bpmn":        "must contain at least one executable process",
	"unreadable-text.bpmn":              "it is empty, or no XML",
	"unreadable-dmn.bpmn":               "it is no BPMN",
	"user-task-kind.bpmn":               "must have exactly one zeebe:userTask, not 0",
}

func TestAllModelsOfThisProjectAreReadButThese(t *testing.T) {
	var files []string
	const lint = "internal/modellint/testdata/*"
	for _, pattern := range []string{"bpmn", "examples", "test/*", "test/*/testdata", lint} {
		found, err := filepath.Glob(filepath.Join("../../../..", pattern, "*.bpmn"))
		check.Must(t, err)
		files = append(files, found...)
	}
	refused := 0
	for _, file := range files {
		_, err := model.Read(content(t, file))
		if want, is := refusals[filepath.Base(file)]; is {
			check.Fails(t, err, want)
			refused++
		} else if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	check.Same(t, len(refusals), refused, "the models that are refused")
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	check.Must(t, err)
	return text
}

// Parts of models that are wrong.
const (
	part     = `<subProcess id="T"><startEvent id="U"/></subProcess>`
	job      = `<zeebe:taskDefinition type="pack"/>`
	ofAny    = `<errorEventDefinition/>`
	inAnHour = `<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>`
	waits    = `<intermediateCatchEvent id="A">` + inAnHour + `</intermediateCatchEvent>`
	gateway  = `<eventBasedGateway id="X"><outgoing>F</outgoing><outgoing>G</outgoing></eventBasedGateway>`
)

// extended returns an element X with extensions.
func extended(kind, extensions string) string {
	return fmt.Sprintf(`<%s id="X"><extensionElements>%s</extensionElements></%[1]s>`, kind, extensions)
}

func flow(id, from, to, content string) string {
	return fmt.Sprintf(`<sequenceFlow id="%s" sourceRef="%s" targetRef="%s">%s</sequenceFlow>`, id, from, to, content)
}

// Each is refused for its one fault, at X.
func TestWhatDoesNotRunIsRefusedByName(t *testing.T) {
	mapping := func(one string) string {
		return extended("serviceTask", job+"<zeebe:ioMapping>"+one+"</zeebe:ioMapping>")
	}
	subscription := extended("message", `<zeebe:subscription correlationKey="k"/>`)
	for _, c := range []struct{ elements, says string }{
		{`<parallelGateway id="X"/>`, "parallelGateway is not supported"},
		{`<endEvent id="X"><terminateEventDefinition/></endEvent>`, "terminateEventDefinition is not supported"},
		{extended("serviceTask", job+"<zeebe:executionListeners/>"), "zeebe:executionListeners is not supported"},
		{
			part + `<boundaryEvent id="X" attachedToRef="T" cancelActivity="false">` + ofAny + `</boundaryEvent>`,
			`cancelActivity="false" of boundaryEvent is not supported`,
		},
		{
			extended("serviceTask", `<zeebe:taskDefinition type="t" new="1"/>`),
			`new="1" of zeebe:taskDefinition is not supported`,
		},
		{`<serviceTask id="X"/>`, "must have exactly one zeebe:taskDefinition, not 0"},
		{extended("serviceTask", job+job), "must have exactly one zeebe:taskDefinition, not 2"},
		{mapping(`<zeebe:output target="a"/>`), "source of zeebe:output must be present and not empty"},
		{mapping(`<zeebe:output source="=1" target="a.b"/>`), "'a.b' is no name of a variable"},
		{mapping(`<zeebe:output source="=1 +" target="a"/>`), "failed to parse expression '1 +': at character 4"},
		{
			`<intermediateCatchEvent id="X"/>`,
			"must have exactly one timerEventDefinition or messageEventDefinition, not 0",
		},
		{
			`<intermediateCatchEvent id="X">` + strings.Replace(inAnHour, "PT1H", "5M", 1) + `</intermediateCatchEvent>`,
			"Invalid duration format '5M'",
		},
		{`<endEvent id="X">` + ofAny + `</endEvent>`, "must refer to an error with an errorCode"},
		{
			`<boundaryEvent id="X" attachedToRef="S">` + ofAny + `</boundaryEvent>`,
			"must be attached to an activity of its scope, not to 'S'",
		},
		{
			`<subProcess id="T"><startEvent id="X">` + ofAny + `</startEvent></subProcess>`,
			"must have an errorEventDefinition in an event subprocess, and there only",
		},
		{flow("X", "S", "N", ""), "refers to 'N', which does not exist"},
		{part + flow("X", "S", "U", ""), "must not lead from startEvent 'S' to startEvent 'U'"},
		{
			flow("X", "S", "E", "<conditionExpression>=true</conditionExpression>"),
			"a condition is only supported after an exclusiveGateway",
		},
		{
			`<exclusiveGateway id="X" default="F"/>` + flow("F", "X", "E", "") + flow("G", "X", "E", ""),
			"Must have a condition or be default flow: 'G'",
		},
		{
			waits + `<eventBasedGateway id="X"><outgoing>F</outgoing></eventBasedGateway>` + flow("F", "X", "A", ""),
			"must have at least two outgoing sequence flows",
		},
		{
			waits + gateway + flow("F", "X", "A", "") + flow("G", "X", "E", ""),
			"must lead to intermediateCatchEvents to which nothing else leads, not to 'E'",
		},
		{part + `<intermediateThrowEvent id="X"/><intermediateThrowEvent id="X"/>`, "the id 'X' is not unique"},
		{`</process><error id="X" errorCode="=code"/><process id="Q">`, "an expression as errorCode of error is not supported"},
		{`</process><message id="X" name="paid"/><process id="Q">`, "must have exactly one zeebe:subscription, not 0"},
		{
			`</process>` + strings.Replace(subscription, ">", ` name="m">`, 1) + `<process id="Q">`,
			"expected an expression, which starts with '=', but found 'k'",
		},
	} {
		_, err := model.Read([]byte(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" ` +
			`xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="P" isExecutable="true">` +
			`<startEvent id="S"/>` + c.elements + `<endEvent id="E"/></process></definitions>`))
		check.Fails(t, err, "Element: X (line ", c.says)
		check.Same(t, 1, strings.Count(fmt.Sprint(err), "Element: "), "faults: %v", err)
	}
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	_, err := model.Read([]byte("<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'>\n" +
		"<process id='P' isExecutable='true'>\n<scriptTask id='A'/>\n<scriptTask id='B'/></process></definitions>"))
	check.Fails(t, err, "Element: A (line 3): scriptTask is not", "Element: B (line 4): scriptTask is not")
}
