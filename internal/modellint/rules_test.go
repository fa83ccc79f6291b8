package modellint_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/testing/check"
)

// changed returns a good model with some texts replaced, each of which must be there.
func changed(t *testing.T, model string, oldNew ...string) bpmn.Model {
	t.Helper()
	f := file(t, "testdata/good/"+model+".bpmn")
	text := string(f.Content)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(text, oldNew[i]) {
			t.Fatalf("%s has no %s", model, oldNew[i])
		}
		text = strings.ReplaceAll(text, oldNew[i], oldNew[i+1])
	}
	f.Content = []byte(text)
	return f
}

// found returns "severity rule element" of each finding.
func found(o settings, files ...bpmn.Model) (all []string) {
	for _, f := range modellint.Lint(files, o.policies, o.jobTypes) {
		all = append(all, fmt.Sprintf("%s %s %s", f.Severity, f.Check, f.Subject))
	}
	return all
}

const wait = `="PT" + string(backoffMinutes) + "M"`

func TestTimersThatDoNotWaitAsDecided(t *testing.T) {
	for feel, want := range map[string]string{
		wait: "", "=duration(retryDecision.backoffDuration)": "", `=duration("PT1M") * backoffMinutes`: "", `="PT" + string(backoffMinutes * 60) + "S"`: "",
		"=date and time(nextRetryTime) - now()": "", "=backoffMinutes": "error", "=string(backoffMinutes)": "error", `="PT" + backoffMinutes + "M"`: "error",
		`="PT" + string(backoffMinutes)`: "error", `="PT" + string(maxRetries) + "M"`: "error", "=retryDecision.backoffDuration": "", "=nextRetryTime": "error", `="PT" + string(backoffMinutes) + "S"`: "error",
		`="P" + string(backoffMinutes) + "M"`: "error", `="PT" + string(backoffMinutes * 1.5) + "M"`: "error", `="PT" + string(backoffMinutes * 60) + "M"`: "error",
		`="PT" + string(backoffMinutes - 5) + "M"`: "warning", `="PT" + string(ceiling(backoffMinutes - 0.5)) + "M"`: "warning",
		`="PT" + string(backoffMinutes + 5) + "M"`: "", `=duration("PT" + string(backoffMinutes) + "M0S")`: "", `="PT" + string(ceiling(backoffMinutes * 1.5)) + "M"`: "",
		`="PT" + string(floor(backoffMinutes * (1 - 0.1))) + "M"`: "", `="PT" + string(max(1, backoffMinutes - 5)) + "M"`: "warning",
		"=retryAfter": "error", `="PT" + string(retryCount) + "M"`: "warning", `=duration("PT5M")`: "warning",
	} {
		f := changed(t, "loop", wait, feel)
		var want1 []string
		if want != "" {
			want1 = []string{want + " timer-duration Event_WaitBackoff"}
		}
		check.Same(t, want1, found(standard, f), "%s", feel)
	}
}

func TestAWaitThatAnEventComputesIsNotMisspelt(t *testing.T) {
	f := changed(t, "loop", wait, "=backoffMinute", `<zeebe:output source="=null" target="retryAfter" />`,
		`<zeebe:output source="=null" target="retryAfter" /><zeebe:output source="=duration(&quot;PT1M&quot;)" target="backoffMinute" />`)
	check.Same(t, nil, found(standard, f), "findings")
}

const loopTask = `<zeebe:taskDefinition type="analyze-retry" retries="3" />`

func TestJobTypesThatTheWorkerDoesNotTake(t *testing.T) {
	known := map[string]string{"analyze-retry": "tiss", "analyze-retry-unimed": "tiss"}
	for jobType, want := range map[string]string{
		"analyze-retry": "", "analyze-retry-unimed": "", `=&quot;analyze-retry-&quot; + insurer`: "", `=&quot;analyze-retry&quot;`: "",
		"analyze-retry-bradesco": "warning policy-unknown Task_AnalyzeRetry", "analyze-retry-unimad": "warning policy-unknown Task_AnalyzeRetry",
		"retry-submission-backoff": "warning policy-unknown Task_AnalyzeRetry", `=&quot;analyze-retry-sul-&quot; + insurer`: "",
		"analyse-retry": "error job-type-misspelt Task_AnalyzeRetry", "analyze_retry": "error job-type-misspelt Task_AnalyzeRetry",
		"AnalyzeRetry": "error job-type-misspelt Task_AnalyzeRetry",
	} {
		f := changed(t, "loop", loopTask, `<zeebe:taskDefinition type="`+jobType+`" retries="3" />`)
		all := found(settings{standard.policies, known}, f)
		if want == "" && len(all) > 0 || want != "" && !slices.Contains(all, want) {
			t.Errorf("%s: %q, want %q", jobType, all, want)
		}
	}
}

