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

func TestEverythingThatIsKnownIsRead(t *testing.T) {
	processes := read(t, content(t, "testdata/everything.bpmn"))
	if len(processes) != 2 || processes[0].ID != "everything" || processes[1].ID != "second" {
		t.Fatalf("%d processes, want the two that are executable", len(processes))
	}
	check.Same(t, `process everything
  startEvent Start: output count <- =0, flow Flow_1 to Pack
  serviceTask Pack: input order <- =order, input box text <- fixed text, output box weight <- =weight,
    job pack retries 5 map[empty: label:fragile], events Torn Other Late Paid_Early, flow Flow_2 to Await
  boundaryEvent Torn: error TORN, at Pack, flow Flow_Torn to End_Torn
  endEvent End_Torn: error TORN
  boundaryEvent Other: error , at Pack
  boundaryEvent Late: timer timeDate 2026-11-24T09:30:00Z, at Pack
  boundaryEvent Paid_Early: message paid =order, at Pack
  eventBasedGateway Await: flow Flow_3 to Paid, flow Flow_4 to Waited
  intermediateCatchEvent Paid: message paid =order, flow Flow_5 to Which
  intermediateCatchEvent Waited: timer timeDuration ="PT" + string(minutes) + "M", flow Flow_6 to Which
  exclusiveGateway Which: flow Flow_Else to Ask (default), flow Flow_Heavy to Call if =weight > 10
  userTask Ask: user task form ask groups =[group], flow Flow_7 to Ask_ByJob
  userTask Ask_ByJob: job io.camunda.zeebe:userTask retries none map[], flow Flow_8 to Tell
  sendTask Tell: job =kind retries none map[], loop person in =people, flow Flow_9 to Part
  callActivity Call: calls other, flow Flow_10 to Part
  subProcess Part: events Torn_Out, flow Flow_11 to Noted
    startEvent Start_Part: flow Flow_Part to End_Part
    endEvent End_Part
    subProcess Torn_Part: event subprocess
      startEvent Start_Torn: error TORN
  boundaryEvent Torn_Out: error TORN, at Part
  intermediateThrowEvent Noted: output weight <- =null, flow Flow_12 to End
  endEvent End
  callActivity Call_Again: calls =which, propagates all
  eventBasedGateway Await_Again: flow Flow_13 to Sent, flow Flow_14 to Paid_Again
  intermediateCatchEvent Sent: message =sent =order
  intermediateCatchEvent Paid_Again: message paid =order`, outline(processes[0].Root, ""), "the elements")
}

// outline writes what is read of an element, and those in it.
func outline(e *model.Element, indent string) string {
	var says []string
	say := func(is bool, format string, args ...any) {
		if is {
			says = append(says, fmt.Sprintf(format, args...))
		}
	}
	for _, m := range e.Inputs {
		say(true, "input %s <- %s", strings.Join(m.Target, " "), text(m.Source))
	}
	for _, m := range e.Outputs {
		say(true, "output %s <- %s", strings.Join(m.Target, " "), text(m.Source))
	}
	say(e.EventSubprocess, "event subprocess")
	say(e.Event == "error", "error %s", e.ErrorCode)
	say(e.Timer != nil, "%s %s %s", e.Event, e.TimerKind, text(e.Timer))
	if e.Message != nil {
		say(true, "%s %s %s", e.Event, text(e.Message.Name), text(e.Message.CorrelationKey))
	}
	say(e.JobType != nil, "job %s retries %s %v", text(e.JobType), text(e.Retries), e.Headers)
	say(e.UserTask, "user task form %s groups %s", text(e.FormID), text(e.Groups))
	say(e.Calls != nil, "calls %s", text(e.Calls))
	say(e.PropagateAll, "propagates all")
	if e.Loop != nil {
		say(true, "loop %s in %s", e.Loop.InputElement, text(e.Loop.Input))
	}
	if e.Host != nil {
		say(true, "at %s", e.Host.ID)
	}
	var events []string
	for _, b := range e.Boundary {
		events = append(events, b.ID)
	}
	say(len(events) > 0, "events %s", strings.Join(events, " "))
	for _, f := range e.Out {
		condition := ""
		if f.Condition != nil {
			condition = " if " + text(f.Condition)
		} else if f == e.Default {
			condition = " (default)"
		}
		say(true, "flow %s to %s%s", f.ID, f.To.ID, condition)
	}
	line := indent + e.Kind + " " + e.ID
	if len(says) > 0 {
		line += ": " + strings.Join(says, ", ")
		if i := strings.Index(line, ", job pack"); i > 0 {
			line = line[:i] + ",\n    " + line[i+2:]
		}
	}
	for _, c := range e.Children {
		line += "\n" + outline(c, indent+"  ")
	}
	return line
}

func text(v *model.Value) string {
	switch {
	case v == nil:
		return "none"
	case v.Expr != nil:
		return "=" + v.Text
	}
	return v.Text
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
	if len(files) < 55 {
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

func read(t *testing.T, content []byte) []*model.Process {
	t.Helper()
	processes, err := model.Read(content)
	check.Must(t, err)
	return processes
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	check.Must(t, err)
	return text
}
