// Package audit is the memory of the worker: one record for each decision and each outcome, append-only and chained by
// hashes, so that what happened to a claim can be told and proved years later (RN-BIL-005 section VII).
//
// It holds what the stores below it have in common: the records and their bytes, the chain, the signed heads and stubs,
// the group commit, and the questions that are asked of the history. The stores carry the name of their technology and
// are held to one conformance suite (audittest).
package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Kind says what a record is about.
type Kind uint8

// The kinds of record. The numbers are stored and hashed: they never change. The zero value is none of them.
const (
	// KindRetry, KindExhausted and KindPermanent are decisions.
	KindRetry     Kind = 1
	KindExhausted Kind = 2
	KindPermanent Kind = 3
	// KindRejected is a job whose input was invalid: an incident.
	KindRejected Kind = 4
	// KindUndelivered says that the answer of an earlier record did not reach the process: the job was gone.
	KindUndelivered Kind = 5
	// KindRedriven says that a person had a claim sent again before its time. It is neither a decision nor the end of a
	// round: the claim is heard of, and its count goes on.
	KindRedriven Kind = 6
	// KindSubmitted, KindResubmitted and KindAbandoned are outcomes: how a round of submissions of a claim ended. All
	// outcomes are from 16 up, and stay together.
	KindSubmitted   Kind = 16
	KindResubmitted Kind = 17
	KindAbandoned   Kind = 18
)

// FirstOutcome is the least of the kinds that are outcomes.
const FirstOutcome = KindSubmitted

var kindNames = map[Kind]string{
	KindRetry: "RETRY", KindExhausted: "MAX_RETRIES_EXCEEDED", KindPermanent: "PERMANENT_ERROR",
	KindRejected: "REJECTED", KindUndelivered: "UNDELIVERED", KindRedriven: "REDRIVEN",
	KindSubmitted: "SUBMITTED", KindResubmitted: "RESUBMITTED", KindAbandoned: "ABANDONED",
}

// String returns the kind's name as it stands in exports and events.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// IsDecision reports whether a record of this kind holds an answer of the rule: retry, exhausted or permanent.
func (k Kind) IsDecision() bool { return k >= KindRetry && k <= KindPermanent }

// IsOutcome reports whether a record of this kind says how a round of submissions ended.
func (k Kind) IsOutcome() bool { return k >= FirstOutcome }

// Key tells one decision from another. Two deliveries of a job with the same inputs have the same key and get the same
// answer. Job keys start again when a broker's data is wiped, so the cluster and the process instance are part of it.
type Key struct {
	// Cluster is the configured name of the Zeebe cluster.
	Cluster string
	// JobKey and ProcessInstanceKey are the broker's.
	JobKey, ProcessInstanceKey int64
	// Inputs is a keyed hash of the job's inputs; see [Secret.Inputs].
	Inputs [16]byte
}

// Record is one fact about a claim. It holds no personal data: its texts were redacted before they got here.
//
// ID, Chain, Seq and Hash are given by the store when the record is appended.
type Record struct {
	// ID orders the records of a store: of two records of one claim the later one has the greater ID. (In PostgreSQL one of a
	// cancelled instance may become visible after that of the next instance, although its ID is less.)
	ID int64
	// Chain is the hash chain that the record belongs to, Seq its place in it, from 1 without gaps.
	Chain int
	Seq   int64
	// Hash covers all other fields and the hash of the record before.
	Hash Hash

	Kind Kind
	// At is when the decision was taken: UTC, in whole microseconds.
	At time.Time
	Key
	// ClaimID is empty where the input was invalid and named no claim.
	ClaimID string
	// RetryCount is the count that the job brought; for an outcome and a re-drive, how many retries the round had.
	RetryCount int
	// NextRetryTime is when the claim is to be submitted again, in whole seconds; zero unless Kind is KindRetry.
	NextRetryTime time.Time
	// Message and Variables are what the job was answered with: the text of a BPMN error or an incident, and a JSON
	// object of variables. The variable originalError is left out: it is the job's own text, and is put in again from
	// there when the answer is sent (RN-BIL-005 section V, LGPD).
	Message, Variables string
	// Detail is a JSON object with the rest; see [Facts].
	Detail string
}

// Facts is everything that a record tells beyond its own fields, read from Variables and Detail. Its JSON names are
// those of the process variables and of RN-BIL-005 section VII. What a kind of record does not know is zero.
type Facts struct {
	ShouldRetry         bool   `json:"shouldRetry"`
	RetryCount          int    `json:"retryCount"` // as answered
	MaxRetries          int    `json:"maxRetries"`
	BackoffMinutes      int    `json:"backoffMinutes"`
	RetryReason         string `json:"retryReason,omitempty"`
	ErrorClassification string `json:"errorClassification,omitempty"`

	// RetryDecision is how the decision explains itself. Of a job type that does not answer with it, it lies in the detail.
	RetryDecision Explanation `json:"retryDecision"`
	Detail
}

