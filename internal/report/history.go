package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// History is what is known of a claim. Its JSON form is stable: names are added, never changed. Names that the process
// variables have too mean the same.
type History struct {
	ClaimID string `json:"claimId"`
	// State is how the claim stands; absent where no record says so.
	State   audit.Standing  `json:"state,omitempty"`
	Records []historyRecord `json:"records"`

	claim claims.Claim
	last  *historyRecord // shows how the claim stands; nil where none does
	now   time.Time
}

// historyRecord is one record of a history. Fields that its kind does not have are left out.
type historyRecord struct {
	place
	ProcessID string `json:"processId,omitempty"`
	ElementID string `json:"elementId,omitempty"`
	// RetriesUsed is the count before a decision, or that a rejected job brought; for an outcome and a
	// re-drive, how many retries the round had.
	RetriesUsed int `json:"retriesUsed"`
	// NextRetryTime is absent where the claim is not submitted again.
	NextRetryTime time.Time `json:"nextRetryTime,omitzero"`
	// Message is the text of the BPMN error or the incident.
	Message string `json:"message,omitempty"`
	// Answer is the variables that the job was answered with; originalError is not kept.
	Answer json.RawMessage `json:"answer,omitempty"`
	decision
	SubmissionError string        `json:"submissionError,omitempty"`
	ExecutionTimeMs float64       `json:"executionTimeMs,omitempty"`
	Steps           []historyStep `json:"steps,omitempty"`
	// Attempts and FirstFailureTime are of an outcome, of a re-drive, and of retries that were used up.
	Attempts         int        `json:"attempts,omitempty"`
	FirstFailureTime *time.Time `json:"firstFailureTime,omitempty"`
	// Justification and DecidedBy are what a person said, and who; RedriveID is the command by which they did.
	Justification string `json:"justification,omitempty"`
	DecidedBy     string `json:"decidedBy,omitempty"`
	RedriveID     string `json:"redriveId,omitempty"`
	// RedriveWait is how long the claim waits before it is sent again, as ISO 8601. With is with whom the model leaves a stopped claim.
	RedriveWait string `json:"redriveWait,omitempty"`
	// DecisionProblem is what was wrong with a person's answer that was no decision.
	DecisionProblem string `json:"decisionProblem,omitempty"`
	With            string `json:"with,omitempty"`
	// Policy is the one that decided, of a record that is no decision the one that decided last.
	Policy string `json:"policy,omitempty"`

	record *audit.Record
	facts  contract.Facts
}

// decision is what a record keeps in its detail where the answer does not hold it: with job type retry-submission-backoff.
type decision struct {
	MaxRetries          int             `json:"maxRetries,omitempty"`
	ErrorClassification string          `json:"errorClassification,omitempty"`
	RetryDecision       json.RawMessage `json:"retryDecision,omitempty"`
}

// historyStep is one of the six steps of a decision.
type historyStep struct {
	Step  string    `json:"step"`
	At    time.Time `json:"at"`
	Found string    `json:"found"`
}

// HistoryOf returns the history of a claim's records, of which there is at least one. state is what else is
// known of it.
func HistoryOf(state *audit.State, records []audit.Record, now time.Time) (History, error) {
	h := History{ClaimID: records[0].ClaimID, Records: make([]historyRecord, len(records)), now: now}
	claim, last := claims.Known(h.ClaimID, state, records, now)
	h.State, h.claim = claim.State, claim
	for i := range records {
		var err error
		if h.Records[i], err = historyRecordOf(&records[i]); err != nil {
			return History{}, err
		}
		if &records[i] == last {
			h.last = &h.Records[i]
		}
	}
	return h, nil
}

