package bpmn_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// What a model does is shown on the engine (test/e2e); whether it is sound and drawn, by its linter (make lint-models).
// Here stands what neither sees.

func TestEveryModelIsForCamunda85(t *testing.T) {
	for _, path := range files(t) {
		got := map[string]string{}
		for _, a := range read(t, path).Attrs {
			got[a.Name.Local] = a.Value
		}
		check.Same(t, "Camunda Cloud 8.5.0", got["executionPlatform"]+" "+got["executionPlatformVersion"], "%s: platform", path)
	}
}

// A failure without a text must be analyzed as one, not with the text of the failure before.
func TestAnySubmissionErrorReachesTheAnalysisWithItsOwnText(t *testing.T) {
	const loop = "submission-retry.bpmn"
	ofTheFailure := []string{"submissionError", "lastSubmissionTime", "retryAfter"}
	boundary := read(t, loop).byID(t, "BoundaryEvent_SubmissionFailed")
	if got := boundary.all("errorEventDefinition")[0].Attr("errorRef"); got != "" {
		t.Errorf("errorRef %q: without one, every code is caught", got)
	}
	for _, name := range ofTheFailure {
		if got := boundary.outputs()[name]; got != "="+name {
			t.Errorf("the failure maps %s from %q", name, got)
		}
	}
	for _, path := range files(t) {
		root := read(t, path)
		if root.find("Event_WaitBackoff") == nil {
			continue
		}
		clears, names := append(root.all("startEvent"), root.byID(t, "Event_WaitBackoff")), []string{"submissionError", "retryAfter"}
		switch path {
		case loop:
			clears, names = append(clears, root.byID(t, "Event_RedriveClaim")), ofTheFailure
		case "../examples/submission-backoff.bpmn": // RN-BIL-004 section 3.1 has the time too
			names = ofTheFailure
		}
		for _, event := range clears {
			for _, name := range names {
				if got := event.outputs()[name]; got != "=null" {
					t.Errorf("%s: %s leaves %s as %q, want =null", path, event.Attr("id"), name, got)
				}
			}
		}
		want := "=0"
		if path == loop { // a call may keep the count
			want = keptCount
		}
		if got := root.all("startEvent")[0].outputs()["retryCount"]; got != want {
			t.Errorf("%s: the start sets retryCount to %q, want %s", path, got, want)
		}
	}
}

// A wait is late by the last failure, also if that was the question for the status.
func TestEveryFailureThatLeadsToAWaitHasItsTime(t *testing.T) {
	root := read(t, "submission-retry.bpmn")
	for _, id := range []string{"BoundaryEvent_SubmissionFailed", "BoundaryEvent_StatusUnknown"} {
		check.Same(t, "=string(now())", root.byID(t, id).outputs()["failedAt"], "failedAt of %s", id)
	}
}

// keptCount is the count that a claim begins with that a person has sent again.
const keptCount = `=if redriveWait = null then 0 else retryCount`

// A person's decision, and what an order of before asked for, is not read again.
func TestAPersonIsAskedWithoutAnEarlierDecision(t *testing.T) {
	tasks := 0
	for _, path := range files(t) {
		root := read(t, path)
		for _, task := range userTasks(root) {
			tasks++
			pending := root.byID(t, root.byID(t, task.all("incoming")[0].Text).Attr("sourceRef"))
			for _, name := range []string{"manualDecision", "justification", "decidedBy", "redriveId", "redriveWait"} {
				if got := pending.outputs()[name]; got != "=null" {
					t.Errorf("%s: %s leaves %s as %q before %s", path, pending.Attr("id"), name, got, task.Attr("id"))
				}
			}
			for _, stopped := range root.all("boundaryEvent") {
				if _, ends := stopped.outputs()["originalError"]; ends && stopped.outputs()["decisionProblem"] != "=null" {
					t.Errorf("%s: %s leaves the problem of an earlier answer to a fresh %s", path, stopped.Attr("id"), task.Attr("id"))
				}
			}
		}
	}
	check.Same(t, 6, tasks, "user tasks")
}

// userTasks returns the user tasks of a model, without the zeebe:userTask that each holds.
func userTasks(root element) []element {
	return slices.DeleteFunc(root.all("userTask"), func(e element) bool { return e.Attr("id") == "" })
}

