package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/sqlite"
)

// The systems of the five seed documents, each shown working by the tests of its number: go test ./test/e2e -run
// TestSeed003. Here stand the rule itself, RN-BIL-005 on SUB_06, and what the tests of the others share.

func TestSeed000ClaimIsRetriedThenStoppedByAPermanentError(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-SEED-000-1")
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
	claim.asks("Task_CorrectData").complete(vars{"manualDecision": "RESUBMIT", "justification": "senha renovada"})
	claim.submission().holds(vars{"retryCount": 0}).complete(vars{"protocol": "P-1"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("RESUBMITTED", "SUBMITTED")
	claim.variables().hold(t, vars{"claimId": "CLM-SEED-000-1", "protocol": "P-1"})
	o.worker.shows(`retry_scheduled_total{classification="TRANSIENT",policy="tiss"} 1`)
	o.worker.shows(`permanent_errors_total{code="AUTHORIZATION_DENIED",policy="tiss"} 1`)
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

// deadLetter takes the person's task that a dead letter waits at, as soon as a re-drive reaches it too.
func (c *claim) deadLetter(person, group string) *userTask {
	c.Helper()
	t := c.asks(person)
	if !slices.Equal(t.groups, []string{group}) {
		c.Errorf("%s is offered to the groups %q, want %q alone", t.element, t.groups, group)
	}
	c.next("the subscription of the person's task", "PROCESS_MESSAGE_SUBSCRIPTION", "CREATED", func(e event) bool {
		return strings.HasSuffix(e.ElementID, "Redriven")
	})
	return t
}

// discarded is a person's decision to give up.
var discarded = vars{"manualDecision": "ABANDON", "justification": "sem uso", "decidedBy": "ana.lima"}

// hasAnEvent fails the test where the trail has no event of this type for the claim, with these words.
func (o *office) hasAnEvent(claimID, kind string, words ...string) {
	o.Helper()
	store, err := sqlite.OpenReadOnly(o.Context(), strings.TrimPrefix(o.store, "RETRY_DATABASE_URL=sqlite://"), nil)
	o.must(err)
	defer store.Close()
	_, records, err := store.Claim(o.Context(), claimID)
	o.must(err)
	for i := range records {
		event, err := events.FromRecord(&records[i])
		o.must(err)
		lacks := func(word string) bool { return !strings.Contains(string(event.JSON), word) }
		if event.Type == kind && !slices.ContainsFunc(words, lacks) {
			return
		}
	}
	o.Errorf("none of %d records of %s is a %s with %q", len(records), claimID, kind, words)
}

// example puts models of the examples on the broker, with the forms that they link.
func (s *scene) example(names ...string) {
	s.Helper()
	files := []string{"../../examples/review-job.form", "../../bpmn/review-claim.form"}
	for _, name := range names {
		files = append(files, filepath.Join("../../examples", name))
	}
	s.must(s.broker.Deploy(s.Context(), files...))
}

// variant puts a model on the broker that differs from one of a file by these replacements: old, new, old, new, ...
// Each of them must be found.
func (s *scene) variant(file string, oldNew ...string) {
	s.Helper()
	text, err := os.ReadFile(file)
	s.must(err)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(string(text), oldNew[i]) {
			s.Fatalf("%s does not contain %s", file, oldNew[i])
		}
	}
	_, err = s.broker.DeployResource(s.Context(), &pb.DeployResourceRequest{Resources: []*pb.Resource{{
		Name: s.Name() + ".bpmn", Content: []byte(strings.NewReplacer(oldNew...).Replace(string(text))),
	}}})
	s.must(err)
}

// saysWhy fails the test where the incident is not the worker's at this element, or its text lacks one of the words.
func (e event) saysWhy(t *testing.T, element string, words ...string) {
	t.Helper()
	if e.ErrorType != "JOB_NO_RETRIES" || e.ElementID != element {
		t.Errorf("an incident of type %s at %s", e.ErrorType, e.ElementID)
	}
	for _, word := range words {
		if !strings.Contains(e.ErrorMessage, word) {
			t.Errorf("the incident does not say %q: %s", word, e.ErrorMessage)
		}
	}
}

// printed is what the worker has printed so far.
func (w *worker) printed() string {
	w.scene.Helper()
	text, err := os.ReadFile(w.log)
	w.scene.must(err)
	return string(text)
}

// logs waits until the worker has logged a line with all these words behind this much of its log.
func (w *worker) logs(behind int, words ...string) {
	w.scene.Helper()
	w.scene.until(fmt.Sprintf("a line with %q", words), func() bool {
		for line := range strings.Lines(w.printed()[behind:]) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return true
			}
		}
		return false
	}, w.printed)
}
