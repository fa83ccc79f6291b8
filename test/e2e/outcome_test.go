package e2e

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheWorkerIsToldOnceOfEveryEndOfAClaim(t *testing.T) {
	s := onSharedBroker(t)
	for _, c := range []struct {
		end   string
		goes  func(*claim)
		at    string
		wants []string
	}{
		{
			"submitted at once",
			func(c *claim) { c.submission().complete(nil) },
			"EndEvent_ClaimSubmitted",
			[]string{"SUBMITTED"},
		},
		{
			"submitted after two retries",
			func(c *claim) {
				for _, band := range bands[:2] {
					c.submissionFails("TIMEOUT")
					c.waits(band[0], band[1]).passes()
				}
				c.submission().complete(nil)
			},
			"EndEvent_ClaimSubmitted",
			[]string{"SUBMITTED"},
		},
		{
			"resubmitted by hand, then submitted",
			func(c *claim) {
				c.submissionFails("AUTHORIZATION_DENIED")
				c.notifies("registration")
				c.isResubmittedAt("Task_CorrectData", nil)
				c.submission().complete(nil)
			},
			"EndEvent_ClaimSubmitted",
			[]string{"RESUBMITTED", "SUBMITTED"},
		},
		{
			"abandoned by billing",
			func(c *claim) {
				c.isExhaustedBy("RATE_LIMIT")
				c.notifies("billing")
				c.asks("Task_ReviewClaim").complete(vars{"manualDecision": "ABANDON"})
			},
			"EndEvent_AbandonedByBilling",
			[]string{"ABANDONED"},
		},
		{
			"abandoned by registration",
			func(c *claim) {
				c.submissionFails("INSURANCE_EXPIRED")
				c.notifies("registration")
				c.asks("Task_CorrectData").complete(vars{"manualDecision": "ABANDON"})
			},
			"EndEvent_AbandonedByRegistration",
			[]string{"ABANDONED"},
		},
	} {
		t.Run(c.end, func(t *testing.T) {
			s := &scene{t, s.broker, s.since}
			claim := s.submits("CLM-E2E-14-1")
			c.goes(claim)
			claim.endsAt(c.at)
			claim.recorded(c.wants...)
		})
	}
}

func TestWhatIsRecordedChangesNoVariableOfTheProcess(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-14-2")
	claim.submission().complete(vars{"outcome": "what the hospital calls by that name"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("SUBMITTED")
	claim.variables().hold(t, vars{"outcome": "what the hospital calls by that name"})

	another := s.submits("CLM-E2E-14-3")
	another.submission().complete(nil)
	another.endsAt("EndEvent_ClaimSubmitted")
	another.variables().lack(t, "outcome")
}

func TestAnUnknownOutcomeIsAnIncidentThatNamesItUntilAnOperatorCorrectsIt(t *testing.T) {
	s := onSharedBroker(t)
	for name, variables := range map[string]vars{
		"another word": {"claimId": "CLM-E2E-14-4", "outcome": "PAID"},
		"no text":      {"claimId": "CLM-E2E-14-4", "outcome": true},
		"none":         {"claimId": "CLM-E2E-14-4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{t, s.broker, s.since}
			claim := s.start("OneOutcome", variables)
			incident := claim.incident()
			if incident.ErrorType != "JOB_NO_RETRIES" {
				t.Errorf("an incident of type %s", incident.ErrorType)
			}
			for _, words := range []string{"outcome", "SUBMITTED", "RESUBMITTED", "ABANDONED"} {
				if !strings.Contains(incident.ErrorMessage, words) {
					t.Errorf("the incident does not say %q: %s", words, incident.ErrorMessage)
				}
			}
			claim.resolves(incident, vars{"outcome": "ABANDONED"})
			claim.endsAt("EndEvent_Recorded")
		})
	}
}

func TestAResubmissionThatNobodyRecordsGoesOnAfterAnHour(t *testing.T) {
	s := atSharedBroker(t)
	w := s.startWorker()
	claim := s.submits("CLM-E2E-14-5")
	claim.submissionFails("INVALID_PATIENT_DATA")
	claim.notifies("registration")
	w.stops()

	claim.isResubmittedAt("Task_CorrectData", nil)
	bound := claim.next("the bound of the record", "TIMER", "CREATED", func(event) bool { return true })
	s.untilTimersFiredUpTo(bound.due().Add(-time.Minute))
	if submissions := len(claim.jobs(submitClaim)); submissions != 1 {
		t.Errorf("a minute before the hour is over the claim was submitted %d times, want once", submissions)
	}
	s.advance(bound.due().Sub(s.clock()))
	claim.submission().complete(nil)

	s.startWorker()
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("SUBMITTED")
}

func TestTheSuccessRateCountsTheClaimsThatWereRetried(t *testing.T) {
	s := atSharedBroker(t)
	w := s.startWorker("RETRY_DATABASE_URL=sqlite://" + filepath.Join(t.TempDir(), "rate.db"))
	w.answers("/healthz", http.StatusOK)
	w.shows("retry_success_rate NaN")

	atOnce := s.submits("CLM-E2E-14-6")
	atOnce.submission().complete(nil)
	atOnce.endsAt("EndEvent_ClaimSubmitted")
	w.shows("retry_success_rate NaN")

	retried := s.submits("CLM-E2E-14-7")
	retried.submissionFails("TIMEOUT")
	retried.waits(5, 6).passes()
	retried.submission().complete(nil)
	retried.endsAt("EndEvent_ClaimSubmitted")
	w.shows("retry_success_rate 1")

	abandoned := s.submits("CLM-E2E-14-8")
	abandoned.submissionFails("TIMEOUT")
	abandoned.waits(5, 6).passes()
	abandoned.submissionFails("DUPLICATE_CLAIM")
	abandoned.notifies("registration")
	abandoned.asks("Task_CorrectData").complete(vars{"manualDecision": "ABANDON"})
	abandoned.endsAt("EndEvent_AbandonedByRegistration")
	w.shows("retry_success_rate 0.5")
}

// shows fails the test where this is no line of the worker's metrics.
func (w *worker) shows(line string) {
	w.scene.Helper()
	ctx, cancel := w.scene.within(patience)
	defer cancel()
	if _, text := w.get(ctx, "/metrics"); !slices.Contains(strings.Split(text, "\n"), line) {
		w.scene.Errorf("the metrics lack the line %q:\n%s", line, text)
	}
}

// recorded fails the test where the outcomes that the worker was told, and took without answering any variable, are
// others than these.
func (c *claim) recorded(want ...string) {
	c.Helper()
	var got []string
	for _, job := range c.events("JOB", "COMPLETED", func(e event) bool {
		return e.Type == recordOutcome && c.has(e.ProcessInstanceKey)
	}) {
		if string(job.Variables) != "{}" {
			c.Errorf("%s was completed with %s, want no variables", job.ElementID, job.Variables)
		}
		for _, v := range c.events("VARIABLE", "CREATED", func(e event) bool {
			return e.Name == "outcome" && e.ScopeKey == job.ElementInstanceKey
		}) {
			got = append(got, strings.Trim(v.VariableValue, `"`))
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("the worker was told %q, want %q", got, want)
	}
}
