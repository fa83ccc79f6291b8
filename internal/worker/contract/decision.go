package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Decision is the answer to a decision job as process variables: the agreed names of RN-BIL-005 section 3.2,
// and everything else in the one object `retryDecision`, so that the agreed names stay as they are.
type Decision struct {
	ShouldRetry         bool        `json:"shouldRetry"`
	RetryCount          int         `json:"retryCount"`
	MaxRetries          int         `json:"maxRetries"`
	BackoffMinutes      int         `json:"backoffMinutes"`
	NextRetryTime       *time.Time  `json:"nextRetryTime"` // null unless the claim is retried
	RetryReason         string      `json:"retryReason"`
	ErrorClassification retry.Class `json:"errorClassification"`
	RetryDecision       Explanation `json:"retryDecision"`
}

// Explanation is how a decision explains itself: the object `retryDecision`. Durations are ISO 8601, so that
// a timer event can use them; times are UTC in whole seconds. What is not known, or did not happen, is zero
// and left out.
type Explanation struct {
	// Policy, at PolicyVersion, has decided; RuleID gave the error its class, by MatchedCode where it looks
	// for a code.
	Policy        string `json:"policy,omitempty"`
	PolicyVersion string `json:"policyVersion,omitempty"`
	RuleID        string `json:"ruleId,omitempty"`
	MatchedCode   string `json:"matchedCode"`
	// MatchedMeaning is what MatchedCode means by its table, such as the term of a glosa, or what its rule is
	// about, in the language of the answer; empty where neither is known.
	MatchedMeaning string `json:"matchedMeaning,omitempty"`
	// Reason is the step of the rule that settled it.
	Reason retry.Step `json:"reason,omitempty"`
	// DelayBeforeJitter is the policy's own wait before jitter, BackoffDuration the wait itself; PT0M where
	// it is not retried.
	DelayBeforeJitter string `json:"delayBeforeJitter,omitempty"`
	BackoffDuration   string `json:"backoffDuration,omitempty"`
	// With is, for a decision that stops a claim, who must act: the team of the rule that stops it, else whom
	// the task's header onPermanent or onExhausted names; empty where neither does.
	With string `json:"with,omitempty"`
	// Bounds are what cut the wait: MIN, MAX, DEADLINE.
	Bounds      []retry.Bound `json:"bounds,omitempty"`
	RetriesLeft int           `json:"retriesLeft"`
	// CountFrom is TRAIL where the process has lost its count, so that the audit trail's was taken; empty
	// otherwise.
	CountFrom string `json:"countFrom,omitempty"`
	// Hint is what the other side asked for, also where another step settled the decision.
	Hint retry.Hint `json:"hint,omitzero"`
	// Deadline is the time after which no try is made.
	Deadline time.Time `json:"deadline,omitzero"`
	// Advice is what to do before the claim is sent again.
	Advice string `json:"advice,omitempty"`
	// SecondsSinceLastSubmission is negative where the submitting system's clock ran ahead.
	SecondsSinceLastSubmission int64 `json:"secondsSinceLastSubmission,omitempty"`
	// Overrides are the numbers of the policy that the task or the job had changed.
	Overrides retry.Overrides `json:"overrides,omitzero"`
	// Ignored are the job's variables that could not be read.
	Ignored []string `json:"ignored,omitempty"`
}

// Of returns a decision of the rule as jobs of this type get it, its reason in a language.
func Of(d *retry.Decision, jobType string, l text.Language) Decision {
	words := text.In(l)
	c := Decision{
		ShouldRetry:         d.Outcome == retry.OutcomeRetry,
		RetryCount:          d.RetryCount,
		MaxRetries:          d.MaxRetries,
		BackoffMinutes:      d.BackoffMinutes(),
		RetryReason:         words.Text(d.Reason()),
		ErrorClassification: d.Error.Class,
		RetryDecision:       explain(d),
	}
	if c.ShouldRetry {
		c.NextRetryTime = &d.NextRetryTime
	}
	if about := words.Name("rule", d.Error.RuleID); d.Error.Means == "" && about != d.Error.RuleID {
		c.RetryDecision.MatchedMeaning = about
	}
	if jobType == BackoffJobType { // RN-BIL-004 section 3.2
		c.RetryDecision.With = "" // its model is not told, and leaves the claim with whom it names
		if c.ShouldRetry {
			c.RetryReason = words.Sprintf("Retry %d of %d", d.RetryCount, d.MaxRetries)
		}
	}
	return c
}

func explain(d *retry.Decision) Explanation {
	x := Explanation{
		Policy:                     d.Policy,
		PolicyVersion:              d.PolicyVersion,
		RuleID:                     d.Error.RuleID,
		MatchedCode:                d.Error.Code,
		MatchedMeaning:             d.Error.Means,
		Reason:                     d.Step,
		DelayBeforeJitter:          ISODuration(d.Delay),
		BackoffDuration:            ISODuration(d.Backoff),
		Bounds:                     d.Bounds,
		RetriesLeft:                max(d.MaxRetries-d.RetryCount, 0),
		CountFrom:                  d.CountFrom,
		Hint:                       d.Hint,
		Deadline:                   d.Deadline,
		Advice:                     d.Advice,
		SecondsSinceLastSubmission: int64(d.SinceLastSubmission / time.Second),
		Overrides:                  d.Overrides,
		Ignored:                    d.Ignored,
	}
	if d.Outcome == retry.OutcomePermanent {
		x.With = d.Error.Team
	}
	return x
}

