package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// wording words what is known of claims and decisions in a language, and holds what a command has said.
type wording struct {
	*text.Printer
	strings.Builder
}

// sayf says a paragraph. Its format is a text of the catalogue.
func (w *wording) sayf(format string, args ...any) {
	w.WriteString(text.Wrap("", w.Sprintf(format, args...)))
}

// linef says a line, whatever its length. Its format is a text of the catalogue.
func (w *wording) linef(format string, args ...any) {
	w.WriteString(text.Line(w.Sprintf(format, args...)) + "\n")
}

// heads are words in the language, such as the heads of a table. Each is a text of the catalogue.
func (w *wording) heads(words ...string) []string {
	for i, word := range words {
		words[i] = w.Text(text.Message{Format: word})
	}
	return words
}

// table says rows in columns that are two spaces apart. Each cell is on one line but the last of a row, which
// is broken to fit a terminal. A row of one cell is said as it is.
func (w *wording) table(indent string, rows [][]string) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], utf8.RuneCountInString(text.Line(cell)))
		}
	}
	for _, row := range rows {
		head, last := indent, row[len(row)-1]
		if len(row) == 1 {
			w.WriteString(strings.TrimRight(head+last, " \n") + "\n")
			continue
		}
		for i, cell := range row[:len(row)-1] {
			head += fmt.Sprintf("%-*s  ", widths[i], text.Line(cell))
		}
		w.WriteString(text.Wrap(head, last))
	}
}

// label says a line with a name before it.
func (w *wording) label(name, value string) {
	w.WriteString(text.Wrap(fmt.Sprintf("%-18s  ", name), value))
}

// json says a value in JSON, texts as they are.
func (w *wording) json(value any, indent string) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// steps words what each of the six steps of a decision found: of a retry with this wait, or of one that stops
// the claim with a BPMN error. The last is empty where the time of the next try is not known.
func (w *wording) steps(d *contract.Decision, submissionError, wait, bpmnError string) [6]string {
	x, used := &d.RetryDecision, d.RetryCount
	found := [6]string{submissionError, w.class(d), "", wait, w.Sprintf("try again"), ""}
	if d.ShouldRetry {
		if used--; d.NextRetryTime != nil {
			found[5] = w.Sprintf("for %s", *d.NextRetryTime)
		}
	} else {
		found[3], found[5] = w.Sprintf("none"), w.Sprintf("none")
		found[4] = w.Sprintf("stop: BPMN error %s", bpmnError)
	}
	found[2] = w.Sprintf("%d of %d retries used", used, d.MaxRetries)
	if x.CountFrom == retry.CountFromTrail {
		found[2] += w.Sprintf(" by this trail (the process brought fewer: it has lost its count)")
	}
	if x.Overrides != (retry.Overrides{}) {
		changed, _ := json.Marshal(x.Overrides) // it was read as JSON
		found[3] += w.Sprintf(" (changed for this job: %s)", string(changed))
	}
	if len(x.Ignored) > 0 {
		found[3] += w.Sprintf(" (ignored: %s)", strings.Join(x.Ignored, ", "))
	}
	if !x.Deadline.IsZero() {
		found[4] += w.Sprintf("; the deadline is %s", x.Deadline)
	}
	if x.With != "" {
		found[4] += w.Sprintf("; left with %s", w.Name("with", x.With))
	}
	if x.Advice != "" {
		found[4] += "; " + w.Name("advice", x.Advice)
	}
	return found
}

// step names one of the six steps of a decision (RN-BIL-005, section VII), from 0.
func (w *wording) step(i int) string { return w.Name("step", strconv.Itoa(i+1)) }

// class names the class of an error, and why it has that.
func (w *wording) class(d *contract.Decision) string {
	name, x := w.Name("class", string(d.ErrorClassification)), &d.RetryDecision
	switch {
	case x.MatchedCode != "":
		return w.Sprintf("%s by %s: %s", name, x.RuleID, w.cause(x.RuleID, x.MatchedCode))
	case x.RuleID == retry.RuleUnknown:
		return w.Sprintf("%s: no rule of the policy matches it", name)
	default:
		return w.Sprintf("%s: rule %s matches it", name, x.RuleID)
	}
}

// wait words a wait, or the band in which it lies, and what made it so long. p is the policy of that name,
// nil where there is none now: only it knows how far its jitter reaches, and whether its min or max cut the
// wait.
func (w *wording) wait(x *retry.Explanation, band text.Range, p *retry.Policy) string {
	if p != nil {
		changed, err := p.With(x.Overrides)
		if p = changed; err != nil || p.Version() != x.PolicyVersion {
			p = nil // it is another one now, so that only the numbers of the record are known
		}
	}
	var why []string
	shown, before := w.Sprintf("%s", band), w.Span(span(x.DelayBeforeJitter))
	switch {
	case x.Step == retry.StepHint && x.Hint.Until.IsZero():
		after := time.Duration(x.Hint.After)
		why = append(why, w.Sprintf("the other side asked to come back after %s", after))
	case x.Step == retry.StepHint:
		why = append(why, w.Sprintf("the other side asked to come back at %s", x.Hint.Until))
	case p != nil && p.Jitter > 0:
		number, unit, _ := strings.Cut(before, " ")
		if !strings.HasSuffix(shown, " "+unit) {
			number = before
		}
		share := strconv.FormatFloat(100*p.Jitter, 'g', 3, 64)
		why = append(why, w.Sprintf("%s ± %s %%", number, w.Decimal(share)))
	case before != shown:
		why = append(why, w.Sprintf("%s before jitter", before))
	}
	for _, bound := range x.Bounds {
		switch {
		case bound == retry.BoundDeadline:
			why = append(why, w.Sprintf("pulled forward to the deadline %s", x.Deadline))
		case bound == retry.BoundMin && p != nil && band.Shortest == time.Duration(p.Min):
			why = append(why, w.Sprintf("minimum %s", band.Shortest))
		case bound == retry.BoundMax && p != nil && band.Longest == time.Duration(p.Max):
			why = append(why, w.Sprintf("maximum %s", band.Longest))
		}
	}
	if why == nil {
		return shown
	}
	return shown + " (" + strings.Join(why, ", ") + ")"
}

// span reads an ISO 8601 duration of a record, which the worker wrote.
func span(iso string) time.Duration {
	d, _ := retry.ParseDuration(iso)
	return d
}

// storedRecord is a record as it is stored, with its objects as JSON.
type storedRecord struct {
	*audit.Record

	Variables any `json:"variables,omitempty"`
	Detail    any `json:"detail,omitempty"`
}

// recordOf returns the record as it is printed.
func recordOf(r *audit.Record) storedRecord {
	return storedRecord{r, stored(r.Variables), stored(r.Detail)}
}

// stored returns a stored JSON object as it is, nil where there is none, and a text where it is damaged.
func stored(s string) any {
	switch {
	case s == "":
		return nil
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	default:
		return s
	}
}
