package report

import (
	"encoding/json"
	"fmt"
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
	// Justification and Operator are what a person said, and who; RedriveID is the command by which they did.
	Justification string `json:"justification,omitempty"`
	Operator      string `json:"operator,omitempty"`
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
		Justification: facts.Justification, Operator: facts.Operator, RedriveID: facts.RedriveID,
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
