package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/term"
)

// History is what is known of a claim. Its JSON form is stable: names are added, never changed. Names that the process
// variables have too mean the same.
type History struct {
	ClaimID string `json:"claimId"`
	// Status is how the claim stands.
	Status  string          `json:"status"`
	Records []historyRecord `json:"records"`

	standing string         // the same in words
	byHash   map[string]int // from the hash of a record to its index
}

// historyRecord is one record of a history. Fields that its kind does not have are left out.
type historyRecord struct {
	place
	ProcessID string `json:"processId,omitempty"`
	ElementID string `json:"elementId,omitempty"`
	// RetriesUsed is the count that the job brought; for an outcome and a re-drive, how many retries the round had.
	RetriesUsed int `json:"retriesUsed"`
	// NextRetryTime is absent where the claim is not submitted again.
	NextRetryTime *time.Time `json:"nextRetryTime,omitempty"`
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
	// Undelivered is the hash of the record whose answer did not reach the process.
	Undelivered string `json:"undelivered,omitempty"`
	// Justification and DecidedBy are what a person said, and who; RedriveID is the command by which they did.
	Justification string `json:"justification,omitempty"`
	DecidedBy     string `json:"decidedBy,omitempty"`
	RedriveID     string `json:"redriveId,omitempty"`

	kind  audit.Kind
	facts contract.Facts
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

// HistoryOf returns the history of a claim's records, of which there is at least one.
func HistoryOf(records []audit.Record, now time.Time) (History, error) {
	h := History{ClaimID: records[0].ClaimID, byHash: map[string]int{}}
	for i := range records {
		one, err := historyRecordOf(&records[i])
		if err != nil {
			return History{}, err
		}
		h.Records = append(h.Records, one)
		h.byHash[one.Hash] = i
	}
	last := len(records) - 1
	h.Status, h.standing = redrive.StatusOf(&records[last], now), standing(&records[last], &h.Records[last].facts, now)
	return h, nil
}

func historyRecordOf(r *audit.Record) (historyRecord, error) {
	facts, err := r.Facts()
	if err != nil {
		return historyRecord{}, err
	}
	t := historyRecord{
		place:     placeOf(r),
		ProcessID: facts.ProcessID, ElementID: facts.ElementID,
		RetriesUsed: r.RetryCount, Message: r.Message, SubmissionError: facts.SubmissionError, ExecutionTimeMs: facts.ExecutionTimeMs,
		Attempts: facts.Attempts, FirstFailureTime: facts.FirstFailureTime, Undelivered: facts.Undelivered,
		Justification: facts.Justification, DecidedBy: facts.DecidedBy, RedriveID: facts.RedriveID,
		NextRetryTime: optional(r.NextRetryTime),
		kind:          r.Kind, facts: facts,
	}
	if r.Kind.IsDecision() && r.Variables != "" {
		t.Answer = json.RawMessage(r.Variables)
		if r.Detail != "" { // Facts has read it already
			_ = json.Unmarshal([]byte(r.Detail), &t.decision)
		}
	}
	if facts.Steps != nil {
		found, times := findings(r, &facts), facts.Steps.Times()
		for i, name := range contract.StepNames() {
			t.Steps = append(t.Steps, historyStep{name, times[i], found[i]})
		}
	}
	return t, nil
}

// findings words what each of the six steps of a decision found.
func findings(r *audit.Record, f *contract.Facts) [6]string {
	x := &f.RetryDecision
	found := [6]string{f.SubmissionError, classWords(string(f.ErrorClassification), x), countWords(r, f), "none", "", "none"}
	if r.Kind == audit.KindRetry {
		found[3] = waitWords(x, isoWords(x.BackoffDuration))
		found[4] = fmt.Sprintf("try again, retry %d of %d", f.RetryCount, f.MaxRetries)
		found[5] = "for " + term.Time(r.NextRetryTime)
		if x.Deadline != nil {
			found[5] += "; the deadline is " + term.Time(*x.Deadline)
		}
	} else {
		found[4] = "stop: BPMN error " + r.Kind.String()
		if x.Hint != nil {
			found[3] += ", although " + hintWords(x.Hint)
		}
	}
	if o := x.Overrides; o != nil {
		found[3] += " (overridden for this job: " + overridesWords(o) + ")"
	}
	if len(x.Ignored) > 0 {
		found[3] += " (ignored: " + ignoredWords(x.Ignored) + ")"
	}
	if x.Reason == retry.StepDeadline && x.Deadline != nil {
		found[4] += fmt.Sprintf(", no retry fits before the deadline %s", term.Time(*x.Deadline))
	}
	found[4] += settledWords(x)
	if advice := adviceWords(x); advice != "" {
		found[4] += "; " + advice
	}
	return found
}

func countWords(r *audit.Record, f *contract.Facts) string {
	words := fmt.Sprintf("%d of %d retries used", r.RetryCount, f.MaxRetries)
	if f.RetryDecision.CountFrom == retry.CountFromTrail {
		words += " by this trail (the process brought fewer: it has lost its count)"
	}
	if r.RetryCount >= f.MaxRetries {
		words += ": none is left"
	}
	return words
}

// standing words how a claim stands by its last record.
func standing(last *audit.Record, f *contract.Facts, now time.Time) string {
	who := term.Line(redrive.Person(f))
	switch last.Kind {
	case audit.KindRetry:
		retries, due := fmt.Sprintf("retry %d of %d", f.RetryCount, f.MaxRetries), last.NextRetryTime
		if due.After(now) {
			return fmt.Sprintf("waits for %s, due %s (in %s)", retries, term.Time(due), term.About(due.Sub(now)))
		}
		return fmt.Sprintf("%s was due %s, and nothing was heard since (for %s)", retries, term.Time(due), term.About(now.Sub(due)))
	case audit.KindExhausted:
		if x := f.RetryDecision; x.Reason == retry.StepDeadline && x.Deadline != nil {
			return fmt.Sprintf("no retry fits before the deadline %s; the billing team reviews the claim", term.Time(*x.Deadline))
		}
		return "all retries are used up; the billing team reviews the claim"
	case audit.KindPermanent:
		return "a retry cannot help; the registration team corrects the data"
	case audit.KindRejected:
		return "an incident waits for an operator to correct the input"
	case audit.KindUndelivered:
		return "the last answer did not reach the process: look there whether the claim goes on"
	case audit.KindRedriven:
		return fmt.Sprintf("sent again by %s, and nothing was heard since (for %s)", who, term.About(now.Sub(last.At)))
	case audit.KindSubmitted:
		return "the insurer has accepted it"
	case audit.KindResubmitted:
		return who + " has submitted it again"
	case audit.KindAbandoned:
		return who + " has given it up"
	default:
		return "its last record is of a kind that this worker does not know (" + last.Kind.String() + ")"
	}
}

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