// ISODuration writes a duration as [retry.ISODuration] does.
func ISODuration(d time.Duration) string { return retry.ISODuration(d).String() }

// Detail is what a record of the audit trail keeps in addition to its columns and the answer. What a kind of
// record does not know is zero and left out.
type Detail struct {
	// ProcessID and ElementID name the task of the model that asked.
	ProcessID string `json:"processId,omitempty"`
	ElementID string `json:"elementId,omitempty"`
	// SubmissionError is the insurer's text, redacted and cut.
	SubmissionError string `json:"submissionError,omitempty"`
	// Steps are the times of the six steps of a decision; nil for other records.
	Steps *Steps `json:"steps,omitempty"`
	// ExecutionTimeMs is how long the analysis took, in milliseconds.
	ExecutionTimeMs float64 `json:"executionTimeMs,omitempty"`
	// Attempts is, for an outcome and a re-drive, how often the claim was submitted in this round; 0 for
	// other records.
	Attempts int `json:"attempts,omitempty"`
	// FirstFailureTime is, for an outcome and a re-drive, when the first submission of the round was found to
	// have failed; zero where none had.
	FirstFailureTime time.Time `json:"firstFailureTime,omitzero"`
	// Policy is, for a rejected input, the one that would have decided; for an outcome and a re-drive, the
	// one that decided last. It is empty where there is none.
	Policy string `json:"policy,omitempty"`
	// Justification is why a person had the claim sent again or gave it up, redacted, at most
	// [MaxJustification] characters; DecidedBy is by whom that was decided, as given, at most [MaxDecidedBy]:
	// a user of the hospital, not a patient. Both are empty where the model did not say so.
	Justification string `json:"justification,omitempty"`
	DecidedBy     string `json:"decidedBy,omitempty"`
	// RedriveID is the UUID of the command that had the claim sent again; empty where none had.
	RedriveID string `json:"redriveId,omitempty"`
	// RedriveWait is how long the process waits before it sends the claim again, as ISO 8601; empty where it
	// does so at once.
	RedriveWait string `json:"redriveWait,omitempty"`
	// DecisionProblem is what was wrong with a person's answer that was no decision, redacted, at most
	// [MaxDecisionProblem] characters.
	DecisionProblem string `json:"decisionProblem,omitempty"`
}

// Steps are the times of the six steps that every decision takes (RN-BIL-005 section VII). The rule is one
// computation of some microseconds, so the four steps within it bear the same time.
type Steps struct {
	// ErrorReceived is when the job was received: UTC, in whole microseconds.
	ErrorReceived time.Time `json:"errorReceived"`
	// AfterMicros says how many microseconds later each was done: error received, error classified, counter
	// checked, backoff computed, decision taken, next try scheduled.
	AfterMicros [6]int64 `json:"afterMicros"`
}

// Times returns when each was done.
func (s *Steps) Times() (times [6]time.Time) {
	for i, after := range s.AfterMicros {
		times[i] = s.ErrorReceived.Add(time.Duration(after) * time.Microsecond)
	}
	return times
}

// Facts is everything that a record says beyond its columns, by the names of the process variables and of
// RN-BIL-005 section VII. What a kind of record does not know is zero.
type Facts struct {
	Decision
	Detail
}

// Read reads the variables and the detail of a record, of any job type; either may be empty. It fails only
// where they are not what this package writes.
func Read(variables, detail string) (Facts, error) {
	var f Facts
	for _, part := range []struct{ name, text string }{{"variables", variables}, {"detail", detail}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), &f); err != nil {
			return Facts{}, fmt.Errorf("its %s cannot be read: %w", part.name, err)
		}
	}
	return f, nil
}

// Encode returns the variables of a decision as they are stored.
func (d *Decision) Encode() string { return encode(d) }

// Encode returns the detail of a record as it is stored.
func (d *Detail) Encode() string { return encode(d) }

// backoffAnswer has the five names of RN-BIL-004 section 3.2.
type backoffAnswer struct {
	ShouldRetry    bool       `json:"shouldRetry"`
	NextRetryTime  *time.Time `json:"nextRetryTime"`
	RetryCount     int        `json:"retryCount"`
	RetryReason    string     `json:"retryReason"`
	BackoffMinutes int        `json:"backoffMinutes"`
}

// AnswerTo returns stored variables as a job of this type is answered with them: those of its rule, and for
// [JobType] its own error text, which is not stored: it repeats what the process holds already (RN-BIL-005
// section 3.2).
func AnswerTo(jobType, stored, originalError string) string {
	if jobType != BackoffJobType {
		return strings.TrimSuffix(stored, "}") + `,"` + OriginalError + `":` + encode(originalError) + "}"
	}
	var answer backoffAnswer
	_ = json.Unmarshal([]byte(stored), &answer) // this package wrote it
	return encode(answer)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of these types every value can be written
	}
	return string(b)
}
