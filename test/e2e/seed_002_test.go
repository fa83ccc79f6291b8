package e2e

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

const runJob = "run-job"

// queued starts a job of the queue.
func (o *office) queued(limits vars) *claim {
	o.Helper()
	job := vars{"claimId": "job_123"}
	maps.Copy(job, limits)
	return o.start("QueuedJobProcess", job)
}

// isWaitedFor lets the job fail, and each wait in turn go by. It ends with the job running once more.
func (c *claim) isWaitedFor(jobType, text string, waits ...time.Duration) *task {
	c.Helper()
	for _, wait := range waits {
		c.task(jobType).fails(text)
		c.waitsFor(wait).passes()
	}
	return c.task(jobType)
}

// failedForGood takes the person's task for a job of the queue that is not tried again.
func (c *claim) failedForGood(attempts int) *userTask {
	c.Helper()
	person := c.deadLetter("Task_HandleDeadLetter", "operations").holds(vars{"status": "permanently_failed"})
	if n := len(c.jobs(runJob)); n != attempts {
		c.Errorf("the job was run %d times, want %d", n, attempts)
	}
	return person
}

func TestSeed002JobHasThreeAttempts(t *testing.T) {
	o := atTheOffice(t)
	o.example("job-queue.bpmn")
	job := o.queued(nil)
	job.isWaitedFor(runJob, "connection refused", 5*time.Minute, 10*time.Minute).fails("connection refused")
	person := job.failedForGood(3)
	job.recorded() // it has not ended
	o.hasAnEvent("job_123", "retry.max_retries_exceeded.v3", `"with":"dead-letter"`)
	person.complete(discarded)
	job.endsAt("EndEvent_Discarded")
	job.variables().hold(t, vars{"status": "permanently_failed"})
	job.recorded("ABANDONED")
}

func TestSeed002DeadLetterIsSentAgainByHandAndByCommand(t *testing.T) {
	o := atTheOffice(t)
	o.example("job-queue.bpmn")
	job := o.queued(vars{"max_attempts": 1})
	job.task(runJob).fails("ECONNRESET")
	asked := job.failedForGood(1)
	o.orders(4, "max_retries_exceeded: claim job_123", "--claim", "job_123")
	o.orders(0, "1 of 1 claim sent again.", "--status", "exhausted", "--policy", "job-queue", "--force", "--yes")
	job.task(runJob).holds(vars{"retryCount": 0, "status": nil}).fails("ValidationError: field email is required")
	asked.isTakenBack()

	job.failedForGood(2).complete(vars{"manualDecision": "RESUBMIT"}) // without a justification it comes back
	job.failedForGood(2).complete(vars{"manualDecision": "RESUBMIT", "justification": "campo corrigido", "decidedBy": "ana.lima"})
	job.task(runJob).complete(nil)
	job.endsAt("EndEvent_Done")
	job.variables().hold(t, vars{"status": "completed"})
	job.recorded("RESUBMITTED", "DECISION_REFUSED", "RESUBMITTED", "SUBMITTED")
}

func TestSeed002JobBringsItsOwnLimits(t *testing.T) {
	o := atTheOffice(t)
	o.example("job-queue.bpmn")
	for _, c := range []struct {
		name   string
		limits vars
		waits  []time.Duration
	}{
		{
			"the example of the document",
			vars{"max_attempts": 5, "retry_delay": 60000, "max_retry_delay": 3600000},
			[]time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute},
		},
		{"a cap that binds", vars{"retry_delay": 60000, "max_retry_delay": 90000}, []time.Duration{time.Minute, 90 * time.Second}},
		{"a delay beyond the cap", vars{"max_retry_delay": 2500}, []time.Duration{2500 * time.Millisecond, 2500 * time.Millisecond}},
		{"one attempt", vars{"max_attempts": 1}, nil},
	} {
		o.part(c.name, func(o *office) {
			job := o.queued(c.limits)
			job.isWaitedFor(runJob, "ECONNRESET", c.waits...).fails("ECONNRESET")
			job.failedForGood(len(c.waits) + 1).complete(discarded)
			job.endsAt("EndEvent_Discarded")
		})
	}
}

func TestSeed002ValidationErrorIsNotTriedAgain(t *testing.T) {
	o := atTheOffice(t)
	o.example("job-queue.bpmn")
	job := o.queued(nil)
	job.task(runJob).fails("ValidationError: field email is required")
	job.failedForGood(1)
	o.worker.shows(`permanent_errors_total{code="job.validation",policy="job-queue"} 1`)
	o.worker.shows(`retry_dead_letters_total{policy="job-queue"} 1`)
}

func TestSeed002InvalidLimitIsAnIncidentUntilCorrected(t *testing.T) {
	o := atTheOffice(t)
	o.example("job-queue.bpmn")
	for _, c := range []struct {
		limit     string
		is, comes any
		wait      time.Duration
	}{
		{"max_attempts", 0, 2, 5 * time.Minute},
		{"max_attempts", "three", 3, 5 * time.Minute},
		{"retry_delay", 0, 20000, 20 * time.Second},
		{"max_retry_delay", -1, 60000, time.Minute},
	} {
		o.part(fmt.Sprint(c.limit, " ", c.is), func(o *office) {
			job := o.queued(vars{c.limit: c.is})
			job.task(runJob).fails("ECONNRESET")
			incident := job.incident()
			incident.saysWhy(o.T, "Task_AnalyzeRetry", c.limit+" is ", "Correct the process variables, then resolve the incident")
			job.resolves(incident, vars{c.limit: c.comes})
			job.waitsFor(c.wait)
		})
	}
}
