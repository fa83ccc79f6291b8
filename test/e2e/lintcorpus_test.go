package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
)

// models are the folder of those by which the lint of models is tested.
const models = "../../internal/modellint/testdata/"

// trial is a model of the corpus, tried with a claim.
type trial struct {
	*office
	model, claimID string
}

// badModels are the bad models that the broker takes, and what happens in each.
var badModels = map[string]func(*trial){
	"count-hidden-output":        theTrailCounts,
	"count-hidden-input":         theTrailCounts,
	"count-hidden-call-activity": theCallerHasNoCount,

	"error-not-caught-max-retries":      stopsAtUncaught("MAX_RETRIES_EXCEEDED"),
	"error-not-caught-event-subprocess": stopsAtUncaught("MAX_RETRIES_EXCEEDED"),
	"error-not-caught-permanent":        stopsAtUncaught("PERMANENT_ERROR"),
	"error-not-caught-misspelt":         stopsAtUncaught("PERMANENT_ERROR"),
	"error-not-caught-call-activity":    stopsAtUncaught("PERMANENT_ERROR"),

	"error-variables-not-mapped":               personSees(vars{"shouldRetry": true, "originalError": "TIMEOUT", "errorClassification": "TRANSIENT"}),
	"error-variables-not-mapped-some":          personSees(vars{"shouldRetry": false, "originalError": "TIMEOUT", "errorClassification": "PERMANENT"}),
	"error-variables-not-mapped-call-activity": personSeesNothing,

	"stale-variables-error-path": personSees(vars{"shouldRetry": true, "originalError": "INVALID_PROCEDURE_CODE", "errorClassification": "PERMANENT"}),
	"stale-variables-after-wait": theFirstErrorIsDecidedTwice,
	"stale-variables-new-round":  theNewRoundHasNoRetries,
	"stale-variables-decision":   anEmptyAnswerSendsAgain,

	"timer-duration-no-pt":              timerFails,
	"timer-duration-no-unit":            timerFails,
	"timer-duration-number":             timerFails,
	"timer-duration-next-retry-time":    timerFails,
	"timer-duration-fraction":           timerFails,
	"timer-duration-seconds":            waitsInsteadOfFiveMinutes(6 * time.Second),
	"timer-duration-fixed":              waitsInsteadOfFiveMinutes(time.Minute),
	"timer-duration-minutes-of-seconds": waitsAMinuteForASecond,

	"header-unknown-policy":       analysisFails("policy", "named retryPolicy"),
	"header-unknown-policy-name":  analysisFails("policyName", "named retryPolicy"),
	"header-unknown-max-retry":    analysisFails("maxRetry", "named maxRetries"),
	"header-unknown-max-attempts": analysisFails("maxAttempts", "named maxRetries"),
	"header-unknown-backoff":      analysisFails("backoff", "named base"),
	"header-unknown-no-effect":    headerHasNoEffect,
	"header-unknown-misspelt":     analysisFails("retryPolcy", "named retryPolicy"),
	"header-unknown-spelling":     analysisFails("retry-policy", "named retryPolicy"),

	"policy-unknown":            analysisFails(`"tis"`, "the name of a policy"),
	"policy-unknown-expression": analysisFails(`"=insurerPolicy"`, "the name of a policy"),

	"submission-error-not-mapped":            analysisFails("submissionError"),
	"submission-error-not-mapped-other-name": analysisFails("submissionError"),

	"outcome-not-recorded-submitted":     isListedAfterItsEnd,
	"outcome-not-recorded-abandoned":     isOpenAfterAbandonment,
	"outcome-not-recorded-resubmitted":   twoRoundsAreOne,
	"outcome-not-recorded-call-activity": isStoppedAfterItsEnd,

	"retries-unset":           hasRetries(analyzeRetry, 3),
	"retries-unset-recording": hasRetries(recordOutcome, 3),
	"retries-unset-zero":      hasRetries(analyzeRetry, 0),

	"loop-without-analysis": isSentWithoutEnd,
	"user-task-kind":        theUserTaskIsAJob,
}

