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
	permanent    = `<bpmn:errorEventDefinition id="ErrorEventDefinition_PermanentError" errorRef="Error_PermanentError" />`
	toTheRecord  = `sourceRef="BoundaryEvent_PermanentError" targetRef="Task_RecordAbandoned"`
	submits      = `<bpmn:serviceTask id="Task_SubmitClaim"`
	header       = `<zeebe:taskHeaders><zeebe:header key="retryPolicy" value="tiss" /></zeebe:taskHeaders>`
)

var misspeltHeader = strings.ReplaceAll(header, "tiss", "tis")

// passedOn are mappings of the analysis that keep what no other element reads, or under another name.
const passedOn = `<zeebe:ioMapping><zeebe:output source="=retryCount" target="retryCount" />` +
	`<zeebe:output source="=backoffMinutes" target="backoffMinutes" /><zeebe:output source="=maxRetries" target="limit" /></zeebe:ioMapping>`

// ownID takes the claim's id from a variable of another case.
const ownID = `<zeebe:ioMapping><zeebe:input source="=claimID" target="claimId" /></zeebe:ioMapping>`

const permanentEnd = `<bpmn:errorEventDefinition errorRef="Error_PermanentError" /></bpmn:endEvent>`

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
		{"short-waits", slip{`correlationKey="=trim(claimId)"`, `correlationKey="=claimId"`}, "warning message-unknown Event_RedriveClaim"},
		{"short-waits", slip{`correlationKey="=trim(claimID)"`, `correlationKey="=claimId"`}, "error message-unknown Event_RedriveClaim"},
		{"short-waits", slip{`correlationKey="trim(claimId)"`, `correlationKey="=claimId"`}, "error message-unknown Event_RedriveClaim"},
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
		{"loop", slip{`source="=submissionerror"`, `source="=submissionError"`}, "warning variable-misspelt BoundaryEvent_SubmissionFailed"},
		{"pool", slip{`source="=retryreason"`, `source="=retryReason"`}, "warning variable-misspelt BoundaryEvent_NoRetry"},
		{"person", slip{`=string(manualdecision) = "ABANDON"`, `=manualDecision = "ABANDON"`}, "warning variable-misspelt Gateway_Decision"},
		{ended, slip{`source="=Justification"`, `source="=justification"`}, "warning variable-misspelt Task_RecordEnd"},
		{"pool", slip{`=shouldRetry and retrycount &lt; 3</conditionExpression>`, condition}, "warning variable-misspelt Gateway_ShouldRetry"},
		{"loop", slip{typed("analyze-retry") + ownID, "\n        " + typed("analyze-retry")}, "warning variable-misspelt Task_AnalyzeRetry"},
		{sub06, slip{`=[if retryDecison.with = null`, `=[if retryDecision.with = null`}, "warning variable-misspelt Task_CorrectData"},
		{sub06, slip{`=retryDecision.advise = `, `=retryDecision.advice = `}, "warning condition-form Gateway_CheckStatus"},
		{ended, slip{`key="byPersn"`, `key="byPerson"`}, "warning header-unknown Task_RecordEnd"},
		{sub06, slip{`attachedToRef="Task_ReviewClaim" cancelActivity="false"`, `attachedToRef="Task_ReviewClaim"`}, "error parallel-ways BoundaryEvent_BillingRedriven"},
		{"short-waits", slip{`<bpmn:parallelGateway id="Gateway_WaitOrRedrive" /><bpmn:eventBasedGateway id="Unused"`, `<bpmn:eventBasedGateway id="Gateway_WaitOrRedrive"`}, "error parallel-ways Gateway_WaitOrRedrive"},
		{"loop", slip{`<bpmn:parallelGateway id="Gateway_JoinSubmission" /><bpmn:exclusiveGateway id="Unused"`, `<bpmn:exclusiveGateway id="Gateway_JoinSubmission"`}, "error parallel-ways Gateway_JoinSubmission"},
		{"loop", slip{`sourceRef="Event_WaitBackoff" targetRef="Task_RecordSubmitted"`, fromTheTimer}, "error wait-leads-astray Event_WaitBackoff"},
		{"person", slip{`source="SUBMITTED"`, `source="=&#34;ABANDONED&#34;"`}, "warning outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{strings.Replace(outcome, "input", "output", 1), outcome}, "error outcome-not-recorded Task_RecordAbandoned"},
		{"loop", slip{`<bpmn:timerEventDefinition><bpmn:timeDuration>PT1H</bpmn:timeDuration></bpmn:timerEventDefinition>`, permanent}, "error error-not-caught Task_AnalyzeRetry"},
		{"loop", slip{`<bpmn:timeCycle>="R/PT" + string(backoffMinutes) + "M"</bpmn:timeCycle>`, `<bpmn:timeDuration xsi:type="bpmn:tFormalExpression">` + wait + `</bpmn:timeDuration>`}, "error timer-duration Event_WaitBackoff"},
		{sub06, slip{``, `<zeebe:output source="=retryDecision" target="retryDecision" />`}, "error error-variables-not-mapped BoundaryEvent_PermanentError"},
		{"subprocess", slip{`sourceRef="Task_AnalyzeRetry" targetRef="Gateway_JoinSubmission"`, toTheTimer}, "error wait-missing Task_AnalyzeRetry"},
		{"loop", slip{`"PT" + string(backoffMinuts) + "M"`, `"PT" + string(backoffMinutes) + "M"`}, "error variable-misspelt Event_WaitBackoff"},
		{"loop", slip{typed("=&#34;analyze-retry&#34;") + misspeltHeader, typed("analyze-retry")}, "error policy-unknown Task_AnalyzeRetry"},
		{"loop", slip{typed("record-retry-outcomes") + `<zeebe:ioMapping>` + outcome, typed("record-retry-outcome") + "\n        <zeebe:ioMapping>\n          " + outcome}, "error job-type-misspelt Task_RecordAbandoned"},
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
		{"loop", slip{`<zeebe:input source="=if claimed then &#34;ABANDONED&#34; else &#34;x&#34;" target="outcome" />`, outcome}},
		{"person", slip{`=claimed</bpmn:conditionExpression>`, `=manualDecision = "ABANDON"</bpmn:conditionExpression>`}},
		{"loop", slip{timerMapping + `<zeebe:output source="={claimID: claimId, Justification: null, decidedby : decidedBy}" target="sent" />`, timerMapping}},
		{"loop", slip{timerMapping + `<zeebe:output source="=claimID" target="claimId" />`, timerMapping}},
		{"person", slip{`<zeebe:output source="=retryCount" target="Justification" /><zeebe:output source="=Justification" target="justification" />`, `<zeebe:output source="=null" target="justification" />`}},
		{"short-waits", slip{`correlationKey="=string(claimId)"`, `correlationKey="=claimId"`}},
		{"loop", slip{timerMapping + `<zeebe:output source="=retryCount" target="retryCount" />`, timerMapping}},
		{"call-activity", slip{`"SubmissionRetryProcess"`, `"SubmissionRetryProcess"`}},
		{"loop", slip{`source="=submission_error"`, `source="=submissionError"`}},
		{"call-activity", slip{`<zeebe:output source="=retryReason" target="motivo" />`, `<zeebe:output source="=retryReason" target="retryReason" />`}},
		{"short-waits", slip{`<zeebe:output source="=0" target="retryCount" /><zeebe:output source="=justification"`, `<zeebe:output source="=justification"`}},
		{"loop", slip{typed("analyze-retry") + passedOn, "\n        " + typed("analyze-retry")}},
		{"loop", slip{strings.Replace(toTheRecord, "Task_RecordAbandoned", "End_Passed", 1) + ` /><bpmn:endEvent id="End_Passed">` + permanentEnd, toTheRecord + ` />`}},
		{"loop", slip{strings.Replace(toTheRecord, "Task_RecordAbandoned", "Link", 1) + ` /><bpmn:intermediateThrowEvent id="Link"><bpmn:linkEventDefinition name="A" /></bpmn:intermediateThrowEvent>`, toTheRecord + ` />`}},
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
	asked := `><bpmn:conditionExpression>=manualDecision = "ACCEPTED"</bpmn:conditionExpression></bpmn:sequenceFlow>`
	f = changed(t, "person", task, record+strings.Replace(way("Gateway_Decision"), " />", asked, 1)+task)
	check.Same(t, nil, found(standard, f), "a person says that the claim was accepted")
}