func historyRecordOf(r *audit.Record) (historyRecord, error) {
	facts, err := r.Facts()
	if err != nil {
		return historyRecord{}, err
	}
	t := historyRecord{
		place:            placeOf(r),
		ProcessID:        facts.ProcessID,
		ElementID:        facts.ElementID,
		RetriesUsed:      retriesUsed(r),
		NextRetryTime:    r.NextRetryTime,
		Message:          r.Message,
		SubmissionError:  facts.SubmissionError,
		ExecutionTimeMs:  facts.ExecutionTimeMs,
		Attempts:         facts.Attempts,
		FirstFailureTime: facts.FirstFailureTime,
		Justification:    facts.Justification,
		DecidedBy:        r.DecidedBy,
		RedriveID:        facts.RedriveID,
		RedriveWait:      facts.RedriveWait,
		DecisionProblem:  facts.DecisionProblem,
		With:             r.HeldBy,
		Policy:           r.Policy,
		record:           r,
		facts:            facts,
	}
	if r.Kind.IsDecision() && r.Variables != "" {
		t.Answer = json.RawMessage(r.Variables)
		if r.Detail != "" { // Facts has read it already
			_ = json.Unmarshal([]byte(r.Detail), &t.decision)
		}
	}
	if facts.Steps != nil {
		found, times := english.findings(r, &facts), facts.Steps.Times()
		for i, name := range contract.StepNames() {
			t.Steps = append(t.Steps, historyStep{name, times[i], found[i]})
		}
	}
	return t, nil
}

// retriesUsed returns how many retries there were before a decision, and with any other record.
func retriesUsed(r *audit.Record) int {
	if r.Kind == audit.KindRetry {
		return r.RetryCount - 1
	}
	return r.RetryCount
}

// findings words what each of the six steps of a decision found.
func (w words) findings(r *audit.Record, f *contract.Facts) [6]string {
	x := &f.RetryDecision
	found := [6]string{f.SubmissionError, w.class(r.Class, x), w.count(r, f), w.Sprintf("none"), "", w.Sprintf("none")}
	if r.Kind == audit.KindRetry {
		found[3] = w.wait(x, w.iso(x.BackoffDuration))
		found[4] = w.Sprintf("try again, retry %d of %d", r.RetryCount, r.MaxRetries)
		found[5] = w.Sprintf("for %s", w.Time(r.NextRetryTime))
		if x.Deadline != nil {
			found[5] += w.Sprintf("; the deadline is %s", w.Time(*x.Deadline))
		}
	} else {
		found[4] = w.Sprintf("stop: BPMN error %s", r.Kind)
		if x.Hint != nil {
			found[3] += w.Sprintf(", although %s", w.hint(x.Hint))
		}
	}
	if o := x.Overrides; o != nil {
		found[3] += w.Sprintf(" (overridden for this job: %s)", w.overrides(o))
	}
	if len(x.Ignored) > 0 {
		found[3] += w.Sprintf(" (ignored: %s)", w.ignored(x.Ignored))
	}
	if x.Reason == retry.StepDeadline && x.Deadline != nil {
		found[4] += w.Sprintf(", no retry fits before the deadline %s", w.Time(*x.Deadline))
	}
	found[4] += w.settled(x)
	if advice := w.advice(x.Advice); advice != "" {
		found[4] += "; " + advice
	}
	return found
}

func (w words) count(r *audit.Record, f *contract.Facts) string {
	used := retriesUsed(r)
	s := w.Sprintf("%d of %d retries used", used, r.MaxRetries)
	if f.RetryDecision.CountFrom == retry.CountFromTrail {
		s += w.Sprintf(" by this trail (the process brought fewer: it has lost its count)")
	}
	if used >= r.MaxRetries {
		s += w.Sprintf(": none is left")
	}
	return s
}

// standing words how a claim stands by the record that shows it. It states what the trail knows: that the
// worker threw an error, not what the model does with it; that the model recorded an outcome, not who decided
// it unless the model named a person.
func (w words) standing(c *claims.Claim, last *audit.Record, f *contract.Facts, now time.Time) string {
	due, byPolicy := c.NextRetryTime, last.Kind == audit.KindRetry
	switch c.State {
	case audit.Waiting:
		if !byPolicy {
			return w.Sprintf("to be sent again%s, due %s", w.by(last), w.Time(due))
		}
		return w.Sprintf("waits for retry %d of %d, due %s (in %s)", c.RetryCount, c.MaxRetries, w.Time(due), w.About(due.Sub(now)))
	case audit.Overdue:
		late := w.About(now.Sub(due))
		if !byPolicy {
			return w.Sprintf("was to be sent again%s %s, and nothing was heard since (for %s)", w.by(last), w.Time(due), late)
		}
		return w.Sprintf("retry %d of %d was due %s, and nothing was heard since (for %s)", c.RetryCount, c.MaxRetries, w.Time(due), late)
	case audit.Stopped, audit.DeadLetter:
		return w.stopped(last, f)
	case audit.Incident:
		return w.Sprintf("the worker rejected the input, which raises an incident; nothing was heard since")
	case audit.Redriven:
		if last.Kind == audit.KindRedriven {
			return w.Sprintf("sent again%s, and nothing was heard since (for %s)", w.by(last), w.About(now.Sub(last.At)))
		}
	case audit.Submitted, audit.Abandoned:
	}
	return w.outcome(last)
}