// An answer that is no decision is put in words, recorded and asked again, and never waits long for its record.
func TestAnAnswerThatIsNoDecisionIsRecordedAndAskedAgain(t *testing.T) {
	const decided = `matches(justification, "\S") = true`
	problem := ""
	for _, path := range files(t) {
		root := read(t, path)
		next := func(e element) element { return root.next(t, e) }
		for _, task := range userTasks(root) {
			gateway := next(task)
			for _, f := range root.leaving(gateway) {
				if condition := f.all("conditionExpression")[0].Text; !strings.HasSuffix(condition, " and "+decided) {
					t.Errorf("%s: %s needs no justification: %s", path, f.Attr("id"), condition)
				}
			}
			refused := root.byID(t, root.byID(t, gateway.Attr("default")).Attr("targetRef"))
			got := refused.outputs()["decisionProblem"]
			if problem == "" {
				problem = got
			}
			if got == "" || got != problem {
				t.Errorf("%s: %s words the problem as %s, others as %s", path, refused.Attr("id"), got, problem)
			}
			recorder := next(refused)
			want := map[string]string{"outcome": refusedOutcome, "decisionProblem": "=decisionProblem", "justification": "=justification", "decidedBy": "=decidedBy"}
			if in := recorder.inputs(); !maps.Equal(in, want) {
				t.Errorf("%s: %s maps %v, want %v", path, recorder.Attr("id"), in, want)
			}
			root.goesOnAfter(t, recorder, "PT1M")
			// Through the joins and the event that clears the decision back to the task.
			if again := next(next(next(next(recorder)))); again.Attr("id") != task.Attr("id") {
				t.Errorf("%s: a refused decision leads to %s, want %s again", path, again.Attr("id"), task.Attr("id"))
			}
		}
	}
}

// refusedOutcome is the outcome of an answer that was no decision.
const refusedOutcome = `="DECISION_REFUSED"`

// What the worker says of a stopped claim is what its model does: a person's task is behind each error.
func TestEveryAnalysisNamesWithWhomAStoppedClaimIs(t *testing.T) {
	want := map[string]string{
		"submission-retry.bpmn":               "billing registration",
		"../examples/submission-backoff.bpmn": "billing billing",
		"../examples/job-queue.bpmn":          "dead-letter dead-letter",
		"../examples/email.bpmn":              "dead-letter dead-letter",
		"../examples/fast-retry.bpmn":         "operations operations",
		"../examples/policy-by-insurer.bpmn":  "billing registration",
	}
	got := map[string]string{}
	for _, path := range files(t) {
		if task := read(t, path).find("Task_AnalyzeRetry"); task != nil {
			headers := task.headers()
			got[path] = headers["onExhausted"] + " " + headers["onPermanent"]
		}
	}
	check.Same(t, want, got, "headers")
}

// A claim that is accepted at once counts for the policy that would have decided. Where the job type is an
// expression, no header can name it.
func TestAnAcceptedClaimCountsForThePolicyOfItsAnalysis(t *testing.T) {
	analyses := 0
	for _, path := range files(t) {
		task := read(t, path).find("Task_AnalyzeRetry")
		if task == nil || path == "../examples/policy-by-insurer.bpmn" {
			continue
		}
		analyses++
		want := task.headers()["retryPolicy"]
		if want == "" {
			want = task.all("taskDefinition")[0].Attr("type")
		}
		for _, recorder := range recorders(t, path)[`="SUBMITTED"`] {
			check.Same(t, want, recorder.headers()["retryPolicy"], "%s: retryPolicy of %s", path, recorder.Attr("id"))
		}
	}
	check.Same(t, 5, analyses, "models with an analysis")
}

// A model that a page shows has its picture drawn anew when it changes.
func TestThePicturesAreThoseOfTheModels(t *testing.T) {
	pictures, err := filepath.Glob("../docs/images/*.svg")
	check.Must(t, err)
	sum := regexp.MustCompile(`source: (\S+) sha256: ([0-9a-f]{64})`)
	for _, path := range pictures {
		picture, err := os.ReadFile(path)
		check.Must(t, err)
		got := sum.FindSubmatch(picture)
		if got == nil {
			t.Errorf("%s does not name its model", path)
			continue
		}
		content, err := os.ReadFile(string(got[1]))
		check.Must(t, err)
		if want := sha256.Sum256(content); string(got[2]) != hex.EncodeToString(want[:]) {
			t.Errorf("%s is not drawn from the %s of today: run `make pictures`", path, got[1])
		}
	}
	check.Same(t, 2, len(pictures), "pictures")
}

// field is what a form offers to a person, or a group of such.
type field struct {
	Key        string
	Values     []struct{ Value string }
	Components []field
}

// form is a form by its ID.
type form struct {
	ID         string
	Components []field
}

// forms returns the forms of the project by their file names.
func forms(t *testing.T) map[string]form {
	t.Helper()
	found := map[string]form{}
	for _, folder := range []string{".", "../examples"} {
		paths, err := filepath.Glob(folder + "/*.form")
		check.Must(t, err)
		for _, path := range paths {
			content, err := os.ReadFile(path)
			check.Must(t, err)
			var f form
			check.Must(t, json.Unmarshal(content, &f))
			found[filepath.Base(path)] = f
		}
	}
	return found
}

func TestEveryUserTaskHasAFormWhoseChoicesItsModelKnows(t *testing.T) {
	choices := map[string][]string{}
	for _, f := range forms(t) {
		for _, c := range f.Components {
			for _, v := range c.Values {
				choices[f.ID] = append(choices[f.ID], v.Value)
			}
		}
	}
	for _, path := range files(t) {
		root := read(t, path)
		for _, task := range userTasks(root) {
			linked := task.all("formDefinition")
			if len(linked) != 1 || choices[linked[0].Attr("formId")] == nil {
				t.Errorf("%s: %s has no form of the project", path, task.Attr("id"))
				continue
			}
			conditions := ""
			for _, flow := range root.leaving(root.next(t, task)) {
				conditions += flow.all("conditionExpression")[0].Text
			}
			for _, choice := range choices[linked[0].Attr("formId")] {
				if !strings.Contains(conditions, `"`+choice+`"`) {
					t.Errorf("%s: %s offers %s, which no flow takes", path, linked[0].Attr("formId"), choice)
				}
			}
		}
	}
}

