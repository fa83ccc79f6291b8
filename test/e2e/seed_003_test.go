package e2e

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/test/suite"
)

const (
	sendEmail = "send-email"
	email     = "../../examples/email.bpmn"
)

// isRefusedFor lets the server answer each try with the same reply, and looks at each wait: it is the decision's, and
// within a quarter of these delays. It returns the claim's waits.
func (c *claim) isRefusedFor(reply string, delays ...time.Duration) (waits []time.Duration) {
	c.Helper()
	for _, delay := range delays {
		c.task(sendEmail).fails(reply)
		answer := c.next("the decision", "JOB", "COMPLETED", func(e event) bool { return e.ElementID == "Task_AnalyzeRetry" })
		decision := readVars(c.T, c.answer(answer))
		decision.hold(c.T, vars{"backoffMinutes": 1, "errorClassification": "TRANSIENT"})
		text, _ := decision.object(c.T, "retryDecision")["backoffDuration"].(string)
		wait, err := policy.ParseDuration(text)
		c.must(err)
		if wait < delay*3/4 || wait > delay*5/4 {
			c.Errorf("the decision says %v, want %v give or take a quarter", wait, delay)
		}
		waits = append(waits, wait)
		c.waitsFor(wait).passes()
	}
	return waits
}

func TestSeed003BusyMailServerIsTriedAgainWithinSeconds(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	waits := map[time.Duration]bool{}
	for _, c := range []struct{ id, reply, rule string }{
		{"MSG-1", "421 4.3.2 Service not available, closing transmission channel", "smtp.transient"},
		{"MSG-2", "550 4.2.2 Mailbox full, try again later", "smtp.550-temporary"},
		{"MSG-3", "451 4.3.0 try again later", "smtp.transient"},
	} {
		mail := o.start("EmailProcess", vars{"claimId": c.id})
		waits[mail.isRefusedFor(c.reply, time.Second)[0]] = true
		mail.task(sendEmail).holds(vars{"retryCount": 1}).complete(nil)
		mail.endsAt("EndEvent_Done")
		mail.variables().hold(t, vars{"status": "SENT"})
		mail.variables().object(t, "retryDecision").hold(t, vars{"policy": "smtp", "ruleId": c.rule, "delayBeforeJitter": "PT1S"})
		mail.recorded("SUBMITTED")
	}
	if len(waits) == 1 { // two of three may fall on the same one of 500 milliseconds
		t.Errorf("three e-mails all wait %v, want them apart", waits)
	}
	for _, line := range []string{
		`retry_dead_letters_total{policy="smtp"} 0`,
		`retry_submissions_total{attempt="1",policy="smtp",result="failed"} 3`, `retry_submissions_total{attempt="2",policy="smtp",result="accepted"} 3`,
		`backoff_duration_minutes_count{policy="smtp"} 3`, `retry_time_to_success_seconds_count{policy="smtp"} 3`,
	} {
		o.worker.shows(line)
	}
}

func TestSeed003EmailWithNoRetriesLeftIsADeadLetter(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-4"})
	const reply = "421 4.7.0 too many connections"
	mail.isRefusedFor(reply, time.Second, 2*time.Second, 4*time.Second, 8*time.Second)
	mail.task(sendEmail).fails(reply)

	mail.notifies("admin").holds(vars{"retryCount": 4, "retryReason": "Transient error, all 4 retries used", "originalError": reply})
	mail.deadLetter("Task_HandleDeadLetter", "admin").holds(vars{"status": "DEAD_LETTER"})
	if n := len(mail.jobs(sendEmail)); n != 5 {
		t.Errorf("the e-mail was sent %d times, want 5", n)
	}
	o.worker.shows(`retry_dead_letters_total{policy="smtp"} 1`)
	o.hasAnEvent("MSG-4", "retry.max_retries_exceeded.v3", `"with":"dead-letter"`)

	o.orders(0, "1 of 1 claim sent again.", "--status", "exhausted", "--policy", "smtp", "--force", "--yes")
	mail.task(sendEmail).holds(vars{"retryCount": 0, "status": nil}).complete(nil)
	mail.endsAt("EndEvent_Done")
	mail.variables().hold(t, vars{"status": "SENT"})
	mail.recorded("RESUBMITTED", "SUBMITTED")
}