func TestHeadersAreJudgedAsTheWorkerDoes(t *testing.T) {
	for header, want := range map[string]string{
		`retryPolicy="fast"`: "",
		`maxRetries="7"`:     "", `base="90s"`: "", `trace="on"`: "", `elementTemplateId="x"`: "", `onExhausted="billing"`: "",
		`retryPolicy="tis"`: "error policy-unknown Task_AnalyzeRetry", `retryPolicy=""`: "error policy-unknown Task_AnalyzeRetry",
		`maxRetries="many"`: "error header-unknown Task_AnalyzeRetry", `base="0s"`: "error header-unknown Task_AnalyzeRetry",
		`Retry-Policy="tiss"`: "error header-unknown Task_AnalyzeRetry", `MaxRetries="3"`: "error header-unknown Task_AnalyzeRetry",
		`deadlin="3h"`: "warning header-unknown Task_AnalyzeRetry", `onExhausted="Faturamento"`: "error header-unknown Task_AnalyzeRetry",
	} {
		key, value, _ := strings.Cut(header, "=")
		f := changed(t, "loop", loopTask, loopTask+`<zeebe:taskHeaders><zeebe:header key="`+key+`" value=`+value+` /></zeebe:taskHeaders>`)
		var all []string
		if want != "" {
			all = []string{want}
		}
		check.Same(t, all, found(standard, f), "%s", header)
	}
}

// recorder are the extensions of a task that records an outcome.
const recorder = `<zeebe:taskDefinition type="record-retry-outcome" retries="3" />` +
	`<zeebe:ioMapping><zeebe:input source="ABANDONED" target="outcome" /></zeebe:ioMapping>`

// calls returns a model that calls a process, with an event for each of the codes; an empty one catches all.
func calls(process string, codes ...string) bpmn.Model {
	var b strings.Builder
	b.WriteString(head + `<bpmn:process id="caller" isExecutable="true"><bpmn:callActivity id="Call"><bpmn:extensionElements><zeebe:calledElement processId="` + process +
		`" /></bpmn:extensionElements></bpmn:callActivity>`)
	for i := range codes {
		ref := ""
		if codes[i] != "" {
			ref = fmt.Sprintf(` errorRef="E%d"`, i)
		}
		fmt.Fprintf(&b, `<bpmn:boundaryEvent id="B%d" attachedToRef="Call"><bpmn:errorEventDefinition%s /></bpmn:boundaryEvent>`, i, ref)
		fmt.Fprintf(&b, `<bpmn:serviceTask id="R%d"><bpmn:extensionElements>`+recorder+`</bpmn:extensionElements></bpmn:serviceTask>`, i)
		fmt.Fprintf(&b, `<bpmn:sequenceFlow sourceRef="B%d" targetRef="R%d" />`, i, i)
	}
	b.WriteString(`</bpmn:process>`)
	for i, code := range codes {
		if code != "" {
			fmt.Fprintf(&b, `<bpmn:error id="E%d" errorCode="%s" />`, i, code)
		}
	}
	b.WriteString(`</bpmn:definitions>`)
	return bpmn.Model{Name: "caller.bpmn", Content: []byte(b.String())}
}

func TestErrorsAreFollowedIntoTheCallingProcess(t *testing.T) {
	const code = `errorCode="PERMANENT_ERROR"`
	loose := changed(t, "loop", code, `errorCode="OTHER"`)
	uncaught := "error error-not-caught "
	for name, c := range map[string]struct {
		files []bpmn.Model
		want  []string
	}{
		"no file calls":                      {[]bpmn.Model{loose}, []string{uncaught + "Task_AnalyzeRetry"}},
		"the caller catches it":              {[]bpmn.Model{loose, calls("loop", "PERMANENT_ERROR")}, nil},
		"the caller catches all":             {[]bpmn.Model{calls("loop", ""), loose}, nil},
		"the caller catches another one":     {[]bpmn.Model{loose, calls("loop", "MAX_RETRIES_EXCEEDED")}, []string{uncaught + "Call"}},
		"what is called catches all of them": {[]bpmn.Model{file(t, "testdata/good/loop.bpmn"), calls("loop")}, nil},
		"the bundled process is known":       {[]bpmn.Model{calls("SubmissionRetryProcess", "PERMANENT_ERROR")}, []string{uncaught + "Call"}},
		"both codes of the bundled process":  {[]bpmn.Model{calls("SubmissionRetryProcess", "PERMANENT_ERROR", "MAX_RETRIES_EXCEEDED")}, nil},
		"a misspelt name is read as meant":   {[]bpmn.Model{calls("SubmissionRetryProces", "PERMANENT_ERROR")}, []string{"error process-unknown Call", uncaught + "Call"}},
		"a process that is not given":        {[]bpmn.Model{calls("unheard-of")}, []string{"information nothing-checked "}},
	} {
		check.Same(t, c.want, found(standard, c.files...), "%s", name)
	}
}

