package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// The systems of the five source documents, each shown working by a story: go test ./test/e2e -run TestMail.

const (
	submissionBackoff = "retry-submission-backoff"
	runJob            = "run-job"
	sendEmail         = "send-email"
)

// fiveNames are the variables of RN-BIL-004 section 3.2.
var fiveNames = []string{"shouldRetry", "nextRetryTime", "retryCount", "retryReason", "backoffMinutes"}

// A person's decisions: to send the claim again as it is, and to give up.
var (
	sentAgain = vars{"manualDecision": "RESUBMIT", "justification": "dados conferidos", "decidedBy": "ana.lima"}
	discarded = vars{"manualDecision": "ABANDON", "justification": "sem uso", "decidedBy": "ana.lima"}
)

// RN-BIL-005 on SUB_06.
func TestRNBIL005ClaimIsRetriedThenStoppedAndSentAgainByPeople(t *testing.T) {
	s := newScene(t)
	claim := s.submits("CLM-SEED-000-1")
	first := claim.submission().holds(vars{"claimId": "CLM-SEED-000-1", "retryCount": 0})
	first.variables.lack(t, "shouldRetry", "backoffMinutes")
	first.throw("TISS_5012", vars{
		"submissionError": "TIMEOUT: insurer did not answer within 30 s", "lastSubmissionTime": "2025-01-12T10:40:00-03:00",
	})
	wait := claim.waits(5, 6)
	decided := vars{
		"shouldRetry": true, "retryCount": 1, "maxRetries": 5, "backoffMinutes": wait.minutes,
		"retryReason": "Transient error, retry 1 of 5", "errorClassification": "TRANSIENT",
		"originalError": "TIMEOUT: insurer did not answer within 30 s",
	}
	claim.answered(analyzeRetry, "COMPLETED", 1, "shouldRetry", "retryCount", "maxRetries", "backoffMinutes", "nextRetryTime", "retryReason",
		"errorClassification", "originalError", "retryDecision").hold(t, decided)
	wait.passes()
	second := claim.submission().holds(decided)
	// What is analysed is the error of the submission that failed last, never an old one.
	second.holds(vars{"submissionError": nil, "lastSubmissionTime": nil})
	second.variables.object(t, "retryDecision").hold(t, vars{
		"policy": "tiss", "ruleId": "transient.TIMEOUT", "matchedCode": "TIMEOUT", "delayBeforeJitter": "PT5M",
		"backoffDuration": fmt.Sprintf("PT%dM", wait.minutes), "retriesLeft": 4,
	})
	second.fails("AUTHORIZATION_DENIED: senha de autorização vencida")
	claim.notifies("registration").holds(vars{
		"shouldRetry": false, "retryCount": 1, "errorClassification": "PERMANENT", "backoffMinutes": 0, "nextRetryTime": nil,
	})
	claim.asks("Task_CorrectData").complete(sentAgain)

	claim.isExhaustedBy("NETWORK_ERROR")
	claim.notifies("billing").holds(vars{
		"shouldRetry": false, "retryCount": 5, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": nil,
		"retryReason": "Transient error, all 5 retries used", "errorClassification": "TRANSIENT", "originalError": "NETWORK_ERROR",
	})
	claim.asks("Task_ReviewClaim").complete(sentAgain)
	claim.submission().holds(vars{"retryCount": 0, "submissionError": nil}).complete(vars{"protocol": "P-1"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("RESUBMITTED", "RESUBMITTED", "SUBMITTED")
	claim.variables().hold(t, vars{"claimId": "CLM-SEED-000-1", "protocol": "P-1"})
	s.shows(`retry_scheduled_total{classification="TRANSIENT",policy="tiss"} 6`)
	s.shows(`permanent_errors_total{code="AUTHORIZATION_DENIED",policy="tiss",with=""} 1`)
}

// RN-BIL-004, next to the newer rule: both job types have work.
func TestRNBIL004AnswersAndCountsApartFromTheNewer(t *testing.T) {
	s := newScene(t)
	s.example("submission-backoff.bpmn")
	newer := s.submits("CLM-SEED-001-2")
	newer.submissionFails("RATE_LIMIT")
	newer.waits(5, 6)
	newer.cancel()

	claim := s.start("SubmissionBackoffProcess", vars{"claimId": "CLM-SEED-001-1"})
	claim.isExhaustedBy("CONNECTION_ERROR")
	claim.answered(submissionBackoff, "COMPLETED", len(bands), fiveNames...).hold(t, vars{
		"shouldRetry": true, "retryCount": 5, "retryReason": "Retry 5 of 5",
	})
	claim.notifies("billing-management").holds(vars{"retryCount": 5, "retryReason": "Transient error, all 5 retries used"})
	claim.answered(submissionBackoff, "ERROR_THROWN", 1, fiveNames...).hold(t, vars{
		"shouldRetry": false, "retryCount": 5, "backoffMinutes": 0, "nextRetryTime": nil,
	})
	for _, line := range []string{ // RN-BIL-004 section 13.4
		`submission_retry_total{policy="tiss"} 5`,
		`submission_retry_backoff_minutes_count{policy="tiss"} 5`,
		`submission_retry_max_exceeded{policy="tiss"} 1`,
		`error_classification_distribution{classification="TRANSIENT",policy="tiss"} 6`,
	} {
		s.shows(line)
	}
	claim.deadLetter("Task_ReviewClaim", "billing").holds(vars{"status": "EXHAUSTED", "retryCount": 5}).complete(sentAgain)
	s.says(0, "stopped: billing MAX_RETRIES_EXCEEDED", "history", "CLM-SEED-001-1")

	claim.submission().holds(vars{"retryCount": 0, "status": nil}).fails("AUTHORIZATION_DENIED")
	claim.notifies("billing-management").holds(vars{"retryReason": "Permanent error AUTHORIZATION_DENIED, no retry"})
	claim.deadLetter("Task_ReviewClaim", "billing").
		holds(vars{"status": "REFUSED", "justification": nil, "decidedBy": nil}).complete(sentAgain)
	s.says(0, "stopped: billing PERMANENT_ERROR", "history", "CLM-SEED-001-1")
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_Done")
	claim.variables().hold(t, vars{"status": "SUBMITTED"})
	claim.variables().lack(t, "maxRetries", "errorClassification", "originalError", "retryDecision")
	claim.recorded("RESUBMITTED", "RESUBMITTED", "SUBMITTED")
}

// The queue's document.
func TestQueueJobHasThreeAttemptsThenItIsSentAgainByHandAndByCommand(t *testing.T) {
	s := newScene(t)
	s.example("job-queue.bpmn")
	job := s.start("QueuedJobProcess", vars{"claimId": "job_123"})
	job.isWaitedFor(runJob, "connection refused", 5*time.Minute, 10*time.Minute).fails("connection refused")
	asked := job.failedForGood(3)
	job.recorded() // it has not ended
	s.says(0, "MAX_RETRIES_EXCEEDED", "history", "job_123")
	s.orders(4, "max_retries_exceeded: claim job_123", "--claim", "job_123")
	s.orders(0, "RESUBMITTED", "--plan", s.plan("--status", "exhausted", "--policy", "job-queue", "--force"))
	job.task(runJob).holds(vars{"retryCount": 0, "status": nil}).fails("ValidationError: field email is required")
	asked.isTakenBack()

	job.failedForGood(4).complete(vars{"manualDecision": "RESUBMIT"}) // without a justification it comes back
	job.failedForGood(4).complete(sentAgain)
	job.task(runJob).complete(nil)
	job.endsAt("EndEvent_Done")
	job.variables().hold(t, vars{"status": "completed"})
	job.recorded("RESUBMITTED", "DECISION_REFUSED", "RESUBMITTED", "SUBMITTED")
}

func TestQueueJobBringsItsOwnLimits(t *testing.T) {
	s := newScene(t)
	s.example("job-queue.bpmn")
	job := s.start("QueuedJobProcess", vars{"claimId": "job_123", "max_attempts": "three", "retry_delay": 60000, "max_retry_delay": 3600000})
	job.task(runJob).fails("ECONNRESET")
	incident := job.incident()
	saysWhy(t, incident, "Task_AnalyzeRetry", "max_attempts is ", "Correct the process variables, then resolve the incident")
	job.resolves(incident, vars{"max_attempts": 5})
	job.waitsFor(time.Minute).passes()
	job.isWaitedFor(runJob, "ECONNRESET", 2*time.Minute, 4*time.Minute, 8*time.Minute).fails("ECONNRESET")
	job.failedForGood(5).complete(discarded)
	job.endsAt("EndEvent_Discarded")
	job.variables().hold(t, vars{"status": "permanently_failed"})
	job.recorded("ABANDONED")
}

func TestQueuePolicyCanBeAddedWhileTheWorkerRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.yaml")
	has := func(name string) {
		check.Must(t, os.WriteFile(path, fmt.Appendf(nil, "policies: [{name: %s, extends: job-queue, base: 90s}]\n", name), 0o600))
	}
	has("day-queue")
	s := newScene(t, "RETRY_POLICIES_FILE="+path)
	const task = `<zeebe:taskDefinition type="analyze-retry" retries="3" />`
	s.variant(task, task+`<zeebe:taskHeaders><zeebe:header key="retryPolicy" value="night-queue" /></zeebe:taskHeaders>`)
	job := s.start("OneTask", vars{"claimId": "job_123", "submissionError": "ECONNRESET"})
	incident := job.incident()
	saysWhy(t, incident, "Task_AnalyzeRetry", `header retryPolicy`, `"night-queue"`, "day-queue, fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss")

	has("night-queue")
	s.must(s.worker.Signal(syscall.SIGHUP))
	check.Await(t, "the worker reads the policies again", func() bool {
		log, err := os.ReadFile(s.worker.Log)
		s.must(err)
		return strings.Contains(string(log), "policies_reloaded")
	})
	job.resolves(incident, nil)
	job.endsAt("EndEvent_Retry")
	job.variables().object(t, "retryDecision").hold(t, vars{"policy": "night-queue", "backoffDuration": "PT90S"})
}

// The mail document. Each wait must be within a quarter of its delay.
func TestMailWithNoRetriesLeftIsADeadLetter(t *testing.T) {
	s := newScene(t)
	s.example("email.bpmn")
	mail := s.start("EmailProcess", vars{"claimId": "MSG-4"})
	const busy = "421 4.7.0 too many connections"
	for _, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		mail.task(sendEmail).fails(busy)
		wait := mail.waitsAt("Event_WaitBackoff")
		wait.isWithin(delay*3/4, delay*5/4)
		wait.passes()
	}
	mail.task(sendEmail).holds(vars{"retryCount": 4}).fails(busy)
	mail.notifies("admin").holds(vars{"retryCount": 4, "retryReason": "Transient error, all 4 retries used", "originalError": busy})
	person := mail.deadLetter("Task_HandleDeadLetter", "admin").holds(vars{"status": "DEAD_LETTER"})
	s.shows(`retry_dead_letters_total{policy="smtp"} 1`)
	s.says(0, "MAX_RETRIES_EXCEEDED", "history", "MSG-4")
	person.complete(discarded)
	mail.endsAt("EndEvent_Discarded")
	mail.variables().hold(t, vars{"status": "DISCARDED"})
	mail.recorded("ABANDONED")
}

