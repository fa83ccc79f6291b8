package demo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/internal/testing/check"
)

// file is a model with one process, or with the text of a form.
func file(name, content string) bpmn.Model {
	return bpmn.Model{Name: name, Content: []byte(content)}
}

// process is a model of one process whose start leads to its elements, which are given without flows.
func process(id, elements string) bpmn.Model {
	return file(id+".bpmn", `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
		xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="D" targetNamespace="x">
		<bpmn:process id="`+id+`" isExecutable="true"><bpmn:startEvent id="Start" />`+elements+`</bpmn:process>
		<bpmn:error id="E" errorCode="REFUSED" /></bpmn:definitions>`)
}

func task(id, jobType string) string {
	return `<bpmn:serviceTask id="` + id + `"><bpmn:extensionElements>
		<zeebe:taskDefinition type='` + jobType + `' /></bpmn:extensionElements></bpmn:serviceTask>`
}

func call(id, called string) string {
	return `<bpmn:callActivity id="` + id + `"><bpmn:extensionElements>
		<zeebe:calledElement processId="` + called + `" /></bpmn:extensionElements></bpmn:callActivity>`
}

func boundary(id, on, event string) string {
	return `<bpmn:boundaryEvent id="` + id + `" attachedToRef="` + on + `">` + event + `</bpmn:boundaryEvent>
		<bpmn:endEvent id="End` + id + `" /><bpmn:sequenceFlow id="F` + id + `" sourceRef="` + id + `" targetRef="End` + id + `" />`
}

const (
	caught  = `<bpmn:errorEventDefinition errorRef="E" />`
	anyone  = `<bpmn:errorEventDefinition />`
	bounded = `<bpmn:timerEventDefinition><bpmn:timeDuration>PT1H</bpmn:timeDuration></bpmn:timerEventDefinition>`
)

func TestTasksThatCatchErrorsAreSubmissions(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []bpmn.Model
		want  history.Models
	}{
		{"the bundled models", bpmn.Models(), history.Models{
			Process: "SUB_06",
			Submissions: map[history.Task]string{
				{Process: "SubmissionRetryProcess", Element: "Task_SubmitClaim"}:      "",
				{Process: "SubmissionRetryProcess", Element: "Task_CheckClaimStatus"}: "",
				{Process: "SUB_06", Element: "Task_CheckClaimStatus"}:                 "",
			},
		}},
		{
			"by the code that is caught",
			[]bpmn.Model{process("P",
				task("Send", "send")+boundary("Refused", "Send", caught)+
					task("Log", "log")+boundary("Late", "Log", bounded)+
					task("Analyze", "analyze")+boundary("Stopped", "Analyze", anyone))},
			history.Models{Process: "P", Submissions: map[history.Task]string{{Process: "P", Element: "Send"}: "REFUSED"}},
		},
		{
			"a job type of the worker by an expression",
			[]bpmn.Model{process("P",
				task("Send", "send")+boundary("Refused", "Send", anyone)+
					task("Analyze", `=if x = 1 then "analyze" else "other"`)+boundary("Stopped", "Analyze", anyone))},
			history.Models{Process: "P", Submissions: map[history.Task]string{{Process: "P", Element: "Send"}: ""}},
		},
		{"what is called from another file", []bpmn.Model{
			process("Inner", task("Send", "send")+boundary("Refused", "Send", anyone)+task("Analyze", "analyze")),
			process("Outer", call("Call", "Inner")),
		}, history.Models{Process: "Outer", Submissions: map[history.Task]string{{Process: "Inner", Element: "Send"}: ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Analyses = []string{"analyze", "analyze-retry"}
			got, err := ReadModels(c.files, c.want.Analyses)
			check.Must(t, err)
			if diff := cmp.Diff(c.want, got.Models); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelsThatCannotBePlayedSayWhy(t *testing.T) {
	sends := task("Send", "send") + boundary("Refused", "Send", anyone)
	const userTask = `<bpmn:userTask id="Ask"><bpmn:extensionElements><zeebe:userTask /><zeebe:formDefinition formId="my-form" />
		</bpmn:extensionElements></bpmn:userTask>`
	for _, c := range []struct {
		name  string
		files []bpmn.Model
		want  []string
	}{
		{"no decision", []bpmn.Model{process("P", sends)}, []string{"no task of P", "has a job type of the worker (analyze)"}},
		{"no failure", []bpmn.Model{process("P", task("A", "analyze"))}, []string{"no task of P", "nothing can fail"}},
		{"two to start", []bpmn.Model{process("P", sends), process("Q", sends)}, []string{"2 of the processes", "(P, Q)"}},
		{
			"a form that is missing, and a job",
			[]bpmn.Model{process("P", sends+task("A", "analyze")+userTask+`<bpmn:userTask id="Job" />`)},
			[]string{"Ask of P has the form my-form", "Job of P is a job"},
		},
		{
			"what the engine does not know, in two files",
			[]bpmn.Model{process("P", `<bpmn:complexGateway id="G" />`), process("Q", task("T", "=if x the y"))},
			[]string{"P.bpmn:\n", "G", "complexGateway", "Q.bpmn:\n", "T", "if x the y"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadModels(c.files, []string{"analyze"})
			check.Fails(t, err, c.want...)
		})
	}
	form := file("my.form", `{"id":"my-form"}`)
	asked := process("P", sends+task("A", "analyze")+userTask)
	_, err := ReadModels([]bpmn.Model{asked, form}, []string{"analyze"})
	check.Must(t, err)
}
