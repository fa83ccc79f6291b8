package report

import (
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/term"
)

// maxShownError is how many characters of an insurer's text a terminal is given; a page of HTML would bury the rest.
const maxShownError = 243

// stepWords are the six steps as they are shown.
var stepWords = [6]string{"error received", "error classified", "counter checked", "backoff computed", "decision taken", "next try scheduled"}

// Text words the history.
func (h History) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Claim %s, %s\n", term.Line(h.ClaimID), term.Count(len(h.Records), "record"))
	b.WriteString(term.Hanging("Now: ", h.standing))
	for i := range h.Records {
		r := &h.Records[i]
		fmt.Fprintf(&b, "\n#%d  %s  %s\n", i+1, term.Millis(r.At), r.title())
		if r.Steps != nil {
			b.WriteString(r.stepsText())
		} else if say := h.event(r); say != "" {
			b.WriteString(term.Wrap(term.Line(say), "    "))
		}
		if r.Justification != "" {
			b.WriteString(term.Hanging("    Reason: ", term.Line(r.Justification)))
		}
		if r.kind.IsDecision() && r.kind != audit.KindRetry {
			b.WriteString(term.Wrap("Message: "+term.Line(r.Message), "    "))
		}
		b.WriteString(term.Wrap(r.origin(), "    "))
	}
	return b.String()
}

// title is the kind of record, and for a retry which one.
func (t *historyRecord) title() string {
	if t.kind == audit.KindRetry {
		return fmt.Sprintf("%s %d of %d", t.Kind, t.facts.RetryCount, t.facts.MaxRetries)
	}
	return t.Kind
}

func (t *historyRecord) stepsText() string {
	var b strings.Builder
	for i, s := range t.Steps {
		head := fmt.Sprintf("    %-18s  %s  ", stepWords[i], s.At.UTC().Format("15:04:05.000Z"))
		b.WriteString(term.Hanging(head, shownText(s.Found)))
	}
	return b.String()
}

// event words a record that has no steps.
func (h History) event(t *historyRecord) string {
	switch t.kind {
	case audit.KindRejected:
		return "Incident: " + t.Message
	case audit.KindUndelivered:
		which := "of an earlier record"
		if i, here := h.byHash[t.Undelivered]; here {
			which = fmt.Sprintf("of #%d", i+1)
		}
		return "The answer " + which + " did not reach the process: its job was gone."
	case audit.KindSubmitted:
		return "Accepted by the insurer " + t.round()
	case audit.KindRedriven:
		return "Sent again now by " + redrive.Person(&t.facts) + ", before its time, " + t.round()
	case audit.KindResubmitted:
		return "Submitted again by " + redrive.Person(&t.facts) + " " + t.round()
	case audit.KindAbandoned:
		return "Given up by " + redrive.Person(&t.facts) + " " + t.round()
	case audit.KindRetry, audit.KindExhausted, audit.KindPermanent:
		return "The times of its steps are not known."
	default:
		return ""
	}
}

// round sums up a round of submissions at its end, or so far.
func (t *historyRecord) round() string {
	text := fmt.Sprintf("after %s and %s", term.Count(t.Attempts, "submission"), term.Count(t.RetriesUsed, "retry"))
	if t.FirstFailureTime == nil {
		return text + "."
	}
	return fmt.Sprintf("%s, %s after the first failure (%s).", text, term.About(t.At.Sub(*t.FirstFailureTime)), term.Time(*t.FirstFailureTime))
}

// origin words where the record comes from and where it is in the audit trail.
func (t *historyRecord) origin() string {
	text := fmt.Sprintf("Job %s, process instance %s of cluster %s", t.JobKey, t.ProcessInstanceKey, term.Line(t.Cluster))
	if t.ElementID != "" {
		text += fmt.Sprintf(", task %s of %s", term.Line(t.ElementID), term.Line(t.ProcessID))
	}
	if p := t.facts.RetryDecision; p.Policy != "" {
		text += fmt.Sprintf("; policy %s %s", p.Policy, p.PolicyVersion)
	}
	return fmt.Sprintf("%s; audit chain %d, place %d, hash %.12s.", text, t.Chain, t.Seq, t.Hash)
}

// shownText returns a text as far as a terminal need show it.
func shownText(text string) string {
	shown := term.Shorten(text, maxShownError)
	if shown != text {
		shown += " (all of it: --json)"
	}
	return term.Line(shown)
}