// stopped words what the trail knows of a claim whose last record is a thrown error.
func (w words) stopped(last *audit.Record, f *contract.Facts) string {
	s := w.Sprintf("a retry cannot help")
	if last.Kind == audit.KindExhausted {
		s = w.Sprintf("all retries are used up")
		if x := f.RetryDecision; x.Reason == retry.StepDeadline && x.Deadline != nil {
			s = w.Sprintf("no retry fits before the deadline %s", w.Time(*x.Deadline))
		}
	}
	if last.HeldBy != "" {
		return s + w.Sprintf(": the worker threw the error %s; the model leaves the claim with %s", last.Kind, withWords(w.Printer, last.HeldBy))
	}
	return s + w.Sprintf(": the worker threw the error %s; what the model does with it is not recorded", last.Kind)
}

var outcomeTexts = map[audit.Kind]text.Message{
	audit.KindSubmitted:   text.Messagef("accepted by the insurer"),
	audit.KindResubmitted: text.Messagef("submitted again"),
	audit.KindAbandoned:   text.Messagef("abandoned"),
}

// outcome words an outcome, and by whom it was decided.
func (w words) outcome(r *audit.Record) string {
	s := w.Text(outcomeTexts[r.Kind])
	if by := w.by(r); by != "" {
		return s + by
	}
	return w.Sprintf("%s, as the model recorded", s)
}

// by names the person who decided, where the record does.
func (w words) by(r *audit.Record) string {
	if r.DecidedBy == "" {
		return ""
	}
	return w.Sprintf(" by %s", text.Line(r.DecidedBy))
}

// maxShownError is how many characters of an insurer's text a terminal is given; a page of HTML would bury the rest.
const maxShownError = 243

// stepTexts are the six steps as they are shown.
var stepTexts = [6]text.Message{
	text.Messagef("error received"), text.Messagef("error classified"), text.Messagef("counter checked"),
	text.Messagef("backoff computed"), text.Messagef("decision taken"), text.Messagef("next try scheduled"),
}

// Text words the history.
func (h *History) Text(p *text.Printer) string {
	w := words{p}
	var b strings.Builder
	standing := w.Sprintf("a person is asked again; nothing else is recorded")
	if h.last != nil {
		standing = w.standing(&h.claim, h.last.record, &h.last.facts, h.now)
	}
	b.WriteString(w.Sprintf("Claim %s, %s", text.Line(h.ClaimID), w.Sprintf("%d records", len(h.Records))) + "\n")
	b.WriteString(text.Hanging(w.Sprintf("Now: "), standing))
	b.WriteString(p.Zone())
	for i := range h.Records {
		r := &h.Records[i]
		fmt.Fprintf(&b, "\n#%d  %s  %s\n", i+1, w.Millis(r.At), w.title(r))
		if r.Steps != nil {
			b.WriteString(w.steps(r))
		} else if say := w.event(r); say != "" {
			b.WriteString(text.Wrap(text.Line(say), "    "))
		}
		if r.Justification != "" {
			b.WriteString(text.Hanging(w.Sprintf("    Reason: "), text.Line(r.Justification)))
		}
		if r.record.Kind.IsDecision() && r.record.Kind != audit.KindRetry {
			b.WriteString(text.Wrap(w.Sprintf("Message: %s", text.Line(r.Message)), "    "))
		}
		b.WriteString(text.Wrap(w.origin(r), "    "))
	}
	return b.String()
}