func TestMailToAnUnknownAddressIsADeadLetterAtOnce(t *testing.T) {
	s := newScene(t)
	s.example("email.bpmn")
	mail := s.start("EmailProcess", vars{"claimId": "MSG-5"})
	mail.task(sendEmail).fails("550 5.1.1 User unknown")
	refused := vars{"status": "FAILED", "retryCount": 0, "errorClassification": "PERMANENT"}
	mail.notifies("admin").holds(refused)
	person := mail.deadLetter("Task_HandleDeadLetter", "admin").holds(refused)
	s.says(0, "PERMANENT_ERROR", "history", "MSG-5")
	s.orders(5, "invalid_retry_state: claim MSG-5: its error is permanent", "--claim", "MSG-5")
	person.complete(sentAgain)
	mail.task(sendEmail).complete(nil)
	mail.endsAt("EndEvent_Done")
	mail.variables().hold(t, vars{"status": "SENT"})
	mail.recorded("RESUBMITTED", "SUBMITTED")
}

// The use case. Its manual retry waits and counts one attempt more; without --wait it begins anew.
func TestUseCaseJobIsTriedThreeTimesThenByHand(t *testing.T) {
	s := newScene(t)
	s.example("fast-retry.bpmn")
	job := s.start("FastRetryProcess", vars{"claimId": "JOB-1"})
	const away = "serviço externo indisponível"
	job.isWaitedFor(runJob, away, time.Second, 5*time.Second, 25*time.Second).holds(vars{"retryCount": 3}).fails(away)
	job.deadLetter("Task_ReviewJob", "operations")
	s.orders(3, "job_not_found: claim JOB-2", "--claim", "JOB-2", "--force")
	s.orders(4, "max_retries_exceeded: claim JOB-1", "--claim", "JOB-1", "--wait", "30s")

	s.orders(0, "REDRIVEN", "--claim", "JOB-1", "--force", "--wait", "30s")
	kept := job.waitsAt("Event_RedriveWait")
	kept.isWithin(30*time.Second, 30*time.Second) // 1 s * 5^3, at most 30 s
	s.orders(5, "it is on its way already: sent again by maria", "--claim", "JOB-1", "--force")
	kept.passes()
	job.task(runJob).holds(vars{"retryCount": 4, "redriveWait": nil}).fails(away)
	asked := job.deadLetter("Task_ReviewJob", "operations").holds(vars{"retryCount": 4, "redriveWait": nil})

	s.orders(0, "RESUBMITTED", "--claim", "JOB-1", "--force")
	job.task(runJob).holds(vars{"retryCount": 0, "justification": reason, "decidedBy": "maria"}).complete(nil)
	job.endsAt("EndEvent_Done")
	job.variables().hold(t, vars{"status": "completed"})
	job.recorded("REDRIVEN", "RESUBMITTED", "SUBMITTED")
	asked.isTakenBack()
	s.orders(5, "invalid_retry_state: claim JOB-1", "--claim", "JOB-1", "--force")
}