// refused are the bad models that the broker does not take, and what it says.
var refused = map[string]string{
	"timer-duration-no-expression": "Invalid duration format",
	"unreadable-cut-off":           "unreadable-cut-off",
	"unreadable-text":              "unreadable-text",
	"unreadable-dmn":               "unreadable-dmn",
}

func TestMistakesOfBadModelsDoWhatTheLintSays(t *testing.T) {
	o := atTheOffice(t)
	o.worker.answers("/healthz", http.StatusOK)
	files := corpusOf(t, "bad")
	if want := len(badModels) + len(refused); len(files) != want {
		t.Errorf("%d bad models, want %d", len(files), want)
	}
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bpmn")
		o.part(name, func(o *office) {
			text, isRefused := refused[name]
			err := o.broker.Deploy(o.Context(), file)
			if isRefused {
				if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), text) {
					o.Errorf("the deployment: %v, want it refused with %q", err, text)
				}
				return
			}
			o.must(err)
			happens := badModels[name]
			if happens == nil {
				o.Fatal("nothing is known about what happens in this model")
			}
			happens(&trial{o, name, fmt.Sprintf("CLM-E2E-70-%d", i)})
		})
	}
}

// The worker fails a job with its retries unchanged while it cannot record the decision; the test does that in its place.
func TestJobWithoutRetriesIsAnIncidentWhenReleased(t *testing.T) {
	s := atSharedBroker(t)
	s.must(s.broker.Deploy(t.Context(), models+"bad/retries-unset-zero.bpmn"))
	claim := s.start("retries-unset-zero", vars{"claimId": "CLM-E2E-73-1"})
	claim.submissionFails("TIMEOUT")
	job := claim.task(analyzeRetry)
	_, err := s.broker.FailJob(t.Context(), &pb.FailJobRequest{JobKey: job.key, Retries: 0})
	s.must(err)
	if incident := claim.incident(); incident.ErrorType != "JOB_NO_RETRIES" || incident.JobKey != job.key {
		t.Errorf("the incident is %s of job %d", incident.ErrorType, incident.JobKey)
	}
}

