package e2e

import (
	"testing"
	"time"
)

func TestSeed004JobIsTriedThreeTimesThenByHand(t *testing.T) {
	o := atTheOffice(t)
	o.example("fast-retry.bpmn")
	job := o.start("FastRetryProcess", vars{"claimId": "JOB-1"})
	job.isWaitedFor(runJob, "serviço externo indisponível", time.Second, 5*time.Second, 25*time.Second).
		holds(vars{"retryCount": 3}).fails("serviço externo indisponível")
	asked := job.asks("Task_ReviewJob")
	job.waitsForAnOrder("BoundaryEvent_JobRedriven")

	o.orders(3, "job_not_found: claim JOB-2", "--claim", "JOB-2", "--force")
	o.orders(4, "max_retries_exceeded: claim JOB-1", "--claim", "JOB-1")
	o.orders(0, "RESUBMITTED", "--claim", "JOB-1", "--force")

	job.task(runJob).holds(vars{"retryCount": 0, "justification": reason, "decidedBy": "maria"}).complete(nil)
	job.endsAt("EndEvent_Done")
	job.variables().hold(t, vars{"status": "completed"})
	job.recorded("RESUBMITTED", "SUBMITTED")
	asked.isTakenBack()
	o.orders(5, "invalid_retry_state: claim JOB-1", "--claim", "JOB-1", "--force")
}

// The document's manual retry waits calculateBackoff(attempts) and counts one attempt more.
func TestSeed004ManualRetryKeepsTheScheduleAndTheCount(t *testing.T) {
	o := atTheOffice(t)
	o.example("fast-retry.bpmn")
	job := o.start("FastRetryProcess", vars{"claimId": "JOB-4"})
	job.task(runJob).fails("ECONNRESET")
	wait := job.waitsFor(time.Second)
	o.orders(5, "invalid_retry_state: claim JOB-4: it is not stopped: its next retry is due", "--claim", "JOB-4", "--wait", "5s")
	wait.passes()
	job.isWaitedFor(runJob, "ECONNRESET", 5*time.Second).fails("ECONNRESET")
	wait = job.waitsFor(25 * time.Second)
	job.isRedriven("JOB-4", "Event_RedriveJob") // a command takes longer, and this clock is the broker's
	job.task(runJob).holds(vars{"retryCount": 3}).fails("ECONNRESET")
	if wait.isOver() {
		t.Error("the timer has fired")
	}
	job.deadLetter("Task_ReviewJob", "operations")

	o.orders(4, "max_retries_exceeded: claim JOB-4", "--claim", "JOB-4", "--wait", "30s")
	o.orders(0, "REDRIVEN", "--claim", "JOB-4", "--force", "--wait", "30s")
	kept := job.waitsAt("Event_RedriveWait")
	kept.isAbout(30 * time.Second) // 1 s * 5^3, at most 30 s
	o.orders(5, "it is on its way already: sent again by maria", "--claim", "JOB-4", "--force")
	kept.passes()
	job.task(runJob).holds(vars{"retryCount": 4, "redriveWait": nil}).fails("ECONNRESET")

	job.deadLetter("Task_ReviewJob", "operations").holds(vars{"retryCount": 4, "redriveWait": nil}).complete(discarded)
	job.endsAt("EndEvent_Abandoned")
	job.recorded("REDRIVEN", "REDRIVEN", "ABANDONED")
	o.hasAnEvent("JOB-4", "retry.redriven.v4", `"redriveWait":"PT30S"`, `"decidedBy":"maria"`)
	o.hasAnEvent("JOB-4", "retry.max_retries_exceeded.v4", `"retryCount":4`, `"with":"operations"`)
}
