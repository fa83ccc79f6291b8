package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

func newHistory(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "history CLAIM",
		Short: "Tell the story of a claim: every decision with its six steps",
		Long: `Tells what happened to a claim, from the audit store: every decision with its
six steps (error received, error classified, counter checked, backoff computed,
decision taken, next try scheduled) and what each found, rejected inputs,
answers that did not reach the process, claims that a person had sent again and
why, and how each round of submissions ended.

Times are UTC. The insurer's texts are shown as they are kept: without personal
data. It changes nothing and works beside a running worker.`,
		Example: `  worker history CLM-ENC-001-1234567890
  worker history CLM-ENC-001-1234567890 --json | jq '.records[].kind'`,
		Args: oneClaim,
	}
	asJSON := command.Flags().Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, args []string) error {
		return askClaim(command, args[0], func(records []audit.Record) error {
			h, err := historyOf(records, now())
			if err != nil {
				return fmt.Errorf("%w; worker audit verify reports whether it was changed, worker audit export shows it as it is", err)
			}
			return printAnswer(command, *asJSON, h, h.text())
		})
	}
	return command
}

// history is what is known of a claim. Its JSON form is stable: names are added, never changed. Names that the process
// variables have too mean the same.
type history struct {
	ClaimID string `json:"claimId"`
	// Status is how the claim stands, Standing the same in words.
	Status   string `json:"status"`
	Standing string `json:"-"`
	Records  []told `json:"records"`
	byHash   map[string]int
}

// told is one record of the story. What its kind does not know is left out.
type told struct {
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
	beside
	SubmissionError string     `json:"submissionError,omitempty"`
	ExecutionTimeMs float64    `json:"executionTimeMs,omitempty"`
	Steps           []toldStep `json:"steps,omitempty"`
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
	next  time.Time // zero where there is no NextRetryTime
	facts contract.Facts
}

// beside is what a decision keeps beside an answer that does not hold it: that of job type retry-submission-backoff.
type beside struct {
	MaxRetries          int             `json:"maxRetries,omitempty"`
	ErrorClassification string          `json:"errorClassification,omitempty"`
	RetryDecision       json.RawMessage `json:"retryDecision,omitempty"`
}

// toldStep is one of the six steps of a decision.
type toldStep struct {
	Step  string    `json:"step"`
	At    time.Time `json:"at"`
	Found string    `json:"found"`
}

// historyOf makes the story of a claim's records, of which there is at least one.
func historyOf(records []audit.Record, now time.Time) (history, error) {
	h := history{ClaimID: records[0].ClaimID, byHash: map[string]int{}}
	for i := range records {
		one, err := tell(&records[i])
		if err != nil {
			return history{}, err
		}
		h.Records = append(h.Records, one)
		h.byHash[one.Hash] = i
	}
	h.Status, h.Standing = standing(&h.Records[len(records)-1], now)
	return h, nil
}

func tell(r *audit.Record) (told, error) {
	facts, err := r.Facts()
	if err != nil {
		return told{}, err
	}
	t := told{
		place:     placeOf(r),
		ProcessID: facts.ProcessID, ElementID: facts.ElementID,
		RetriesUsed: r.RetryCount, Message: r.Message, SubmissionError: facts.SubmissionError, ExecutionTimeMs: facts.ExecutionTimeMs,
		Attempts: facts.Attempts, FirstFailureTime: facts.FirstFailureTime, Undelivered: facts.Undelivered,
		Justification: facts.Justification, Operator: facts.Operator, RedriveID: facts.RedriveID,
		kind: r.Kind, next: r.NextRetryTime, facts: facts,
	}
	if !r.NextRetryTime.IsZero() {
		t.NextRetryTime = &r.NextRetryTime
	}
	if r.Kind.IsDecision() && r.Variables != "" {
		t.Answer = json.RawMessage(r.Variables)
		if r.Detail != "" { // Facts has read it already
			_ = json.Unmarshal([]byte(r.Detail), &t.beside)
		}
	}
	if facts.Steps != nil {
		found, times := findings(r, &facts), facts.Steps.Times()
		for i, name := range contract.StepNames() {
			t.Steps = append(t.Steps, toldStep{name, times[i], found[i]})
		}
	}
	return t, nil
}

// findings says for each of the six steps of a decision what it found.
func findings(r *audit.Record, f *contract.Facts) [6]string {
	x := &f.RetryDecision
	found := [6]string{f.SubmissionError, classWords(string(f.ErrorClassification), x), countWords(r, f), "none", "", "none"}
	if r.Kind == audit.KindRetry {
		found[3] = waitWords(x, isoWords(x.BackoffDuration))
		found[4] = fmt.Sprintf("try again, retry %d of %d", f.RetryCount, f.MaxRetries)
		found[5] = "for " + utc(r.NextRetryTime)
		if x.Deadline != nil {
			found[5] += "; the deadline is " + utc(*x.Deadline)
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
		found[4] += fmt.Sprintf(", no retry fits before the deadline %s", utc(*x.Deadline))
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

// standing tells from the last record of a claim how it stands: a stable name and words.
func standing(last *told, now time.Time) (status, words string) {
	switch last.kind {
	case audit.KindRetry:
		retries, due := fmt.Sprintf("retry %d of %d", last.facts.RetryCount, last.facts.MaxRetries), last.next
		if due.After(now) {
			return "waiting", fmt.Sprintf("waits for %s, due %s (in %s)", retries, utc(due), lapse(due.Sub(now)))
		}
		return "overdue", fmt.Sprintf("%s was due %s, and nothing was heard since (for %s)", retries, utc(due), lapse(now.Sub(due)))
	case audit.KindExhausted:
		if x := last.facts.RetryDecision; x.Reason == retry.StepDeadline && x.Deadline != nil {
			return "exhausted", fmt.Sprintf("no retry fits before the deadline %s; the billing team reviews the claim", utc(*x.Deadline))
		}
		return "exhausted", "all retries are used up; the billing team reviews the claim"
	case audit.KindPermanent:
		return "permanent", "a retry cannot help; the registration team corrects the data"
	case audit.KindRejected:
		return "rejected", "an incident waits for an operator to correct the input"
	case audit.KindUndelivered:
		return "undelivered", "the last answer did not reach the process: look there whether the claim goes on"
	case audit.KindRedriven:
		return "redriven", fmt.Sprintf("sent again by %s, and nothing was heard since (for %s)", plain(last.who()), lapse(now.Sub(last.At)))
	case audit.KindSubmitted:
		return "submitted", "the insurer has accepted it"
	case audit.KindResubmitted:
		return "resubmitted", plain(last.who()) + " has submitted it again"
	case audit.KindAbandoned:
		return "abandoned", plain(last.who()) + " has given it up"
	default:
		return "unknown", "its last record is of a " + last.Kind + " that this worker does not know"
	}
}
