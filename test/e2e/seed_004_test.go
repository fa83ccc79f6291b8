package e2e

import (
	"strings"
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
	job.next("the subscription of the person's task", "PROCESS_MESSAGE_SUBSCRIPTION", "CREATED", at("BoundaryEvent_JobRedriven"))

	o.orders(3, "job_not_found: claim JOB-2", "--claim", "JOB-2", "--force")
	o.orders(4, "max_retries_exceeded: claim JOB-1", "--claim", "JOB-1")
	o.orders(0, "RESUBMITTED at ", "--claim", "JOB-1", "--force")

	job.task(runJob).holds(vars{"retryCount": 0, "justification": reason, "decidedBy": "maria"}).complete(nil)
	job.endsAt("EndEvent_Done")
	job.variables().hold(t, vars{"status": "completed"})
	job.recorded("RESUBMITTED", "SUBMITTED")
	if n := len(job.events("JOB", "CANCELED", func(e event) bool { return e.Key == asked.key })); n != 1 {
		t.Errorf("the person's task was taken back %d times, want once", n)
	}
	if code, story := o.says("history", "JOB-1"); code != 0 || !strings.Contains(story, "Reason: "+reason) {
		t.Errorf("exit code %d, the story is:\n%s", code, story)
	}
	o.orders(5, "invalid_retry_state: claim JOB-1", "--claim", "JOB-1", "--force")
}

func TestSeed004WaitIsEndedByHand(t *testing.T) {
	o := atTheOffice(t)
	o.example("fast-retry.bpmn")
	job := o.start("FastRetryProcess", vars{"claimId": "JOB-3"})
	job.isWaitedFor(runJob, "ECONNRESET", time.Second, 5*time.Second).fails("ECONNRESET")
	wait := job.waitsFor(25 * time.Second)
	job.isRedriven("JOB-3", "Event_RedriveJob") // a command takes longer, and this clock is the broker's
	job.task(runJob).holds(vars{"retryCount": 3}).complete(nil)
	job.endsAt("EndEvent_Done")
	job.recorded("REDRIVEN", "SUBMITTED")
	if wait.isOver() {
		t.Error("the timer has fired")
	}
}
