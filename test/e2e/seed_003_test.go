package e2e

import (
	"strings"
	"testing"
	"time"
)

const sendEmail = "send-email"

// isRefusedFor lets the server answer each try with the same reply. Each wait must be the decision's, and within a
// quarter of these delays.
func (c *claim) isRefusedFor(reply string, delays ...time.Duration) {
	c.Helper()
	for _, delay := range delays {
		c.task(sendEmail).fails(reply)
		answer := c.next("the decision", "JOB", "COMPLETED", at("Task_AnalyzeRetry"))
		decision := readVars(c.T, c.answer(answer))
		decision.hold(c.T, vars{"backoffMinutes": 1, "errorClassification": "TRANSIENT"})
		text, _ := decision.object(c.T, "retryDecision")["backoffDuration"].(string)
		wait, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(text, "PT")))
		c.must(err)
		if wait < delay*3/4 || wait > delay*5/4 {
			c.Errorf("the decision says %v, want %v give or take a quarter", wait, delay)
		}
		c.waitsFor(wait).passes()
	}
}

func TestSeed003BusyMailServerIsTriedAgainWithinSeconds(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-1"})
	mail.isRefusedFor("550 4.2.2 Mailbox full, try again later", time.Second)
	mail.task(sendEmail).holds(vars{"retryCount": 1}).complete(nil)
	mail.endsAt("EndEvent_Done")
	mail.variables().hold(t, vars{"status": "SENT"})
	mail.variables().object(t, "retryDecision").
		hold(t, vars{"policy": "smtp", "ruleId": "smtp.550-temporary", "delayBeforeJitter": "PT1S"})
	mail.recorded("SUBMITTED")
}

func TestSeed003EmailWithNoRetriesLeftIsADeadLetter(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-4"})
	const reply = "421 4.7.0 too many connections"
	mail.isRefusedFor(reply, time.Second, 2*time.Second, 4*time.Second, 8*time.Second)
	mail.task(sendEmail).fails(reply)

	mail.notifies("admin").holds(vars{"retryCount": 4, "retryReason": "Transient error, all 4 retries used", "originalError": reply})
	person := mail.deadLetter("Task_HandleDeadLetter", "admin").holds(vars{"status": "DEAD_LETTER"})
	o.worker.shows(`retry_dead_letters_total{policy="smtp"} 1`)
	o.hasAnEvent("MSG-4", "retry.max_retries_exceeded.v4", `"with":"dead-letter"`)
	person.complete(discarded)
	mail.endsAt("EndEvent_Discarded")
	mail.variables().hold(t, vars{"status": "DISCARDED"})
	mail.recorded("ABANDONED")
	mail.recordedWith("Task_RecordAbandoned", vars{"justification": "sem uso", "decidedBy": "ana.lima"})
}

func TestSeed003UnknownAddressIsADeadLetterAtOnce(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-5"})
	mail.task(sendEmail).fails("550 5.1.1 User unknown")
	refused := vars{"status": "FAILED", "retryCount": 0, "errorClassification": "PERMANENT"}
	mail.notifies("admin").holds(refused)
	mail.deadLetter("Task_HandleDeadLetter", "admin").holds(refused)
	o.hasAnEvent("MSG-5", "retry.permanent_error_detected.v4", `"with":"dead-letter"`)
	o.orders(5, "invalid_retry_state: claim MSG-5: its error is permanent", "--claim", "MSG-5")
}

func TestSeed003DevelopmentProfileGivesUpEarlier(t *testing.T) {
	o := atTheOffice(t, "RETRY_JOB_TYPES=analyze-retry=tiss,analyze-email=smtp-dev")
	o.example() // the forms
	o.variant("../../examples/email.bpmn", `<zeebe:header key="retryPolicy" value="smtp" />`, "", `type="analyze-retry"`, `type="analyze-email"`,
		`id="EmailProcess"`, `id="EmailInDevelopment"`, `bpmnElement="EmailProcess"`, `bpmnElement="EmailInDevelopment"`)
	mail := o.start("EmailInDevelopment", vars{"claimId": "MSG-6"})
	mail.isRefusedFor("452 insufficient storage", 500*time.Millisecond, time.Second)
	mail.task(sendEmail).fails("452 insufficient storage")
	mail.notifies("admin").holds(vars{"retryReason": "Transient error, all 2 retries used"})
	mail.deadLetter("Task_HandleDeadLetter", "admin")
	mail.variables().object(t, "retryDecision").hold(t, vars{"policy": "smtp-dev"})
}