func TestSeed003UnknownAddressIsADeadLetterAtOnce(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-5"})
	mail.task(sendEmail).fails("550 5.1.1 User unknown")
	refused := vars{"status": "FAILED", "retryCount": 0, "errorClassification": "PERMANENT"}
	mail.notifies("admin").holds(refused)
	person := mail.deadLetter("Task_HandleDeadLetter", "admin").holds(refused)
	o.worker.shows(`retry_dead_letters_total{policy="smtp"} 1`)
	o.hasAnEvent("MSG-5", "retry.permanent_error_detected.v3", `"with":"dead-letter"`)
	o.orders(5, "invalid_retry_state: claim MSG-5: its error is permanent", "--claim", "MSG-5")

	person.complete(discarded)
	mail.endsAt("EndEvent_Discarded")
	mail.variables().hold(t, vars{"status": "DISCARDED"})
	mail.recorded("ABANDONED")
	mail.recordedWith("Task_RecordAbandoned", vars{"justification": "sem uso", "decidedBy": "ana.lima"})
}

// deploy/prometheus asks the broker how many e-mails went through.
func TestSeed003BrokerCountsTheEmailsForTheAlerts(t *testing.T) {
	o := atTheOffice(t)
	o.example("email.bpmn")
	mail := o.start("EmailProcess", vars{"claimId": "MSG-7"})
	mail.task(sendEmail).complete(nil)
	mail.endsAt("EndEvent_Done")
	ctx, cancel := o.within(patience)
	defer cancel()
	_, text := suite.Get(ctx, strings.TrimPrefix(o.broker.MonitoringURL(), "http://"), "/actuator/prometheus")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "zeebe_job_events_total{") && strings.Contains(line, `type="send-email"`) && strings.Contains(line, `action="completed"`) {
			return
		}
	}
	t.Errorf("the broker counts no completed e-mails:\n%s", text)
}

func TestSeed003DevelopmentProfileGivesUpEarlier(t *testing.T) {
	const header = `<zeebe:header key="retryPolicy" value="smtp" />`
	o := atTheOffice(t, "RETRY_JOB_TYPES=analyze-retry=tiss,analyze-email=smtp-dev")
	o.example() // the forms
	for name, changes := range map[string][]string{
		"by a header":   {`value="smtp"`, `value="smtp-dev"`},
		"by a job type": {header, "", `type="analyze-retry"`, `type="analyze-email"`},
	} {
		o.part(name, func(o *office) {
			o.variant(email, append(changes, `id="EmailProcess"`, `id="EmailInDevelopment"`, `bpmnElement="EmailProcess"`, `bpmnElement="EmailInDevelopment"`)...)
			mail := o.start("EmailInDevelopment", vars{"claimId": "MSG-6"})
			mail.isRefusedFor("452 insufficient storage", 500*time.Millisecond, time.Second)
			mail.task(sendEmail).fails("452 insufficient storage")
			mail.notifies("admin").holds(vars{"retryReason": "Transient error, all 2 retries used"})
			mail.deadLetter("Task_HandleDeadLetter", "admin").complete(discarded)
			mail.endsAt("EndEvent_Discarded")
			if n := len(mail.jobs(sendEmail)); n != 3 {
				o.Errorf("the e-mail was sent %d times, want 3", n)
			}
			mail.variables().object(o.T, "retryDecision").hold(o.T, vars{"policy": "smtp-dev"})
		})
	}
	o.worker.shows(`retry_dead_letters_total{policy="smtp-dev"} 2`)
}
