package bpmn_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/retry"
)

// decisionNames are the variables of a decision (RN-BIL-005 section 3.2, and retryDecision).
var decisionNames = []string{
	"shouldRetry", "retryCount", "maxRetries", "backoffMinutes", "nextRetryTime", "retryReason",
	"errorClassification", "originalError", "retryDecision",
}

func TestTheEmbeddedModelsAreTheFilesHere(t *testing.T) {
	names := make([]string, 0, 2)
	for _, m := range bpmn.Models() {
		names = append(names, m.Name)
		onDisk, err := os.ReadFile(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(onDisk, m.Content) {
			t.Errorf("%s: embedded content differs from the file", m.Name)
		}
	}
	if want := []string{"submission-retry.bpmn", "sub-06.bpmn"}; !slices.Equal(names, want) {
		t.Errorf("deploy order %v, want %v", names, want)
	}
	onDisk, err := filepath.Glob("*.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if !slices.Equal(names, onDisk) {
		t.Errorf("embedded %v, in the folder %v: Models() must return every file", names, onDisk)
	}
}

func TestACallerCannotChangeTheEmbeddedModels(t *testing.T) {
	bpmn.Models()[0].Content[0] = 'X'
	if bpmn.Models()[0].Content[0] == 'X' {
		t.Error("two calls of Models share their contents")
	}
}

func TestEveryModelIsExecutableOnCamunda85(t *testing.T) {
	for path, id := range map[string]string{
		"submission-retry.bpmn":               "SubmissionRetryProcess",
		"sub-06.bpmn":                         "SUB_06",
		"../examples/caller.bpmn":             "CallerExampleProcess",
		"../examples/submission-backoff.bpmn": "SubmissionBackoffProcess",
		"../examples/job-queue.bpmn":          "QueuedJobProcess",
		"../examples/email.bpmn":              "EmailProcess",
		"../examples/fast-retry.bpmn":         "FastRetryProcess",
	} {
		t.Run(id, func(t *testing.T) {
			root := read(t, path)
			processes := root.all("process")
			if len(processes) != 1 {
				t.Fatalf("%d processes, want one", len(processes))
			}
			if got := processes[0].attr("id"); got != id {
				t.Errorf("process id %q, want %q", got, id)
			}
			if got := processes[0].attr("isExecutable"); got != "true" {
				t.Errorf("isExecutable %q", got)
			}
			platform, version := root.attr("executionPlatform"), root.attr("executionPlatformVersion")
			if platform != "Camunda Cloud" || version != "8.5.0" {
				t.Errorf("platform %q %q, want Camunda Cloud 8.5.0", platform, version)
			}
		})
	}
}

func TestEachTaskAsksForItsAgreedJobType(t *testing.T) {
	got := map[string]string{}
	for _, path := range []string{"submission-retry.bpmn", "sub-06.bpmn"} {
		for _, task := range read(t, path).all("serviceTask", "sendTask") {
			definitions := task.all("taskDefinition")
			if len(definitions) != 1 {
				t.Fatalf("%s: %d task definitions", task.attr("id"), len(definitions))
			}
			got[task.attr("id")] = definitions[0].attr("type")
		}
	}
	want := map[string]string{
		"Task_SubmitClaim":                     "submit-claim",
		"Task_CheckClaimStatus":                "check-claim-status",
		"Task_AnalyzeRetry":                    "analyze-retry",
		"Task_NotifyBilling":                   "notify-team",
		"Task_NotifyRegistration":              "notify-team",
		"Task_RecordSubmitted":                 "record-retry-outcome",
		"Task_RecordAlreadyReceived":           "record-retry-outcome",
		"Task_RecordRedriven":                  "record-retry-outcome",
		"Task_RecordResubmittedByBilling":      "record-retry-outcome",
		"Task_RecordResubmittedByRegistration": "record-retry-outcome",
		"Task_RecordAbandonedByBilling":        "record-retry-outcome",
		"Task_RecordAbandonedByRegistration":   "record-retry-outcome",
	}
	if !maps.Equal(got, want) {
		t.Errorf("job types %v, want %v", got, want)
	}
}

func TestTheTimerWaitsTheDurationOfTheDecision(t *testing.T) {
	timer := read(t, "submission-retry.bpmn").byID(t, "Event_WaitBackoff")
	durations := timer.all("timeDuration")
	if len(durations) != 1 {
		t.Fatalf("%d durations at the timer", len(durations))
	}
	want := `=if retryDecision.backoffDuration != null then duration(retryDecision.backoffDuration)` +
		` else duration("PT" + string(backoffMinutes) + "M")`
	if got := durations[0].Text; got != want {
		t.Errorf("timer %s, want %s", got, want)
	}
}

func TestAnySubmissionErrorReachesTheAnalysisWithItsOwnText(t *testing.T) {
	model := read(t, "submission-retry.bpmn")
	boundary := model.byID(t, "BoundaryEvent_SubmissionFailed")
	if got := boundary.attr("attachedToRef"); got != "Task_SubmitClaim" {
		t.Errorf("attached to %q", got)
	}
	if got := boundary.all("errorEventDefinition")[0].attr("errorRef"); got != "" {
		t.Errorf("errorRef %q: without one, every code is caught", got)
	}
	ofTheFailure := []string{"submissionError", "lastSubmissionTime", "retryAfter"}
	for _, name := range ofTheFailure {
		if got := boundary.outputs()[name]; got != "="+name {
			t.Errorf("the failure maps %s from %q", name, got)
		}
	}
	// A failure without a text must be analyzed as one, not with the text of the failure before.
	for _, id := range []string{"StartEvent_ClaimToSubmit", "Event_WaitBackoff", "Event_RedriveClaim"} {
		for _, name := range ofTheFailure {
			if got := model.byID(t, id).outputs()[name]; got != "=null" {
				t.Errorf("%s leaves %s as %q, want =null", id, name, got)
			}
		}
	}
}

func TestEveryCallCountsFromZero(t *testing.T) {
	if got := read(t, "submission-retry.bpmn").byID(t, "StartEvent_ClaimToSubmit").outputs()["retryCount"]; got != "=0" {
		t.Errorf("the start sets retryCount to %q, want =0", got)
	}
	call := read(t, "sub-06.bpmn").byID(t, "CallActivity_SubmitWithRetries")
	called := call.all("calledElement")
	if len(called) != 1 || called[0].attr("processId") != "SubmissionRetryProcess" {
		t.Fatalf("the call activity calls %v", called)
	}
	if called[0].attr("propagateAllChildVariables") != "true" {
		t.Error("the results of the submission do not come back")
	}
	// The broker merges a result into the call activity's own variable of that name, where it ends.
	if inputs := call.all("input"); len(inputs) != 0 {
		t.Errorf("input mappings %v would hide the results of the same name", inputs)
	}
}

func TestCallersCatchEveryErrorWithTheDecision(t *testing.T) {
	thrown := map[string]bool{retry.CodeMaxRetriesExceeded: true, retry.CodePermanentError: true}
	loop := read(t, "submission-retry.bpmn")
	for _, end := range loop.all("endEvent") {
		for _, definition := range end.all("errorEventDefinition") {
			thrown[loop.byID(t, definition.attr("errorRef")).attr("errorCode")] = true
		}
	}
	for _, path := range []string{"sub-06.bpmn", "../examples/caller.bpmn"} {
		t.Run(path, func(t *testing.T) {
			root := read(t, path)
			caught := map[string]bool{}
			for _, boundary := range root.all("boundaryEvent") {
				definitions := boundary.all("errorEventDefinition")
				if len(definitions) == 0 || boundary.attr("attachedToRef") == "Task_CheckClaimStatus" {
					continue
				}
				caught[root.byID(t, definitions[0].attr("errorRef")).attr("errorCode")] = true
				if got := boundary.attr("attachedToRef"); got != "CallActivity_SubmitWithRetries" {
					t.Errorf("%s is attached to %q", boundary.attr("id"), got)
				}
				if path != "sub-06.bpmn" {
					continue
				}
				mapped := boundary.outputs()
				for _, name := range decisionNames {
					if mapped[name] != "="+name {
						t.Errorf("%s maps %s from %q: the next task would not see it", boundary.attr("id"), name, mapped[name])
					}
				}
			}
			if sorted(caught) != sorted(thrown) {
				t.Errorf("caught %v, thrown %v", sorted(caught), sorted(thrown))
			}
		})
	}
}

func TestAPersonsDecisionIsNeverTakenByAccident(t *testing.T) {
	root := read(t, "sub-06.bpmn")
	if found := root.all("userTask"); len(found) != 2 {
		t.Fatalf("%d user tasks, want two", len(found))
	}
	for _, task := range root.all("userTask") {
		// <zeebe:userTask/> is in the extension elements; it would take the job away from gRPC.
		if len(task.all("userTask")) != 0 {
			t.Errorf("%s is a Camunda user task", task.attr("id"))
		}
	}
	for k, group := range map[string]string{"Billing": "billing", "Registration": "registration"} {
		pending := root.byID(t, "Event_"+k+"DecisionPending").outputs()
		if want := "justification manualDecision operator redriveId"; sorted(pending) != want {
			t.Errorf("%s: before the person is asked %s, want %s", k, sorted(pending), want)
		}
		for name, value := range pending {
			if value != "=null" {
				t.Errorf("%s: %s is %s, want =null", k, name, value)
			}
		}
		if got := root.byID(t, "Gateway_"+k+"Decision").attr("default"); got != "Flow_"+k+"Undecided" {
			t.Errorf("%s: default flow %q", k, got)
		}
		if got := root.byID(t, "Flow_"+k+"Undecided").attr("targetRef"); got != "Gateway_Join"+k {
			t.Errorf("%s: an incomplete decision goes to %q, not back to the person", k, got)
		}
		resubmit := `=string(manualDecision) = "RESUBMIT" and (if justification instance of string then matches(justification, "\S") else false)`
		for flow, want := range map[string]string{"Resubmit": resubmit, "Abandon": `=string(manualDecision) = "ABANDON"`} {
			if got := root.byID(t, "Flow_"+k+flow).all("conditionExpression")[0].Text; got != want {
				t.Errorf("%s: %s when %s, want %s", k, flow, got, want)
			}
		}
		header := root.byID(t, "Task_Notify"+k).all("header")[0]
		if header.attr("key") != "team" || header.attr("value") != group {
			t.Errorf("%s: header %v", k, header.Attrs)
		}
	}
}

func TestThePicturesAreThoseOfTheModels(t *testing.T) {
	sum := regexp.MustCompile(`sha256: ([0-9a-f]{64})`)
	for _, path := range files(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".bpmn")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile("../docs/images/" + name + ".svg")
		if err != nil {
			t.Errorf("%v: run `make pictures`", err)
			continue
		}
		want := sha256.Sum256(content)
		got := sum.FindSubmatch(picture)
		if got == nil || string(got[1]) != hex.EncodeToString(want[:]) {
			t.Errorf("docs/images/%s.svg is not drawn from the %s of today: run `make pictures`", name, filepath.Base(path))
		}
		if _, err := os.Stat("../docs/images/" + name + ".png"); err != nil {
			t.Errorf("%v: run `make pictures`", err)
		}
	}
}