// recorders returns the tasks that report to the worker how a claim ended, by what they say.
func recorders(t *testing.T, path string) map[string][]element {
	t.Helper()
	found := map[string][]element{}
	for _, task := range read(t, path).all("serviceTask") {
		if task.all("taskDefinition")[0].Attr("type") == "record-retry-outcome" {
			outcome := task.inputs()["outcome"]
			found[outcome] = append(found[outcome], task)
		}
	}
	return found
}

// sentAgain is the outcome of a person's resubmission: with schedule and count kept the round goes on.
const sentAgain = `=if redriveWait = null then "RESUBMITTED" else "REDRIVEN"`

func TestAPersonsReasonAndNameAreRecorded(t *testing.T) {
	byHand := map[string]bool{`="REDRIVEN"`: true, sentAgain: true, `="ABANDONED"`: true, refusedOutcome: true, "=outcome": true}
	for _, path := range files(t) {
		if path == "../examples/caller.bpmn" || path == "../examples/policy-by-insurer.bpmn" {
			continue // no person decides in them
		}
		for outcome, tasks := range recorders(t, path) {
			for _, task := range tasks {
				want := map[string]string{"outcome": outcome}
				if byHand[outcome] {
					want["justification"], want["decidedBy"] = "=justification", "=decidedBy"
				}
				if outcome == `="REDRIVEN"` || outcome == sentAgain { // a message may order these
					want["redriveId"] = "=redriveId"
				}
				if outcome == refusedOutcome {
					want["decisionProblem"] = "=decisionProblem"
				}
				if outcome == sentAgain {
					want["redriveWait"] = "=redriveWait"
				}
				if got := task.inputs(); !maps.Equal(got, want) {
					t.Errorf("%s: %s maps %v, want %v", path, task.Attr("id"), got, want)
				}
			}
		}
	}
}

// Nobody may be there to notify a team. Its task, which matters more, comes all the same.
func TestANoticeKeepsATaskAwayFiveMinutesAtMost(t *testing.T) {
	notices := 0
	for _, path := range files(t) {
		root := read(t, path)
		for _, notice := range root.all("sendTask") {
			notices++
			root.goesOnAfter(t, notice, "PT5M")
		}
	}
	check.Same(t, 4, notices, "notices")
}

// What is recorded are figures; a claim that a person wants to send again does not wait for them without an end. A timer that does
// not end the task would have it submitted twice.
func TestAResubmissionWaitsForItsRecordAnHourAtMost(t *testing.T) {
	for path, recorders := range map[string][]string{
		"sub-06.bpmn":           {"Task_RecordResubmittedByBilling", "Task_RecordResubmittedByRegistration"},
		"submission-retry.bpmn": {"Task_RecordRedriven"},
	} {
		root := read(t, path)
		for _, id := range recorders {
			root.goesOnAfter(t, root.byID(t, id), "PT1H")
		}
	}
}

// A form sends its blank fields, too. They must not reach the submission as corrections. And a form does not open where
// correctedData is no object, which the API can send.
func TestBlankFieldsAreTakenOutBeforeTheNextSubmission(t *testing.T) {
	const want = `=context(get entries(correctedData)[value != null and matches(value, "\S") != false])`
	forms := 0
	for _, path := range files(t) {
		root := read(t, path)
		corrects := slices.DeleteFunc(root.all("formDefinition"), func(e element) bool {
			return !slices.Contains([]string{"analyze-retry-review-claim", "analyze-retry-correct-data"}, e.Attr("formId"))
		})
		forms += len(corrects)
		mapped := 0
		for _, e := range slices.Concat(root.all("intermediateThrowEvent"), root.all("intermediateCatchEvent")) {
			if got, is := e.outputs()["correctedData"]; is {
				mapped++
				check.Same(t, want, got, "%s: %s", path, e.Attr("id"))
			}
		}
		check.Same(t, 2*len(corrects), mapped, "%s: events that take out what no form takes, before and after each task", path)
	}
	check.Same(t, 3, forms, "tasks with a form that corrects")
}

// A field that is a variable of its own would overwrite the process's.
func TestFieldsToCorrectArePartOfOneObject(t *testing.T) {
	for _, name := range []string{"review-claim.form", "correct-data.form"} {
		fields := 0
		for _, group := range forms(t)[name].Components {
			for _, field := range group.Components {
				if field.Key == "" {
					continue
				}
				if fields++; !strings.HasPrefix(field.Key, "correctedData.") {
					t.Errorf("%s: the field %s is no part of correctedData", name, field.Key)
				}
			}
		}
		check.Same(t, 4, fields, "fields of %s", name)
	}
}