func TestAnAcceptedClaimIsNotRecordedAsAbandoned(t *testing.T) {
	const task, accepted, given = `<bpmn:serviceTask id="Task_RecordSubmitted"`, `<zeebe:input source="=&#34;SUBMITTED&#34;" target="outcome" />`, `sourceRef="Task_SubmitClaim" targetRef="Task_RecordSubmitted"`
	to := func(id string) string { return strings.Replace(given, "Task_RecordSubmitted", id, 1) }
	on := func(id string) string {
		return `<bpmn:sequenceFlow id="Flow_2" sourceRef="` + id + `" targetRef="Task_RecordSubmitted" />` + task
	}
	const otherwise = `<bpmn:exclusiveGateway id="Between" default="Flow_2" /><bpmn:sequenceFlow id="Flow_3" sourceRef="Between" targetRef="Task_RecordAbandoned">` +
		`<bpmn:conditionExpression>=refused</bpmn:conditionExpression></bpmn:sequenceFlow>`
	for between, want := range map[string][]string{
		`<bpmn:exclusiveGateway id="Between" />`:       {"warning outcome-not-recorded Task_RecordSubmitted"},
		`<bpmn:intermediateThrowEvent id="Between" />`: {"warning outcome-not-recorded Task_RecordSubmitted"},
		`<bpmn:serviceTask id="Between" />`:            nil,
		`<bpmn:callActivity id="Between" />`:           nil,
		`<bpmn:intermediateCatchEvent id="Between"><bpmn:signalEventDefinition /></bpmn:intermediateCatchEvent>`: nil,
		otherwise: nil,
	} {
		f := changed(t, "loop", accepted, outcome, given, to("Between"), task, between+on("Between"))
		check.Same(t, want, found(standard, f), "%s", between)
	}
	f := changed(t, "loop", accepted, `<zeebe:input source="=if refused then &#34;ABANDONED&#34; else &#34;SUBMITTED&#34;" target="outcome" />`)
	check.Same(t, nil, found(standard, f), "an expression")
	f = changed(t, "loop", accepted, outcome, submits, `<bpmn:subProcess id="Task_SubmitClaim"><bpmn:userTask id="Ask"><bpmn:extensionElements><zeebe:userTask />`+
		`</bpmn:extensionElements></bpmn:userTask></bpmn:subProcess><bpmn:serviceTask id="Task_Other"`)
	check.Same(t, nil, found(standard, f), "a person in the sub-process that submits")
	check.Same(t, []string{"warning outcome-not-recorded Task_RecordAbandoned"}, found(standard, changed(t, "loop", given, to("Task_RecordAbandoned"))), "the other record")
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

func TestAFailureThatSkipsTheAnalysis(t *testing.T) {
	const failed, analysis = `sourceRef="BoundaryEvent_SubmissionFailed" targetRef="Task_AnalyzeRetry"`, `<bpmn:serviceTask id="Task_AnalyzeRetry"`
	to := func(id string) string { return strings.Replace(failed, "Task_AnalyzeRetry", id, 1) }
	scope := func(kind, start string) string { // around a second analysis, after the first one has stopped the claim
		return `<bpmn:` + kind + ` id="Scope">` + start + `<bpmn:serviceTask id="Again"><bpmn:extensionElements>` + typed("analyze-retry") +
			`</bpmn:extensionElements></bpmn:serviceTask></bpmn:` + kind + `><bpmn:boundaryEvent id="Stopped" attachedToRef="Scope"><bpmn:errorEventDefinition />` +
			`</bpmn:boundaryEvent><bpmn:sequenceFlow id="Flow_2" sourceRef="Stopped" targetRef="Task_RecordAbandoned" />` +
			`<bpmn:sequenceFlow id="Flow_3" sourceRef="Scope" targetRef="Task_RecordAbandoned" />` + submits
	}
	parked := func(attribute string) string {
		return `<bpmn:serviceTask id="Parked"` + attribute + `><bpmn:extensionElements>` + typed("analyze-retry") +
			`</bpmn:extensionElements></bpmn:serviceTask><bpmn:boundaryEvent id="Stopped" attachedToRef="Parked"><bpmn:errorEventDefinition />` +
			`</bpmn:boundaryEvent><bpmn:sequenceFlow id="Flow_2" sourceRef="Stopped" targetRef="Task_RecordAbandoned" />`
	}
	const flow = `<bpmn:startEvent id="Begin" /><bpmn:sequenceFlow id="Flow_4" sourceRef="Begin" targetRef="Again" />`
	into := strings.Replace(toTheRecord, "Task_RecordAbandoned", "Scope", 1)
	skipped, skippedInside := []string{"error analysis-skipped Task_AnalyzeRetry"}, []string{"warning analysis-skipped Again"}
	for name, c := range map[string]struct{ oldNew, want []string }{
		"to the wait":                  {[]string{failed, to("Event_WaitBackoff")}, skipped},
		"to an end":                    {[]string{failed, to("EndEvent_ClaimAbandoned")}, skipped},
		"in a sub-process that starts": {[]string{toTheRecord, into, submits, scope("subProcess", `<bpmn:startEvent id="Begin" />`)}, skippedInside},
		"first of a sub-process":       {[]string{toTheRecord, into, submits, scope("subProcess", flow)}, nil},
		"first, where no event starts": {[]string{toTheRecord, into, submits, scope("subProcess", "")}, nil},
		"in an ad-hoc sub-process":     {[]string{toTheRecord, into, submits, scope("adHocSubProcess", "")}, nil},
		"parked beside another one":    {[]string{submits, parked("") + submits}, []string{"warning analysis-skipped Parked"}},
		"for a compensation":           {[]string{submits, parked(` isForCompensation="true"`) + submits}, nil},
		"by a link":                    {[]string{failed, to("Link"), analysis, linked + analysis}, nil},
	} {
		check.Same(t, c.want, found(standard, changed(t, "loop", c.oldNew...)), "%s", name)
	}
}

// linked are events by which a link leads to the analysis.
const linked = `<bpmn:intermediateThrowEvent id="Link"><bpmn:linkEventDefinition name="A" /></bpmn:intermediateThrowEvent>` +
	`<bpmn:intermediateCatchEvent id="Caught"><bpmn:linkEventDefinition name="A" /></bpmn:intermediateCatchEvent>` +
	`<bpmn:sequenceFlow id="Flow_Linked" sourceRef="Caught" targetRef="Task_AnalyzeRetry" />`

func TestConditionsMayReadEveryFieldOfTheDecision(t *testing.T) {
	for f := range reflect.TypeFor[retry.Explanation]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		model := changed(t, "pool", condition, `=shouldRetry and retryDecision.`+name+` != null</conditionExpression>`)
		check.Same(t, nil, found(standard, model), "%s", name)
	}
}

