package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/audit"
)

// maxShownError is how many characters of an insurer's text a terminal is given; a page of HTML would bury the story.
const maxShownError = 240

// stepWords are the six steps as they are shown.
var stepWords = [6]string{"error received", "error classified", "counter checked", "backoff computed", "decision taken", "next try scheduled"}

// text tells the story to a person at a terminal of 80 columns.
func (h history) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Claim %s, %s\n", plain(h.ClaimID), count(len(h.Records), "record"))
	b.WriteString(hanging("Now: ", h.Standing))
	for i := range h.Records {
		r := &h.Records[i]
		fmt.Fprintf(&b, "\n#%d  %s  %s\n", i+1, utcMillis(r.At), r.title())
		if r.Steps != nil {
			b.WriteString(r.stepsText())
		} else if say := h.event(r); say != "" {
			b.WriteString(wrap(plain(say), "    "))
		}
		if r.Justification != "" {
			b.WriteString(hanging("    Reason: ", plain(r.Justification)))
		}
		if r.kind.IsDecision() && r.kind != audit.KindRetry {
			b.WriteString(wrap("Message: "+plain(r.Message), "    "))
		}
		b.WriteString(wrap(r.origin(), "    "))
	}
	return b.String()
}

// title is the kind of record, and for a retry which one.
func (t *told) title() string {
	if t.kind == audit.KindRetry {
		return fmt.Sprintf("%s %d of %d", t.Kind, t.facts.RetryCount, t.facts.MaxRetries)
	}
	return t.Kind
}

func (t *told) stepsText() string {
	var b strings.Builder
	for i, s := range t.Steps {
		head := fmt.Sprintf("    %-18s  %s  ", stepWords[i], s.At.UTC().Format("15:04:05.000Z"))
		b.WriteString(hanging(head, plain(shorten(s.Found))))
	}
	return b.String()
}

// event says what a record without steps tells.
func (h history) event(t *told) string {
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
		return "Sent again now by " + t.who() + ", before its time, " + t.round()
	case audit.KindResubmitted:
		return "Submitted again by " + t.who() + " " + t.round()
	case audit.KindAbandoned:
		return "Given up by " + t.who() + " " + t.round()
	case audit.KindRetry, audit.KindExhausted, audit.KindPermanent:
		return "The times of its steps are not known."
	default:
		return ""
	}
}

// who is the person behind the record.
func (t *told) who() string {
	if t.Operator == "" {
		return "a person"
	}
	return t.Operator
}

// round sums up a round of submissions at its end, or so far.
func (t *told) round() string {
	retries := "1 retry"
	if t.RetriesUsed != 1 {
		retries = fmt.Sprintf("%d retries", t.RetriesUsed)
	}
	text := fmt.Sprintf("after %s and %s", count(t.Attempts, "submission"), retries)
	if t.FirstFailureTime == nil {
		return text + "."
	}
	return fmt.Sprintf("%s, %s after the first failure (%s).", text, lapse(t.At.Sub(*t.FirstFailureTime)), utc(*t.FirstFailureTime))
}

// origin says where the record comes from and where it is in the audit trail.
func (t *told) origin() string {
	text := fmt.Sprintf("Job %s, process instance %s of cluster %s", t.JobKey, t.ProcessInstanceKey, plain(t.Cluster))
	if t.ElementID != "" {
		text += fmt.Sprintf(", task %s of %s", plain(t.ElementID), plain(t.ProcessID))
	}
	if p := t.facts.RetryDecision; p.Policy != "" {
		text += fmt.Sprintf("; policy %s %s", p.Policy, p.PolicyVersion)
	}
	return fmt.Sprintf("%s; audit chain %d, place %d, hash %.12s.", text, t.Chain, t.Seq, t.Hash)
}

// hanging writes a text behind a head, its further lines indented as far as the head is long.
func hanging(head, text string) string {
	body := wrap(text, strings.Repeat(" ", utf8.RuneCountInString(head)))
	return strings.TrimRight(head+strings.TrimLeft(body, " "), " \n") + "\n"
}

// shorten cuts a text that a terminal need not show in full.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxShownError {
		return text
	}
	return string([]rune(text)[:maxShownError]) + "... (all of it: --json)"
}
