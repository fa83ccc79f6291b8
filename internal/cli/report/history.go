package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
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

// maxShownError is how many characters of an insurer's text a terminal is given; a page of HTML would bury
// the rest.
const maxShownError = 243

// Text words the history. It states what the trail knows: that the worker threw an error, not what the model
// does with it; that the model recorded an outcome, not who decided it unless the model named a person.
func (h *History) Text(p *text.Printer) string {
	w := words{p}
	var b strings.Builder
	records := w.Sprintf("%d records", len(h.Records))
	b.WriteString(w.Sprintf("Claim %s, %s", text.Line(h.ClaimID), records) + "\n")
	b.WriteString(text.Hanging(w.Sprintf("Now: "), text.Line(w.standing(&h.known.Claim, h.now))))
	b.WriteString(p.Zone())
	for i := range h.Records {
		r, f := h.Records[i].Record, &h.facts[i]
		fmt.Fprintf(&b, "\n#%d  %s  %s\n", i+1, w.Millis(r.At), w.title(r))
		if f.Steps != nil {
			b.WriteString(w.timedSteps(r, f))
		} else {
			b.WriteString(text.Wrap(text.Line(w.event(r, f)), "    "))
		}
		if f.Justification != "" {
			b.WriteString(text.Hanging(w.Sprintf("    Reason: "), text.Line(w.Redacted(f.Justification))))
		}
		if r.Kind.IsDecision() && r.Kind != audit.KindRetry {
			b.WriteString(text.Wrap(w.Sprintf("Message: %s", text.Line(r.Message)), "    "))
		}
		b.WriteString(text.Wrap(w.origin(r, f), "    "))
	}
	return b.String()
}

// title is the kind of record, and for a retry which one.
func (w words) title(r *audit.Record) string {
	if r.Kind == audit.KindRetry {
		return w.Sprintf("RETRY %d of %d", r.RetryCount, r.MaxRetries)
	}
	return w.Name("kind", r.Kind.String())
}

// timedSteps are the six steps of a decision with their times.
func (w words) timedSteps(r *audit.Record, f *contract.Facts) string {
	var b strings.Builder
	times := f.Steps.Times()
	wait := w.iso(f.RetryDecision.BackoffDuration)
	for i, found := range w.steps(&f.Decision, w.Redacted(f.SubmissionError), wait, r.Kind.String()) {
		shown := text.Shorten(found, maxShownError)
		if shown != found {
			shown += w.Sprintf(" (all of it: --json)")
		}
		head := fmt.Sprintf("    %-18s  %s  ", w.step(i), w.Clock(times[i]))
		b.WriteString(text.Hanging(head, text.Line(shown)))
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
			return w.Sprintf("To be sent again%s after %s, with schedule and count kept, %s",
				w.by(r), w.iso(f.RedriveWait), w.round(r, f))
		}
		return w.Sprintf("Sent again now%s, before its time, %s", w.by(r), w.round(r, f))
	case audit.KindDecisionRefused:
		problem := cmp.Or(w.Redacted(f.DecisionProblem), w.Sprintf("the model does not name the problem"))
		return w.Sprintf("The answer%s was no decision, so the task came back: %s", w.by(r), problem)
	default:
		by := cmp.Or(w.by(r), w.Sprintf(", as the model recorded"))
		return w.Sprintf("The outcome: %s; %s", w.Name("outcome", r.Kind.String())+by, w.round(r, f))
	}
}

// by names who decided, a person or a team, where the record does.
func (w words) by(r *audit.Record) string {
	if r.DecidedBy == "" {
		return ""
	}
	return w.Sprintf(" by %s", text.Line(w.Name("with", r.DecidedBy)))
}

// round sums up a round of submissions at its end, or so far.
func (w words) round(r *audit.Record, f *contract.Facts) string {
	submissions, retries := w.Sprintf("%d submissions", f.Attempts), w.Sprintf("%d retries", r.RetryCount)
	s := w.Sprintf("after %s and %s", submissions, retries)
	if f.FirstFailureTime.IsZero() {
		return s + "."
	}
	return w.Sprintf("%s, %s after the first failure (%s).",
		s, w.About(r.At.Sub(f.FirstFailureTime)), w.Time(f.FirstFailureTime))
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
	return s + w.Sprintf("; audit chain %s, place %s, hash %.12s.",
		strconv.Itoa(r.Chain), strconv.FormatInt(r.Seq, 10), r.Hash)
}