// waitsFor returns the timer that the claim waits for. It must be for this long.
func (c *claim) waitsFor(wait time.Duration) pause {
	c.Helper()
	p := c.waitsAt("Event_WaitBackoff")
	p.isWithin(wait, wait)
	return p
}

// isWaitedFor lets the job fail and passes each wait in turn. It returns the job that runs once more.
func (c *claim) isWaitedFor(jobType, text string, waits ...time.Duration) *task {
	c.Helper()
	for _, wait := range waits {
		c.task(jobType).fails(text)
		c.waitsFor(wait).passes()
	}
	return c.task(jobType)
}

// failedForGood takes the person's task for a job of the queue that is not tried again.
func (c *claim) failedForGood(attempts int) *task {
	c.Helper()
	person := c.deadLetter("Task_HandleDeadLetter", "operations").holds(vars{"status": "permanently_failed"})
	if n := len(c.jobs(runJob)); n != attempts {
		c.Errorf("the job was run %d times, want %d", n, attempts)
	}
	return person
}

// deadLetter takes the person's task that a dead letter waits at, as soon as a re-drive reaches it too.
func (c *claim) deadLetter(person, group string) *task {
	c.Helper()
	t := c.asks(person)
	if groups := t.person.CandidateGroupsList; !slices.Equal(groups, []string{group}) {
		c.Errorf("%s is offered to the groups %q, want %q alone", person, groups, group)
	}
	c.waitsForAnOrder("Redriven")
	return t
}

// answered returns the last of the n answers, COMPLETED or ERROR_THROWN, that the claim's jobs of a type were given so
// far. Each must be these variables and no others.
func (c *claim) answered(jobType, how string, n int, names ...string) (last vars) {
	c.Helper()
	jobs := c.events("JOB", how, func(e event) bool { return e.Type == jobType && c.has(e.ProcessInstanceKey) })
	if len(jobs) != n {
		c.Fatalf("%d %s jobs are %s, want %d", len(jobs), jobType, how, n)
	}
	for _, job := range jobs {
		last = readVars(c.T, c.answer(job))
		if got := slices.Sorted(maps.Keys(last)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
			c.Errorf("a %s job was answered with %q, want %q", jobType, got, names)
		}
	}
	return last
}

// saysWhy fails the test where the incident is not the worker's at this element, or its text lacks one of the words.
func saysWhy(t *testing.T, e event, element string, words ...string) {
	t.Helper()
	if e.ErrorType != "JOB_NO_RETRIES" || e.ElementID != element {
		t.Errorf("an incident of type %s at %s", e.ErrorType, e.ElementID)
	}
	check.Contains(t, e.ErrorMessage, words...)
}