func TestAProcessThatIsNotGivenMayRecordTheOutcome(t *testing.T) {
	f := calls("SubmissionRetryProcess", "PERMANENT_ERROR", "MAX_RETRIES_EXCEEDED")
	for in, want := range map[string][]string{
		`<zeebe:taskDefinition type="archive" />`:   {"warning outcome-not-recorded R0", "warning outcome-not-recorded R1"},
		`<zeebe:calledElement processId="close" />`: nil,
	} {
		text := strings.ReplaceAll(string(f.Content), recorder, in)
		if strings.Contains(in, "calledElement") {
			text = strings.ReplaceAll(text, "serviceTask", "callActivity")
		}
		check.Same(t, want, found(standard, bpmn.Model{Name: f.Name, Content: []byte(text)}), "%s", in)
	}
}

func TestAFileTakesThePlaceOfTheBundledProcess(t *testing.T) {
	for _, id := range []string{"SubmissionRetryProcess", "SubmissionRetryProcess2"} {
		own := changed(t, "loop", `<bpmn:process id="loop"`, `<bpmn:process id="`+id+`"`)
		check.Same(t, nil, found(standard, own, calls(id)), "%s", id)
	}
}

// unfilled is a place in a text of mistakes.yaml.
var unfilled = regexp.MustCompile(`\{(id|\d)\}|%`)

// What is printed as a fix is pasted as it is.
func TestEveryFixIsWellFormed(t *testing.T) {
	fixes := 0
	for _, path := range models(t, "testdata/bad/*.bpmn") {
		o := ofTheCorpus(t)
		for _, f := range modellint.Lint([]bpmn.Model{file(t, path)}, o.policies, o.jobTypes) {
			if unfilled.MatchString(f.What.String() + f.Fix) {
				t.Errorf("%s: a place is not filled in: %s\n%s", path, f.What, f.Fix)
			}
			if f.Fix == "" && f.Advice.Format == "" {
				t.Errorf("%s: %s has neither fix nor advice", path, f.Check)
			}
			if f.Fix != "" {
				fixes++
			}
			if err := xml.Unmarshal([]byte("<x>"+f.Fix+"</x>"), new(struct{})); err != nil {
				t.Errorf("%s: %v in\n%s", path, err, f.Fix)
			}
		}
	}
	if fixes < 18 {
		t.Errorf("only %d fixes", fixes)
	}
}

// A branch that runs alongside the one that records need not record as well; where no branch does, that is found.
func TestABranchAlongsideTheOneThatRecordsNeedNotRecord(t *testing.T) {
	const task = `<bpmn:userTask id="Task_ReviewClaim"`
	alongside := func(cancel string) string {
		return `<bpmn:boundaryEvent id="Reminder" cancelActivity="` + cancel + `" attachedToRef="Task_ReviewClaim"><bpmn:timerEventDefinition>` +
			`<bpmn:timeDuration>P2D</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:boundaryEvent><bpmn:endEvent id="End_Reminded" />` +
			`<bpmn:sequenceFlow id="Flow_Reminded" sourceRef="Reminder" targetRef="End_Reminded" />`
	}
	const end = "warning outcome-not-recorded End_Reminded"
	check.Same(t, nil, found(standard, changed(t, "person", task, alongside("false")+task)), "a reminder")
	check.Same(t, []string{end}, found(standard, changed(t, "person", task, alongside("true")+task)), "a time limit")
}

// An error that an end event raises has no variables: its text is where the work before it put it.
func TestTheErrorOfAnEndEventNeedsNoMapping(t *testing.T) {
	f := changed(t, "loop", `<zeebe:output source="=submissionError" target="submissionError" />`, "", `<bpmn:serviceTask id="Task_SubmitClaim"`,
		`<bpmn:subProcess id="Task_SubmitClaim"><bpmn:endEvent id="End_Refused"><bpmn:errorEventDefinition errorRef="Error_PermanentError" />`+
			`</bpmn:endEvent></bpmn:subProcess><bpmn:serviceTask id="Task_Other"`)
	check.Same(t, nil, found(standard, f), "findings")
}

func TestAScriptCanClearAVariable(t *testing.T) {
	const end = `<bpmn:endEvent id="EndEvent_ClaimSubmitted"`
	f := changed(t, "loop", timerMapping, "", fromTheTimer, `sourceRef="Event_WaitBackoff" targetRef="Script"`, end,
		`<bpmn:scriptTask id="Script"><bpmn:extensionElements><zeebe:script expression="=null" resultVariable="submissionError" /></bpmn:extensionElements></bpmn:scriptTask>`+
			`<bpmn:sequenceFlow id="Flow_Script" sourceRef="Script" targetRef="Gateway_JoinSubmission" />`+end)
	check.Same(t, nil, found(standard, f), "findings")
}
