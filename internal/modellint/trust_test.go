package modellint_test

import (
	"reflect"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// A slip is what somebody types or draws instead of what stands in a good model.
type slip struct{ instead, of string }

const (
	sub06        = "../../../../bpmn/sub-06"
	condition    = `=shouldRetry = true</conditionExpression>`
	timerMapping = `<zeebe:output source="=null" target="submissionError" />`
	toTheTimer   = `sourceRef="Task_AnalyzeRetry" targetRef="Event_WaitBackoff"`
	fromTheTimer = `sourceRef="Event_WaitBackoff" targetRef="Gateway_JoinSubmission"`
	outcome      = `<zeebe:input source="=&#34;ABANDONED&#34;" target="outcome" />`
	toSubmit     = `type="submit-claim"`
	ended        = "../../../../examples/end-claim"
	header       = `<zeebe:taskHeaders><zeebe:header key="retryPolicy" value="tiss" /></zeebe:taskHeaders>`
)

var misspeltHeader = strings.ReplaceAll(header, "tiss", "tis")

func typed(jobType string) string {
	return `<zeebe:taskDefinition type="` + jobType + `" retries="3" />`
}

func TestOneMistakeIsOneFinding(t *testing.T) {
	for _, c := range []struct {
		model string
		slip
		want string
	}{
		{"pool", slip{`=shouldretry = true</conditionExpression>`, condition}, "error variable-misspelt Gateway_ShouldRetry"},
		{"pool", slip{`=shouldRetry = "true"</conditionExpression>`, condition}, "error condition-form Gateway_ShouldRetry"},
		{"pool", slip{`shouldRetry = true</conditionExpression>`, condition}, "error condition-form Gateway_ShouldRetry"},
		{"pool", slip{`=shouldRetry = true and errorClassification = "Transient"</conditionExpression>`, condition}, "warning condition-form Gateway_ShouldRetry"},
		{"pool", slip{`=not(shouldRetry)</conditionExpression>`, condition}, "error wait-leads-astray Gateway_ShouldRetry"},
		{"pool", slip{`=shouldRetry = false</conditionExpression>`, condition}, "error wait-leads-astray Gateway_ShouldRetry"},
		{"pool", slip{`=shouldRetry = approved</conditionExpression>`, condition}, "warning condition-form Gateway_ShouldRetry"},
		{sub06, slip{`name="redrive_claim"`, `name="redrive-claim"`}, "error message-unknown BoundaryEvent_BillingRedriven"},
		{"short-waits", slip{`name="redrive_claim"`, `name="redrive-claim"`}, "error message-unknown Event_RedriveClaim"},
		{"short-waits", slip{`correlationKey="=conta"`, `correlationKey="=claimId"`}, "error message-unknown Event_RedriveClaim"},
		{"short-waits", slip{`correlationKey="claimId"`, `correlationKey="=claimId"`}, "error message-unknown Event_RedriveClaim"},
		{"short-waits", slip{`correlationKey="=retryAfter"`, `correlationKey="=claimId"`}, "warning message-unknown Event_RedriveClaim"},
		{"call-activity", slip{`"SubmissionRetryProces"`, `"SubmissionRetryProcess"`}, "error process-unknown Activity_0k3xq1p"},
		{"loop", slip{`errorRef="Error_Permanent"`, `errorRef="Error_PermanentError"`}, "error reference-broken ErrorEventDefinition_PermanentError"},
		{"loop", slip{`sourceRef="Task_AnalyzeRetry" targetRef="Gateway_JoinSubmission"`, toTheTimer}, "error wait-missing Task_AnalyzeRetry"},
		{"loop", slip{`sourceRef="Event_WaitBackoff" targetRef="Task_AnalyzeRetry"`, fromTheTimer}, "error wait-leads-astray Event_WaitBackoff"},
		{"loop", slip{`sourceRef="Event_WaitBackoff" targetRef="EndEvent_ClaimSubmitted"`, fromTheTimer}, "error wait-leads-astray Event_WaitBackoff"},
		{"loop", slip{timerMapping + `<zeebe:output source="=0" target="retryCount" />`, timerMapping}, "error count-hidden Event_WaitBackoff"},
		{"loop", slip{`<zeebe:output source="=0" target="retryCount" /><zeebe:output source="=retryAfter"`, `<zeebe:output source="=retryAfter"`}, "error count-hidden BoundaryEvent_SubmissionFailed"},
		{"loop", slip{timerMapping + `<zeebe:output source="=null" target="claimId" />`, timerMapping}, "error claim-id-lost Event_WaitBackoff"},
		{"loop", slip{`<zeebe:input source="=&#34;SUBMITTED&#34;" target="outcome" />`, outcome}, "warning outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{misspeltHeader + `<zeebe:ioMapping>` + outcome, "<zeebe:ioMapping>\n          " + outcome}, "warning policy-unknown Task_RecordAbandoned"},
		{"loop", slip{``, outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`<zeebe:input source="=&#34;ABANDON&#34;" target="outcome" />`, outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`<zeebe:input source="=ABANDONED" target="outcome" />`, outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`<zeebe:input source="Abandoned" target="outcome" />`, outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`id="Event_WaitBackoff">`, `id="TimerEventDefinition_Backoff">`}, "error reference-broken Event_WaitBackoff"},
		{"loop", slip{`sourceRef="Task_RecordAbandoned" targetRef="EndEvent_None"`, `sourceRef="Task_RecordAbandoned" targetRef="EndEvent_ClaimAbandoned"`}, "error reference-broken Flow_AbandonRecorded"},
		{"loop", slip{`<bpmn:intermediateCatchEvent id="Task_RecordAbandoned"`, `<bpmn:intermediateCatchEvent id="Event_WaitBackoff"`}, "error reference-broken Task_RecordAbandoned"},
		{"loop", slip{`isExecutable="false"`, `isExecutable="true"`}, "warning not-executable loop"},
		{"loop", slip{`source="=submisionError"`, `source="=submissionError"`}, "warning variable-misspelt BoundaryEvent_SubmissionFailed"},
		{"person", slip{`=manualDecison = "ABANDON"`, `=manualDecision = "ABANDON"`}, "warning variable-misspelt Gateway_Decision"},
		{sub06, slip{`=[if retryDecison.with = null`, `=[if retryDecision.with = null`}, "warning variable-misspelt Task_CorrectData"},
		{sub06, slip{`=retryDecision.advise = `, `=retryDecision.advice = `}, "warning condition-form Gateway_CheckStatus"},
		{ended, slip{`key="byPersn"`, `key="byPerson"`}, "warning header-unknown Task_RecordEnd"},
		{sub06, slip{`attachedToRef="Task_ReviewClaim" cancelActivity="false"`, `attachedToRef="Task_ReviewClaim"`}, "error parallel-ways BoundaryEvent_BillingRedriven"},
		{"short-waits", slip{`<bpmn:parallelGateway id="Gateway_WaitOrRedrive" /><bpmn:eventBasedGateway id="Unused"`, `<bpmn:eventBasedGateway id="Gateway_WaitOrRedrive"`}, "error parallel-ways Gateway_WaitOrRedrive"},
		{"loop", slip{`<bpmn:parallelGateway id="Gateway_JoinSubmission" /><bpmn:exclusiveGateway id="Unused"`, `<bpmn:exclusiveGateway id="Gateway_JoinSubmission"`}, "error parallel-ways Gateway_JoinSubmission"},
		{"loop", slip{`sourceRef="Event_WaitBackoff" targetRef="Task_RecordSubmitted"`, fromTheTimer}, "error wait-leads-astray Event_WaitBackoff"},
		{"person", slip{`source="=&#34;ABANDONED&#34;"`, `source="=&#34;RESUBMITTED&#34;"`}, "warning outcome-not-recorded Task_RecordResubmitted"},
		{"loop", slip{strings.Replace(outcome, "input", "output", 1), outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`"PT" + string(backoffMinuts) + "M"`, `"PT" + string(backoffMinutes) + "M"`}, "error variable-misspelt Event_WaitBackoff"},
		{"loop", slip{typed("analyse-retry") + header, typed("analyze-retry")}, "error job-type-misspelt Task_AnalyzeRetry"},
		{"loop", slip{typed("record-outcome") + `<zeebe:ioMapping>` + outcome, typed("record-retry-outcome") + "\n        <zeebe:ioMapping>\n          " + outcome}, "error job-type-misspelt Task_RecordAbandoned"},
	} {
		f := changed(t, c.model, c.of, c.instead)
		check.Same(t, []string{c.want}, found(standard, f), "%s in %s", c.instead, c.model)
		check.Same(t, []string{c.want}, found(standard, f, f), "%s in %s, given twice", c.instead, c.model)
	}
}

func TestWhatIsRightInAnotherFormIsNoFinding(t *testing.T) {
	for _, c := range []struct {
		model string
		slip
	}{
		{"pool", slip{`=shouldRetry</conditionExpression>`, condition}},
		{"pool", slip{`=not(shouldRetry) and amount &gt; 5</conditionExpression>`, condition}},
		{"pool", slip{`=shouldRetry = true and retryCount &lt; maxRetries</conditionExpression>`, condition}},
		{"pool", slip{`=retryDecision.advice = "CHECK_STATUS" or shouldRetry</conditionExpression>`, condition}},
		{"pool", slip{`=shouldRetry and retryCounts &gt; 5</conditionExpression>`, condition}},
		{"loop", slip{`type="record-payment-outcome"`, toSubmit}},
		{"loop", slip{`<zeebe:input source="=&#34;RESUBMITTED&#34;" target="outcome" />`, outcome}},
		{"loop", slip{`<zeebe:input source="ABANDONED" target="outcome" />`, outcome}},
		{"loop", slip{`<zeebe:input source="=if a then &#34;ABANDONED&#34; else &#34;x&#34;" target="outcome" />`, outcome}},
		{"loop", slip{`<zeebe:input source="=result" target="outcome" />`, outcome}},
		{"loop", slip{`type="analyze-claim-retry"`, toSubmit}},
		{"loop", slip{`type="retry-submission"`, toSubmit}},
		{"person", slip{`=retryReasons = "ABANDON"</bpmn:conditionExpression>`, `=manualDecision = "ABANDON"</bpmn:conditionExpression>`}},
		{"short-waits", slip{`correlationKey="=string(claimId)"`, `correlationKey="=claimId"`}},
		{"loop", slip{timerMapping + `<zeebe:output source="=retryCount" target="retryCount" />`, timerMapping}},
		{"call-activity", slip{`"SubmissionRetryProcess"`, `"SubmissionRetryProcess"`}},
		{"call-activity", slip{`<zeebe:output source="=retryReason" target="motivo" />`, `<zeebe:output source="=retryReason" target="retryReason" />`}},
	} {
		f := changed(t, c.model, c.of, c.instead)
		check.Same(t, nil, found(standard, f), "%s in %s", strings.TrimSpace(c.instead), c.model)
	}
}

// The flows of the gateway are drawn the wrong way round: the text of its condition is right.
func TestARetryThatIsLedToTheEndIsAMistake(t *testing.T) {
	const yes, no = `sourceRef="Gateway_ShouldRetry" targetRef="Event_WaitBackoff"`, `sourceRef="Gateway_ShouldRetry" targetRef="Gateway_JoinStopped"`
	want := []string{"error wait-leads-astray Gateway_ShouldRetry"}
	check.Same(t, want, found(standard, changed(t, "pool", no, "@", yes, no, "@", yes)), "findings")
	refused := strings.ReplaceAll(yes, "Event_WaitBackoff", "Task_RecordAbandoned")
	check.Same(t, want, found(standard, changed(t, "pool", no, "@", yes, refused, "@", yes)), "past the other event")
}

func TestEveryRecordOfAnAbandonedClaimIsJudgedByItself(t *testing.T) {
	const accepted = `<zeebe:input source="=&#34;SUBMITTED&#34;" target="outcome" />`
	billing, registration := "warning outcome-not-recorded Task_RecordAbandonedByBilling", "warning outcome-not-recorded Task_RecordAbandonedByRegistration"
	check.Same(t, []string{billing, registration}, found(standard, changed(t, sub06, outcome, accepted)), "both")

	f := changed(t, sub06)
	f.Content = []byte(strings.Replace(string(f.Content), outcome, accepted, 1))
	check.Same(t, []string{billing}, found(standard, f), "one of two")

	const task = `<bpmn:serviceTask id="Task_RecordAbandoned"`
	record := task + `><bpmn:extensionElements>` + typed("record-retry-outcome") + `<zeebe:ioMapping>` + accepted +
		`</zeebe:ioMapping></bpmn:extensionElements></bpmn:serviceTask>`
	record = strings.ReplaceAll(record, "Task_RecordAbandoned", "Task_2") +
		`<bpmn:sequenceFlow id="Flow_3" sourceRef="Task_2" targetRef="EndEvent_ClaimAbandoned" />`
	way := func(from string) string {
		return `<bpmn:sequenceFlow id="Flow_2" sourceRef="` + from + `" targetRef="Task_2" />`
	}
	f = changed(t, "loop", task, record+way("BoundaryEvent_PermanentError")+task)
	check.Same(t, []string{"warning outcome-not-recorded Task_2"}, found(standard, f), "beside one that is right")
	f = changed(t, "person", task, record+way("Gateway_Decision")+task)
	check.Same(t, nil, found(standard, f), "a person says that the claim was accepted")
}

func TestTwoSubmissionsOfOneAnalysisWithoutAWaitAreOneFinding(t *testing.T) {
	const next = `sourceRef="Gateway_JoinSubmission" targetRef="Task_SubmitClaim"`
	status := `<bpmn:serviceTask id="Task_Check"><bpmn:extensionElements>` + typed("check-status") + `</bpmn:extensionElements></bpmn:serviceTask>` +
		`<bpmn:boundaryEvent id="Event_Check" attachedToRef="Task_Check"><bpmn:extensionElements><zeebe:ioMapping>` +
		`<zeebe:output source="=submissionError" target="submissionError" /></zeebe:ioMapping></bpmn:extensionElements><bpmn:errorEventDefinition /></bpmn:boundaryEvent>` +
		`<bpmn:sequenceFlow id="Flow_2" sourceRef="Event_Check" targetRef="Task_AnalyzeRetry" /><bpmn:sequenceFlow id="Flow_3" sourceRef="Task_Check" targetRef="Task_SubmitClaim" />`
	const task = `<bpmn:serviceTask id="Task_SubmitClaim"`
	f := changed(t, "loop", next, strings.Replace(next, "Task_SubmitClaim", "Task_Check", 1), task, status+task,
		toTheTimer, `sourceRef="Task_AnalyzeRetry" targetRef="Gateway_JoinSubmission"`)
	check.Same(t, []string{"error wait-missing Task_AnalyzeRetry"}, found(standard, f), "findings")
}

func TestConditionsMayReadEveryFieldOfTheDecision(t *testing.T) {
	for f := range reflect.TypeFor[retry.Explanation]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		model := changed(t, "pool", condition, `=shouldRetry and retryDecision.`+name+` != null</conditionExpression>`)
		check.Same(t, nil, found(standard, model), "%s", name)
	}
}
