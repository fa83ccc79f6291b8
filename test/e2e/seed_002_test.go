package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

const runJob = "run-job"

// queued starts a job of the queue.
func (o *office) queued(limits vars) *claim {
	o.Helper()
	job := vars{"claimId": "job_123"}
	maps.Copy(job, limits)
	return o.start("QueuedJobProcess", job)
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
	o.hasAnEvent("job_123", "retry.max_retries_exceeded.v4", `"with":"dead-letter"`)
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
	o.orders(0, "RESUBMITTED", "--plan", o.plan("--status", "exhausted", "--policy", "job-queue", "--force"))
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
	job := o.queued(vars{"max_attempts": 5, "retry_delay": 60000, "max_retry_delay": 3600000})
	waits := []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}
	job.isWaitedFor(runJob, "ECONNRESET", waits...).fails("ECONNRESET")
	job.failedForGood(5)

	wrong := o.queued(vars{"max_attempts": "three"})
	wrong.task(runJob).fails("ECONNRESET")
	incident := wrong.incident()
	incident.saysWhy(t, "Task_AnalyzeRetry", "max_attempts is ", "Correct the process variables, then resolve the incident")
	wrong.resolves(incident, vars{"max_attempts": 3})
	wrong.waitsFor(5 * time.Minute)
}

func TestSeed002PolicyCanBeAddedWhileTheWorkerRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(text string) { check.Must(t, os.WriteFile(path, []byte(text), 0o600)) }
	entry := func(name string) string { return fmt.Sprintf("  - {name: %s, extends: job-queue, base: 90s}\n", name) }
	write("policies:\n" + entry("day-queue"))
	o := atTheOffice(t, "RETRY_POLICIES_FILE="+path)
	isReread := func(words ...string) {
		before := len(o.worker.printed())
		o.must(o.worker.Signal(syscall.SIGHUP))
		o.worker.logs(before, words...)
	}
	const task = `<zeebe:taskDefinition type="analyze-retry" retries="3" />`
	o.variant("testdata/one-task.bpmn", `id="OneTask"`, `id="NightQueue"`,
		task, task+`<zeebe:taskHeaders><zeebe:header key="retryPolicy" value="night-queue" /></zeebe:taskHeaders>`)
	job := o.start("NightQueue", vars{"claimId": "job_123", "submissionError": "ECONNRESET"})
	incident := job.incident()
	incident.saysWhy(t, "Task_AnalyzeRetry", `header retryPolicy`, `"night-queue"`, "day-queue, fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss")

	write("policies: [{name: night-queue, base: soon}]")
	isReread("policies_reload_failed", path, "the policies in force stay")
	job.resolves(incident, nil)
	incident = job.incident() // because nothing has changed

	write("policies:\n" + entry("day-queue") + entry("night-queue"))
	isReread("policies_reloaded", "night-queue")
	job.resolves(incident, nil)
	job.endsAt("EndEvent_Retry")
	job.variables().object(t, "retryDecision").hold(t, vars{"policy": "night-queue", "backoffDuration": "PT90S"})
}
