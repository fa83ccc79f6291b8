package e2e

import "testing"

// fiveNames are the variables of RN-BIL-004 section 3.2.
var fiveNames = []string{"shouldRetry", "nextRetryTime", "retryCount", "retryReason", "backoffMinutes"}

const submissionBackoff = "retry-submission-backoff"

func TestSeed001OlderRuleAnswersAndCountsApartFromTheNewer(t *testing.T) {
	o := atTheOffice(t)
	o.example("submission-backoff.bpmn")
	older := o.start("SubmissionBackoffProcess", vars{"claimId": "CLM-SEED-001-1"})
	first := older.submission()
	newer := o.submits("CLM-SEED-001-2")
	other := newer.submission()
	first.fails("CONNECTION_ERROR")
	other.fails("RATE_LIMIT") // both job types have work now

	wait := older.waits(5, 6)
	older.answered(submissionBackoff, "COMPLETED", 1, fiveNames...).hold(t, vars{
		"shouldRetry": true, "retryCount": 1, "retryReason": "Retry 1 of 5", "backoffMinutes": wait.minutes,
	})
	newer.waits(5, 6)
	newer.cancel()
	for _, line := range []string{ // RN-BIL-004 section 13.4
		`submission_retry_total{policy="tiss"} 1`,
		`submission_retry_backoff_minutes_count{policy="tiss"} 1`,
		`submission_retry_max_exceeded{policy="tiss"} 0`,
		`error_classification_distribution{classification="TRANSIENT",policy="tiss"} 1`,
	} {
		o.worker.shows(line)
	}
	wait.passes()
	older.submission().holds(vars{"retryCount": 1}).complete(nil)
	older.endsAt("EndEvent_Done")
	older.variables().hold(t, vars{"status": "SUBMITTED"})
	older.variables().lack(t, "maxRetries", "errorClassification", "originalError", "retryDecision")
	older.recorded("SUBMITTED")
}

func TestSeed001StoppedClaimIsSuspendedForBilling(t *testing.T) {
	o := atTheOffice(t)
	o.example("submission-backoff.bpmn")
	claim := o.start("SubmissionBackoffProcess", vars{"claimId": "CLM-SEED-001-3"})
	claim.isExhaustedBy("TEMPORARY_ERROR")
	claim.answered(submissionBackoff, "COMPLETED", len(bands), fiveNames...)
	claim.notifies("billing-management").holds(vars{"retryCount": 5, "retryReason": "Transient error, all 5 retries used"})
	claim.answered(submissionBackoff, "ERROR_THROWN", 1, fiveNames...).hold(t, vars{
		"shouldRetry": false, "retryCount": 5, "backoffMinutes": 0, "nextRetryTime": nil,
	})
	claim.deadLetter("Task_ReviewClaim", "billing").holds(vars{"status": "EXHAUSTED", "retryCount": 5}).complete(sentAgain)
	o.hasAnEvent("CLM-SEED-001-3", "retry.max_retries_exceeded.v4", `"with":"billing"`)

	claim.submission().holds(vars{"retryCount": 0, "status": nil}).fails("AUTHORIZATION_DENIED")
	claim.notifies("billing-management").holds(vars{"retryReason": "Permanent error AUTHORIZATION_DENIED, no retry"})
	claim.deadLetter("Task_ReviewClaim", "billing").
		holds(vars{"status": "REFUSED", "justification": nil, "decidedBy": nil}).complete(discarded)
	o.hasAnEvent("CLM-SEED-001-3", "retry.permanent_error_detected.v4", `"with":"billing"`)
	claim.endsAt("EndEvent_Abandoned")
	claim.variables().hold(t, vars{"status": "ABANDONED"})
	claim.recorded("RESUBMITTED", "ABANDONED")
}