func TestWaysThatAClaimGoes(t *testing.T) {
	const (
		task    = `<bpmn:serviceTask id="Task_RecordAbandoned"`
		fork    = `<bpmn:parallelGateway id="Fork" /><bpmn:endEvent id="End_Told" /><bpmn:sequenceFlow id="Flow_2" sourceRef="Fork" targetRef="End_Told" />`
		reason  = `<zeebe:output source="=retryReason" target="retryReason" />`
		confirm = `<bpmn:userTask id="Task_Confirm"><bpmn:extensionElements><zeebe:userTask /><zeebe:ioMapping>` + timerMapping +
			`<zeebe:output source="=null" target="lastSubmissionTime" /><zeebe:output source="=null" target="retryAfter" />` +
			`</zeebe:ioMapping></bpmn:extensionElements></bpmn:userTask>`
	)
	next := func(kind, more string) string { // another claim is to be sent
		return `<bpmn:` + kind + ` id="Next"><bpmn:extensionElements><zeebe:ioMapping>` + timerMapping + `<zeebe:output source="=0" target="retryCount" />` +
			`<zeebe:output source="=null" target="lastSubmissionTime" /><zeebe:output source="=null" target="retryAfter" />` + more +
			`</zeebe:ioMapping></bpmn:extensionElements></bpmn:` + kind + `><bpmn:sequenceFlow id="Flow_Next" sourceRef="Next" targetRef="Task_SubmitClaim" />`
	}
	const abandoned, another = `sourceRef="Task_RecordAbandoned" targetRef="EndEvent_ClaimAbandoned"`, `sourceRef="Task_RecordAbandoned" targetRef="Next"`
	flow := func(from, to string) string {
		return `<bpmn:sequenceFlow id="Flow_` + from + to + `" sourceRef="` + from + `" targetRef="` + to + `" />`
	}
	for name, c := range map[string]struct {
		model  string
		oldNew []string
		want   []string
	}{
		"a person lets every retry go": {"loop", []string{toTheTimer, `sourceRef="Task_AnalyzeRetry" targetRef="Task_Confirm"`, submits, confirm + flow("Task_Confirm", "Task_SubmitClaim") + submits}, nil},
		"somebody is told meanwhile":   {"loop", []string{toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Fork"`, task, fork + flow("Fork", "Task_RecordAbandoned") + task}, nil},
		"a choice of some ways to one record": {"loop", []string{
			toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Some"`, task,
			`<bpmn:inclusiveGateway id="Some" /><bpmn:task id="A" />` + flow("Some", "A") + flow("A", "Task_RecordAbandoned") + flow("Some", "Task_RecordAbandoned") + task,
		}, nil},
		"a choice of some ways that join": {"loop", []string{
			toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Some"`, task,
			`<bpmn:inclusiveGateway id="Some" /><bpmn:parallelGateway id="Join" /><bpmn:task id="A" />` + flow("Some", "A") + flow("A", "Join") + flow("Some", "Join") + flow("Join", "Task_RecordAbandoned") + task,
		}, nil},
		"an event beside the whole process records": {"loop", []string{submits, `<bpmn:subProcess id="Beside" triggeredByEvent="true"><bpmn:startEvent id="Late" isInterrupting="false"><bpmn:timerEventDefinition />` +
			`</bpmn:startEvent><bpmn:serviceTask id="Record"><bpmn:extensionElements>` + recorder + `</bpmn:extensionElements></bpmn:serviceTask>` + flow("Late", "Record") + `</bpmn:subProcess>` + submits}, []string{"error parallel-ways Late"}},
		"ways that end in a sub-process": {"loop", []string{
			toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Scope"`, task,
			`<bpmn:subProcess id="Scope"><bpmn:parallelGateway id="Fork" /><bpmn:task id="A" /><bpmn:task id="B" />` +
				flow("Fork", "A") + flow("Fork", "B") + `</bpmn:subProcess>` + flow("Scope", "Task_RecordAbandoned") + task,
		}, nil},
		"two flows to one task": {"loop", []string{task, flow("StartEvent_ClaimToSubmit", "Task_SubmitClaim") + task}, []string{"error parallel-ways StartEvent_ClaimToSubmit"}},
		"ways that join again": {"loop", []string{
			fromTheTimer, `sourceRef="Event_WaitBackoff" targetRef="Fork"`, submits,
			`<bpmn:parallelGateway id="Fork" /><bpmn:parallelGateway id="Join" /><bpmn:task id="A" />` + flow("Fork", "A") + flow("A", "Join") + flow("Fork", "Join") + flow("Join", "Task_SubmitClaim") + submits,
		}, nil},
		"a task names the next claim":   {"loop", []string{abandoned, another, submits, next("serviceTask", "") + submits}, nil},
		"an event names the next claim": {"loop", []string{abandoned, another, submits, next("intermediateThrowEvent", `<zeebe:output source="=more[1]" target="claimId" />`) + submits}, nil},
		"a called process asked first": {"loop", []string{
			toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Ask"`, submits, `<bpmn:callActivity id="Ask" />` + flow("Ask", "Task_RecordSubmitted") + submits,
		}, nil},
		"sent again without a record": {
			"person",
			[]string{`sourceRef="Gateway_Decision" targetRef="Task_RecordResubmitted"`, `sourceRef="Gateway_Decision" targetRef="Event_NewRound"`},
			[]string{"warning outcome-not-recorded BoundaryEvent_MaxRetriesExceeded", "warning outcome-not-recorded BoundaryEvent_PermanentError"},
		},
		"one end for all, and no record": {
			"loop",
			[]string{"record-retry-outcome", "archive", `targetRef="EndEvent_ClaimAbandoned"`, `targetRef="EndEvent_ClaimSubmitted"`},
			[]string{"warning outcome-not-recorded EndEvent_ClaimSubmitted"},
		},
		"a notice without the reason": {
			"loop",
			[]string{
				reason, "", toTheRecord, `sourceRef="BoundaryEvent_PermanentError" targetRef="Notice"`,
				submits, `<bpmn:sendTask id="Notice" />` + flow("Notice", "Task_RecordAbandoned") + submits,
			},
			[]string{"error error-variables-not-mapped BoundaryEvent_PermanentError"},
		},
		"both conditions are exchanged": {"pool", []string{
			` default="Flow_Refused"`, "", condition, `=shouldRetry = false</conditionExpression>`, `sourceRef="Gateway_ShouldRetry" targetRef="Gateway_JoinStopped" />`,
			`sourceRef="Gateway_ShouldRetry" targetRef="Gateway_JoinStopped"><conditionExpression>=shouldRetry</conditionExpression></sequenceFlow>`,
		}, []string{"error wait-leads-astray Gateway_ShouldRetry"}},
		"the choice leads past the wait": {"../../../../bpmn/submission-retry", []string{
			`targetRef="Gateway_WaitOrRedrive">`, `targetRef="Gateway_WaitedTooLong">`,
		}, []string{"error wait-missing Task_AnalyzeRetry"}},
		"a fixed wait before the decided one": {"loop", []string{
			toTheTimer, `sourceRef="Task_AnalyzeRetry" targetRef="Pause"`, submits,
			`<bpmn:intermediateCatchEvent id="Pause"><bpmn:timerEventDefinition><bpmn:timeDuration>PT5M</bpmn:timeDuration></bpmn:timerEventDefinition>` +
				`</bpmn:intermediateCatchEvent>` + flow("Pause", "Event_WaitBackoff") + submits,
		}, []string{"warning timer-duration Pause"}},
		"a process with a name of its own for the id": {"loop", []string{
			typed("analyze-retry"), typed("analyze-retry") + ownID, `target="outcome" />`, `target="outcome" /><zeebe:input source="=claimID" target="claimId" />`,
		}, nil},
		"retries are refused": {"../../../../bpmn/submission-retry", []string{
			`targetRef="Gateway_WaitOrRedrive"`, "@", `targetRef="EndEvent_RetryRefused"`, `targetRef="Gateway_WaitOrRedrive"`,
			"@", `targetRef="EndEvent_RetryRefused"`,
		}, []string{"error wait-leads-astray Gateway_ShouldRetry"}},
		"an event writes the outcome": {"loop", []string{outcome, "", reason, reason + `<zeebe:output source="=&#34;ABANDONED&#34;" target="outcome" />`}, nil},
	} {
		check.Same(t, c.want, found(standard, changed(t, c.model, c.oldNew...)), "%s", name)
	}
}