// kindTexts are the kinds of records as they are shown, but for a retry.
var kindTexts = map[audit.Kind]text.Message{
	audit.KindExhausted:       text.Messagef("MAX_RETRIES_EXCEEDED"),
	audit.KindPermanent:       text.Messagef("PERMANENT_ERROR"),
	audit.KindRejected:        text.Messagef("REJECTED"),
	audit.KindRedriven:        text.Messagef("REDRIVEN"),
	audit.KindDecisionRefused: text.Messagef("DECISION_REFUSED"),
	audit.KindSubmitted:       text.Messagef("SUBMITTED"),
	audit.KindResubmitted:     text.Messagef("RESUBMITTED"),
	audit.KindAbandoned:       text.Messagef("ABANDONED"),
}

// title is the kind of record, and for a retry which one.
func (w words) title(t *historyRecord) string {
	if t.record.Kind == audit.KindRetry {
		return w.Sprintf("RETRY %d of %d", t.record.RetryCount, t.record.MaxRetries)
	}
	if s, known := kindTexts[t.record.Kind]; known {
		return w.Text(s)
	}
	return t.Kind
}

func (w words) steps(t *historyRecord) string {
	var b strings.Builder
	for i, found := range w.findings(t.record, &t.facts) {
		head := fmt.Sprintf("    %-18s  %s  ", w.Text(stepTexts[i]), w.Clock(t.Steps[i].At))
		b.WriteString(text.Hanging(head, w.shown(found)))
	}
	return b.String()
}

// event words a record that has no steps.
func (w words) event(t *historyRecord) string {
	switch t.record.Kind {
	case audit.KindRejected:
		return w.Sprintf("Incident: %s", t.Message)
	case audit.KindRedriven:
		if t.facts.RedriveWait != "" {
			return w.Sprintf("To be sent again%s after %s, with schedule and count kept, %s", w.by(t.record), w.iso(t.facts.RedriveWait), w.round(t))
		}
		return w.Sprintf("Sent again now%s, before its time, %s", w.by(t.record), w.round(t))
	case audit.KindDecisionRefused:
		return w.Sprintf("The answer%s was no decision, so the task came back: %s", w.by(t.record), cmp.Or(t.DecisionProblem, w.Sprintf("the model does not name the problem")))
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned:
		return w.Sprintf("The outcome: %s; %s", w.outcome(t.record), w.round(t))
	case audit.KindRetry, audit.KindExhausted, audit.KindPermanent:
		return w.Sprintf("The times of its steps are not known.")
	default:
		return ""
	}
}

// round sums up a round of submissions at its end, or so far.
func (w words) round(t *historyRecord) string {
	s := w.Sprintf("after %s and %s", w.Sprintf("%d submissions", t.Attempts), w.Sprintf("%d retries", t.RetriesUsed))
	if t.FirstFailureTime == nil {
		return s + "."
	}
	return w.Sprintf("%s, %s after the first failure (%s).", s, w.About(t.At.Sub(*t.FirstFailureTime)), w.Time(*t.FirstFailureTime))
}

// origin words where the record comes from and where it is in the audit trail.
func (w words) origin(t *historyRecord) string {
	s := w.Sprintf("Job %s, process instance %s of cluster %s", t.JobKey, t.ProcessInstanceKey, text.Line(t.Cluster))
	if t.ElementID != "" {
		s += w.Sprintf(", task %s of %s", text.Line(t.ElementID), text.Line(t.ProcessID))
	}
	if x := &t.facts.RetryDecision; x.Policy != "" {
		s += w.Sprintf("; policy %s %s", x.Policy, x.PolicyVersion)
	}
	return s + w.Sprintf("; audit chain %s, place %s, hash %.12s.", strconv.Itoa(t.Chain), strconv.FormatInt(t.Seq, 10), t.Hash)
}

// shown returns a text as far as a terminal need show it.
func (w words) shown(s string) string {
	shown := text.Shorten(s, maxShownError)
	if shown != s {
		shown += w.Sprintf(" (all of it: --json)")
	}
	return text.Line(shown)
}
