package report

import (
	"cmp"
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

// History is what is known of a claim. Its JSON form is stable: names are added, never changed.
type History struct {
	ClaimID string `json:"claimId"`
	// State is how the claim stands; absent where no record says so.
	State   audit.Standing `json:"state,omitempty"`
	Records []Record       `json:"records"`

	facts []contract.Facts // of the records
	known claims.Known
	now   time.Time
}

// HistoryOf returns the history of a claim's records, of which there is at least one. state is what else is
// known of it.
func HistoryOf(state *audit.State, records []audit.Record, now time.Time) (History, error) {
	h := History{ClaimID: records[0].ClaimID, now: now}
	var err error
	if h.known, err = claims.Know(h.ClaimID, state, records, now); err != nil {
		return History{}, err
	}
	h.State = h.known.Standing
	for i := range records {
		facts, err := records[i].Facts()
		if err != nil {
			return History{}, err
		}
		h.Records, h.facts = append(h.Records, RecordOf(&records[i])), append(h.facts, facts)
	}
	return h, nil
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
	if x.Reason == retry.StepDeadline {
		found[4] += w.Sprintf(", no retry fits before the deadline %s", w.Time(*x.Deadline))
	}
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

// standing words how a claim stands. It states what the trail knows: that the
// worker threw an error, not what the model does with it; that the model recorded an outcome, not who decided
// it unless the model named a person.
func (w words) standing(c *claims.Known, now time.Time) string {
	due, last, byPolicy := c.NextRetryTime, c.Last, c.Kind == audit.KindRetry
	switch c.Standing {
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
		return w.stopped(c)
	case audit.Incident:
		return w.Sprintf("the worker rejected the input, which raises an incident; nothing was heard since")
	case audit.Redriven:
		if c.Kind == audit.KindRedriven {
			return w.Sprintf("sent again%s, and nothing was heard since (for %s)", w.by(last), w.About(now.Sub(last.At)))
		}
	case audit.Submitted, audit.Abandoned:
	}
	return w.outcome(last)
}

// stopped words what the trail knows of a claim whose last record is a thrown error.
func (w words) stopped(c *claims.Known) string {
	s := w.Sprintf("a retry cannot help")
	if c.Kind == audit.KindExhausted {
		s = w.Sprintf("all retries are used up")
		if x := c.Facts.RetryDecision; x.Reason == retry.StepDeadline {
			s = w.Sprintf("no retry fits before the deadline %s", w.Time(*x.Deadline))
		}
	}
	if c.HeldBy != "" {
		return s + w.Sprintf(": the worker threw the error %s; the model leaves the claim with %s", c.Kind, withWords(w.Printer, c.HeldBy))
	}
	return s + w.Sprintf(": the worker threw the error %s; what the model does with it is not recorded", c.Kind)
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
	if h.known.Last != nil {
		standing = w.standing(&h.known, h.now)
	}
	b.WriteString(w.Sprintf("Claim %s, %s", text.Line(h.ClaimID), w.Sprintf("%d records", len(h.Records))) + "\n")
	b.WriteString(text.Hanging(w.Sprintf("Now: "), standing))
	b.WriteString(p.Zone())
	for i := range h.Records {
		r, f := h.Records[i].Record, &h.facts[i]
		fmt.Fprintf(&b, "\n#%d  %s  %s\n", i+1, w.Millis(r.At), w.title(r))
		if f.Steps != nil {
			b.WriteString(w.steps(r, f))
		} else {
			b.WriteString(text.Wrap(text.Line(w.event(r, f)), "    "))
		}
		if f.Justification != "" {
			b.WriteString(text.Hanging(w.Sprintf("    Reason: "), text.Line(f.Justification)))
		}
		if r.Kind.IsDecision() && r.Kind != audit.KindRetry {
			b.WriteString(text.Wrap(w.Sprintf("Message: %s", text.Line(r.Message)), "    "))
		}
		b.WriteString(text.Wrap(w.origin(r, f), "    "))
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
func (w words) title(r *audit.Record) string {
	if r.Kind == audit.KindRetry {
		return w.Sprintf("RETRY %d of %d", r.RetryCount, r.MaxRetries)
	}
	return w.Text(kindTexts[r.Kind])
}

func (w words) steps(r *audit.Record, f *contract.Facts) string {
	var b strings.Builder
	times := f.Steps.Times()
	for i, found := range w.findings(r, f) {
		head := fmt.Sprintf("    %-18s  %s  ", w.Text(stepTexts[i]), w.Clock(times[i]))
		b.WriteString(text.Hanging(head, w.shown(found)))
	}
	return b.String()
}

// event words a record that has no steps.
func (w words) event(r *audit.Record, f *contract.Facts) string {
	switch r.Kind { //nolint:exhaustive // decisions have steps
	case audit.KindRejected:
		return w.Sprintf("Incident: %s", r.Message)
	case audit.KindRedriven:
		if f.RedriveWait != "" {
			return w.Sprintf("To be sent again%s after %s, with schedule and count kept, %s", w.by(r), w.iso(f.RedriveWait), w.round(r, f))
		}
		return w.Sprintf("Sent again now%s, before its time, %s", w.by(r), w.round(r, f))
	case audit.KindDecisionRefused:
		return w.Sprintf("The answer%s was no decision, so the task came back: %s", w.by(r), cmp.Or(f.DecisionProblem, w.Sprintf("the model does not name the problem")))
	default:
		return w.Sprintf("The outcome: %s; %s", w.outcome(r), w.round(r, f))
	}
}

// round sums up a round of submissions at its end, or so far.
func (w words) round(r *audit.Record, f *contract.Facts) string {
	s := w.Sprintf("after %s and %s", w.Sprintf("%d submissions", f.Attempts), w.Sprintf("%d retries", r.RetryCount))
	if f.FirstFailureTime == nil {
		return s + "."
	}
	return w.Sprintf("%s, %s after the first failure (%s).", s, w.About(r.At.Sub(*f.FirstFailureTime)), w.Time(*f.FirstFailureTime))
}

// origin words where the record comes from and where it is in the audit trail.
func (w words) origin(r *audit.Record, f *contract.Facts) string {
	s := w.Sprintf("Job %s, process instance %s of cluster %s",
		strconv.FormatInt(r.JobKey, 10), strconv.FormatInt(r.ProcessInstanceKey, 10), text.Line(r.Cluster))
	if f.ElementID != "" {
		s += w.Sprintf(", task %s of %s", text.Line(f.ElementID), text.Line(f.ProcessID))
	}
	if x := &f.RetryDecision; x.Policy != "" {
		s += w.Sprintf("; policy %s %s", x.Policy, x.PolicyVersion)
	}
	return s + w.Sprintf("; audit chain %s, place %s, hash %.12s.", strconv.Itoa(r.Chain), strconv.FormatInt(r.Seq, 10), r.Hash)
}

// shown returns a text as far as a terminal need show it.
func (w words) shown(s string) string {
	shown := text.Shorten(s, maxShownError)
	if shown != s {
		shown += w.Sprintf(" (all of it: --json)")
	}
	return text.Line(shown)
}