// Explanation is how a decision explains itself: the object `retryDecision` of the process variables. Durations are ISO 8601.
// What is not known, or did not happen, is zero. Records of older versions have no Reason, Bounds, Hint, Deadline, Advice,
// Overrides and Ignored.
type Explanation struct {
	// Policy, at PolicyVersion, has decided; RuleID gave the error its class, by MatchedCode where it looks for a code.
	Policy        string `json:"policy,omitempty"`
	PolicyVersion string `json:"policyVersion,omitempty"`
	RuleID        string `json:"ruleId,omitempty"`
	MatchedCode   string `json:"matchedCode,omitempty"`
	// Reason is the step of the rule that settled it: COUNT, PERMANENT, DEADLINE, HINT or BACKOFF.
	Reason string `json:"reason,omitempty"`
	// DelayBeforeJitter is the policy's own wait before jitter, BackoffDuration the wait itself; PT0M where it is not retried.
	DelayBeforeJitter string `json:"delayBeforeJitter,omitempty"`
	BackoffDuration   string `json:"backoffDuration,omitempty"`
	// Bounds are what cut the wait: MIN, MAX, DEADLINE.
	Bounds      []string `json:"bounds,omitempty"`
	RetriesLeft int      `json:"retriesLeft"`
	// Hint is what the other side asked for, also where another step settled the decision.
	Hint *Hint `json:"hint,omitempty"`
	// Deadline is the time after which no try is made: UTC, in whole seconds.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Advice is what to do before the claim is sent again: CHECK_STATUS, ask for the protocol's status.
	Advice string `json:"advice,omitempty"`
	// SecondsSinceLastSubmission is negative where the submitting system's clock ran ahead.
	SecondsSinceLastSubmission int64 `json:"secondsSinceLastSubmission,omitempty"`
	// Overrides are the numbers of the policy that the task or the job had changed.
	Overrides *Overrides `json:"overrides,omitempty"`
	// Ignored are the job's variables that could not be read.
	Ignored []Ignored `json:"ignored,omitempty"`
}

// Ignored is a variable of another system that could not be read, so that the decision is the one without it. Reason says
// why: TYPE, UNREADABLE, AMBIGUOUS, NEGATIVE or YEAR.
type Ignored struct {
	Variable string `json:"variable"`
	Reason   string `json:"reason"`
}

// Hint is when the other side asked to be tried again: After a span, or not before Until. Source says where that was
// found: VARIABLE, TEXT or WINDOW.
type Hint struct {
	Source string     `json:"source"`
	After  string     `json:"after,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
}

// Overrides are numbers of a policy that were changed for one job; what was not changed is nil or empty.
type Overrides struct {
	MaxRetries *int   `json:"maxRetries,omitempty"`
	Base       string `json:"base,omitempty"`
	Max        string `json:"max,omitempty"`
	Deadline   string `json:"deadline,omitempty"`
}

// Detail is what a record keeps beside its columns and the answer.
type Detail struct {
	// ProcessID and ElementID say which task of which model asked.
	ProcessID string `json:"processId,omitempty"`
	ElementID string `json:"elementId,omitempty"`
	// SubmissionError is the insurer's text, redacted and cut.
	SubmissionError string `json:"submissionError,omitempty"`
	// Steps are the times of the six steps of a decision; nil for other records.
	Steps *Steps `json:"steps,omitempty"`
	// ExecutionTimeMs is how long the analysis took, in milliseconds.
	ExecutionTimeMs float64 `json:"executionTimeMs,omitempty"`
	// Attempts is, for an outcome and a re-drive, how often the claim was submitted in this round; 0 for other records.
	Attempts int `json:"attempts,omitempty"`
	// FirstFailureTime is, for an outcome and a re-drive, when the first submission of the round was found to have
	// failed; nil where none had.
	FirstFailureTime *time.Time `json:"firstFailureTime,omitempty"`
	// Undelivered is, for a record of KindUndelivered, the hash of the record whose answer did not arrive.
	Undelivered string `json:"undelivered,omitempty"`
	// Justification is why a person had the claim sent again or gave it up, redacted, at most 500 characters; Operator is
	// who, redacted, at most 100. Both are empty where nobody said so.
	Justification string `json:"justification,omitempty"`
	Operator      string `json:"operator,omitempty"`
	// RedriveID is the UUID of the command that had the claim sent again; empty where none had.
	RedriveID string `json:"redriveId,omitempty"`
	// Traceparent is the trace that the record belongs to, as W3C writes it; empty where there is none. It is no input of
	// the decision, so that a job is known again whatever trace it comes with.
	Traceparent string `json:"traceparent,omitempty"`
}

// WithTraceparent is a record's detail, a JSON object that names something else already, with a traceparent.
func WithTraceparent(detail, traceparent string) string {
	return strings.TrimSuffix(detail, "}") + `,"traceparent":"` + traceparent + `"}`
}

// Steps are the times of the six steps that every decision takes (RN-BIL-005 section VII). The rule is one computation
// of some microseconds, so that the four steps within it bear the same time.
type Steps struct {
	// ErrorReceived is when the job was received: UTC, in whole microseconds.
	ErrorReceived time.Time `json:"errorReceived"`
	// AfterMicros says, for each of [StepNames], how many microseconds later it was done.
	AfterMicros [6]int64 `json:"afterMicros"`
}

// StepNames are the six steps in their order.
func StepNames() [6]string {
	return [6]string{"errorReceived", "errorClassified", "counterChecked", "backoffComputed", "decisionTaken", "nextTryScheduled"}
}

// Times returns when each of [StepNames] was done.
func (s *Steps) Times() (times [6]time.Time) {
	for i, after := range s.AfterMicros {
		times[i] = s.ErrorReceived.Add(time.Duration(after) * time.Microsecond)
	}
	return times
}

// Facts reads what the record tells beyond its own fields. It fails only where the stored bytes are not what this
// worker writes.
func (r *Record) Facts() (Facts, error) {
	var f Facts
	for _, part := range []struct{ name, text string }{{"variables", r.Variables}, {"detail", r.Detail}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), &f); err != nil {
			return Facts{}, fmt.Errorf("audit record %d: its %s cannot be read: %w", r.ID, part.name, err)
		}
	}
	return f, nil
}