// goodModels are where the good models take a claim: to their ends, and to a person if there is one.
var goodModels = map[string]struct{ accepted, stopped, person string }{
	"loop":                 {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"subprocess":           {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"event-subprocess":     {"EndEvent_ClaimSubmitted", "EndEvent_PermanentError", ""},
	"own-policy":           {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"insurer-policy":       {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"short-waits":          {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"pool":                 {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"call-activity-mapped": {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""},
	"call-activity":        {"Event_0fim4ok", "Event_0desist", "Activity_1revisa"},
	"person":               {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", "Task_ReviewClaim"},
	"unrelated":            {}, // has no claim
}

func TestGoodModelsTakeAClaimToItsEnd(t *testing.T) {
	policies, err := filepath.Abs(models + "policies.yaml")
	check.Must(t, err)
	o := atTheOffice(t, "RETRY_POLICIES_FILE="+policies, "RETRY_JOB_TYPES=analyze-retry=tiss,analyze-retry-unimed=tiss")
	for i, file := range corpusOf(t, "good") {
		name := strings.TrimSuffix(filepath.Base(file), ".bpmn")
		o.part(name, func(o *office) {
			good, known := goodModels[name]
			if !known {
				o.Fatal("the ends of this model are not known")
			}
			o.must(o.broker.Deploy(o.Context(), file))
			if name == "unrelated" {
				return
			}
			accepted := (&trial{o, name, fmt.Sprintf("CLM-E2E-71-%d", i)}).starts(vars{"insurer": "unimed"})
			accepted.submissionFails("TIMEOUT")
			accepted.nextPause().passes()
			accepted.submission().complete(vars{"protocol": "4711"})
			accepted.finishesAt(good.accepted)
			accepted.recorded("SUBMITTED")

			// Policy fast has no permanent error, but 3 retries.
			stopped := (&trial{o, name, fmt.Sprintf("CLM-E2E-72-%d", i)}).starts(vars{"insurer": "unimed", "retryCount": 3})
			stopped.submissionFails("INVALID_PROCEDURE_CODE")
			if good.person != "" {
				stopped.asks(good.person).complete(vars{"manualDecision": "RESUBMIT", "justification": "conferido"})
				stopped.submissionFails("INVALID_PROCEDURE_CODE")
				stopped.asks(good.person).complete(vars{"manualDecision": "ABANDON", "justification": "paga pelo paciente"})
				stopped.finishesAt(good.stopped)
				stopped.recorded("RESUBMITTED", "ABANDONED")
			} else {
				stopped.finishesAt(good.stopped)
				stopped.recorded("ABANDONED")
			}
			if incidents := o.events("INCIDENT", "CREATED", func(e event) bool { return accepted.has(e.ProcessInstanceKey) || stopped.has(e.ProcessInstanceKey) }); len(incidents) != 0 {
				o.Errorf("an incident at %s: %s", incidents[0].ElementID, incidents[0].ErrorMessage)
			}
		})
	}
}

// corpusOf returns the files of a part of the corpus.
func corpusOf(t *testing.T, part string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(models, part, "*.bpmn"))
	check.Must(t, err)
	if len(files) == 0 {
		t.Fatalf("the corpus has no %s models", part)
	}
	return files
}

// starts starts the model's process.
func (m *trial) starts(more vars) *claim {
	m.Helper()
	variables := vars{"claimId": m.claimID}
	maps.Copy(variables, more)
	return m.start(m.model, variables)
}

// decisions returns the answers of the analysis so far.
func (c *claim) decisions() []vars {
	c.Helper()
	ours := func(e event) bool { return e.Type == analyzeRetry && c.has(e.ProcessInstanceKey) }
	jobs := append(c.events("JOB", "COMPLETED", ours), c.events("JOB", "ERROR_THROWN", ours)...)
	slices.SortFunc(jobs, func(a, b event) int { return cmp.Compare(a.Position, b.Position) })
	var answers []vars
	for _, job := range jobs {
		answers = append(answers, readVars(c.T, c.answer(job)))
	}
	return answers
}

// comesTo waits until the claim's process has come to an element.
func (c *claim) comesTo(element string) {
	c.Helper()
	c.await("the claim comes to "+element, "PROCESS_INSTANCE", "ELEMENT_ACTIVATED", func(e event) bool {
		return e.ElementID == element && e.ProcessInstanceKey == c.instance
	})
}

// finishesAt waits for the end of the claim's process, by this end event. A subprocess has ends of its own.
func (c *claim) finishesAt(element string) {
	c.Helper()
	c.comesTo(element)
	c.await("the end of the process instance", "PROCESS_INSTANCE", "ELEMENT_COMPLETED", func(e event) bool {
		return e.Key == c.instance
	})
}

// person is the user task of the model, if it has one.
func (m *trial) person() string {
	if m.callsActivity() {
		return "Activity_1revisa"
	}
	return "Task_ReviewClaim"
}

// teamOf is the team to which the process that analyzes leaves a claim.
func (m *trial) teamOf(code string) string {
	switch {
	case !m.callsActivity():
		return ""
	case code == "PERMANENT_ERROR":
		return "registration"
	}
	return "billing"
}

// callsActivity reports whether the model calls SubmissionRetryProcess.
func (m *trial) callsActivity() bool { return strings.HasSuffix(m.model, "call-activity") }

func theTrailCounts(m *trial) {
	before := len(m.worker.printed())
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submission().fails("TIMEOUT")
	claim.waits(8, 12).passes()
	claim.submission()
	answers := claim.decisions()
	answers[1].hold(m.T, vars{"retryCount": 2})
	answers[1].object(m.T, "retryDecision").hold(m.T, vars{"countFrom": "TRAIL"})
	claim.variables().lack(m.T, "retryCount")
	w := *m.worker
	w.scene = m.scene // a failure is this part's, not the whole test's
	w.logs(before, "retry_count_lost", m.claimID)
}

func theCallerHasNoCount(m *trial) {
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submission().complete(vars{"protocol": "4711"})
	claim.endsAt("Event_0fim4ok")
	claim.variables().hold(m.T, vars{"protocol": "4711", "shouldRetry": true})
	claim.variables().lack(m.T, "retryCount")
}

// isStoppedBy lets a claim stop with this error.
func (m *trial) isStoppedBy(code string) *claim {
	m.Helper()
	if code == "PERMANENT_ERROR" {
		claim := m.starts(nil)
		claim.submissionFails("INVALID_PROCEDURE_CODE")
		return claim
	}
	claim := m.starts(vars{"retryCount": 5})
	claim.submissionFails("TIMEOUT")
	return claim
}

func stopsAtUncaught(code string) func(*trial) {
	return func(m *trial) {
		claim := m.isStoppedBy(code)
		incident := claim.incident()
		if incident.ErrorType != "UNHANDLED_ERROR_EVENT" || !strings.Contains(incident.ErrorMessage, code) {
			m.Errorf("the incident is %s: %s", incident.ErrorType, incident.ErrorMessage)
		}
		m.lists(m.claimID, "stopped", m.teamOf(code))
	}
}

// stopsAfterARetry brings a claim to the person by a permanent error, after an error that was none.
func (m *trial) stopsAfterARetry() *claim {
	m.Helper()
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submissionFails("INVALID_PROCEDURE_CODE")
	claim.comesTo(m.person())
	return claim
}

func personSees(want vars) func(*trial) {
	return func(m *trial) { m.stopsAfterARetry().variables().hold(m.T, want) }
}

func personSeesNothing(m *trial) {
	m.stopsAfterARetry().variables().lack(m.T, "shouldRetry", "retryReason", "originalError", "errorClassification")
}

func theFirstErrorIsDecidedTwice(m *trial) {
	claim := m.starts(nil)
	claim.submission().throw("REFUSED", vars{"submissionError": "TIMEOUT", "retryAfter": "1800"})
	claim.waits(30, 36).passes()
	claim.submission().throw("REFUSED", nil)
	claim.waits(30, 36)
	claim.decisions()[1].hold(m.T, vars{"originalError": "TIMEOUT", "retryCount": 2})
}

func theNewRoundHasNoRetries(m *trial) {
	claim := m.isStoppedBy("MAX_RETRIES_EXCEEDED")
	claim.asks(m.person()).complete(vars{"manualDecision": "RESUBMIT", "justification": "conferido"})
	claim.submissionFails("TIMEOUT")
	claim.asks(m.person()).complete(nil)
	claim.decisions()[1].hold(m.T, vars{"shouldRetry": false, "retryReason": "Transient error, all 5 retries used"})
}

func anEmptyAnswerSendsAgain(m *trial) {
	claim := m.isStoppedBy("PERMANENT_ERROR")
	claim.asks(m.person()).complete(vars{"manualDecision": "RESUBMIT", "justification": "conferido"})
	claim.submissionFails("INVALID_PROCEDURE_CODE")
	claim.asks(m.person()).complete(nil)
	claim.submission()
}

func timerFails(m *trial) {
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	incident := claim.incident()
	if incident.ErrorType != "EXTRACT_VALUE_ERROR" || incident.ElementID != "Event_WaitBackoff" {
		m.Errorf("the incident is %s at %s", incident.ErrorType, incident.ElementID)
	}
}

func waitsInsteadOfFiveMinutes(longest time.Duration) func(*trial) {
	return func(m *trial) {
		claim := m.starts(nil)
		claim.submissionFails("TIMEOUT")
		if wait := claim.nextPause(); wait.due().Sub(wait.at()) > longest {
			m.Errorf("the timer waits %v, want %v at most", wait.due().Sub(wait.at()), longest)
		}
	}
}

func waitsAMinuteForASecond(m *trial) {
	claim := m.starts(nil)
	claim.submissionFails("ECONNRESET")
	claim.waitsFor(time.Minute)
	claim.decisions()[0].object(m.T, "retryDecision").hold(m.T, vars{"backoffDuration": "PT1S"})
}

func headerHasNoEffect(m *trial) {
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6)
	decision := claim.decisions()[0]
	decision.hold(m.T, vars{"maxRetries": 5})
	decision.object(m.T, "retryDecision").hold(m.T, vars{"policy": "tiss"})
}

func analysisFails(words ...string) func(*trial) {
	return func(m *trial) {
		claim := m.starts(nil)
		claim.submissionFails("TIMEOUT")
		incident := claim.incident()
		incident.saysWhy(m.T, "Task_AnalyzeRetry", words...)
	}
}

func isListedAfterItsEnd(m *trial) {
	claim := m.starts(nil)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	m.lists(m.claimID, "waiting", "")
}

func isOpenAfterAbandonment(m *trial) {
	claim := m.isStoppedBy("PERMANENT_ERROR")
	claim.asks(m.person()).complete(vars{"manualDecision": "ABANDON", "justification": "paga pelo paciente"})
	claim.endsAt("EndEvent_ClaimAbandoned")
	m.lists(m.claimID, "stopped", "")
}

func isStoppedAfterItsEnd(m *trial) {
	claim := m.isStoppedBy("PERMANENT_ERROR")
	claim.endsAt("EndEvent_ClaimAbandoned")
	m.lists(m.claimID, "stopped", "registration")
}

func twoRoundsAreOne(m *trial) {
	claim := m.isStoppedBy("PERMANENT_ERROR")
	claim.asks(m.person()).complete(vars{"manualDecision": "RESUBMIT", "justification": "conferido"})
	submission := claim.submission()
	m.lists(m.claimID, "stopped", "")
	submission.complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	_, story := m.says("history", m.claimID)
	if story = strings.Join(strings.Fields(story), " "); !strings.Contains(story, "after 2 submissions and 0 retries") || strings.Contains(story, "conferido") {
		m.Errorf("the trail has two rounds, or the person's reason: %s", story)
	}
}

func hasRetries(jobType string, want int32) func(*trial) {
	return func(m *trial) {
		claim := m.starts(nil)
		claim.submissionFails("TIMEOUT")
		claim.waits(5, 6).passes()
		claim.submission().complete(nil)
		claim.endsAt("EndEvent_ClaimSubmitted")
		if job := claim.jobs(jobType)[0]; job.Retries != want {
			m.Errorf("the job %s has %d retries, want %d", jobType, job.Retries, want)
		}
	}
}

func isSentWithoutEnd(m *trial) {
	claim := m.starts(nil)
	for range 7 {
		claim.submissionFails("INVALID_PROCEDURE_CODE")
		claim.waitsFor(5 * time.Minute).passes()
	}
	claim.submission()
	if n := len(claim.jobs(analyzeRetry)); n != 0 {
		m.Errorf("%d analyses, want none", n)
	}
	m.lists(m.claimID, "", "")
}

func theUserTaskIsAJob(m *trial) {
	claim := m.isStoppedBy("PERMANENT_ERROR")
	if task := claim.task("io.camunda.zeebe:userTask"); task.element != m.person() {
		m.Errorf("the job is of %s", task.element)
	}
	if n := len(claim.userTasks()); n != 0 {
		m.Errorf("%d user tasks of Camunda's kind, want none", n)
	}
}
