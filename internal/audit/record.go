// Package audit is the memory of the worker: one record for each decision and each outcome, append-only and
// chained by hashes, so that what happened to a claim can be shown and proved years later (RN-BIL-005 section
// VII).
//
// How a claim stands is a pure fold of its records ([State.Add]), kept as one row for each open claim in the
// transaction that appends. It is the only answer to that question.
//
// The package holds what the stores below it have in common: the records and their bytes, the fold, the
// chain, the signed heads and cuts, and the group commit. The stores carry the name of their technology and
// are held to one conformance suite (audittest).
package audit

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
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
	// KindRedriven says that a person had a claim sent again before its time. It is neither a decision nor
	// the end of a round: the claim is heard of, and its count goes on.
	KindRedriven Kind = 6
	// KindDecisionRefused says that a person's answer was no decision, so that the person was asked again. It
	// is neither a decision of the rule nor the end of a round, and the claim stands as it stood.
	KindDecisionRefused Kind = 7
	// KindSubmitted, KindResubmitted and KindAbandoned are outcomes: how a round of submissions of a claim
	// ended. All outcomes are from 16 up, and stay together.
	KindSubmitted   Kind = 16
	KindResubmitted Kind = 17
	KindAbandoned   Kind = 18
)

var kindNames = map[Kind]string{
	KindRetry: "RETRY", KindExhausted: "MAX_RETRIES_EXCEEDED", KindPermanent: "PERMANENT_ERROR",
	KindRejected: "REJECTED", KindRedriven: "REDRIVEN", KindDecisionRefused: "DECISION_REFUSED",
	KindSubmitted: "SUBMITTED", KindResubmitted: "RESUBMITTED", KindAbandoned: "ABANDONED",
}

// String returns the kind's name as it stands in exports and events.
func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// KindOf returns the kind of a name: that of a [retry.Outcome], or of an outcome that a model reports; 0 for
// another.
func KindOf(name string) (kind Kind) {
	for k, n := range kindNames {
		if n == name {
			kind = k
		}
	}
	return kind
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// IsDecision reports whether a record of this kind holds an answer of the rule: retry, exhausted or
// permanent.
func (k Kind) IsDecision() bool { return k >= KindRetry && k <= KindPermanent }

// Ends reports whether a record of this kind ends its claim: the insurer accepted it, or it was given up.
func (k Kind) Ends() bool { return k == KindSubmitted || k == KindAbandoned }

// Key identifies a decision. Two deliveries of a job with the same inputs have the same key and get the same
// answer. Job keys start again when a broker's data is wiped, so the cluster and the process instance are
// part of it. The claim is among the inputs: one key is of one claim, behind whose lock a store looks for it.
type Key struct {
	// Cluster is the configured name of the Zeebe cluster.
	Cluster string `json:"cluster"`
	// JobKey and ProcessInstanceKey are the broker's; in JSON texts, as in the events: they are larger than
	// what JavaScript and its like read exactly as a number.
	JobKey             int64 `json:"jobKey,string"`
	ProcessInstanceKey int64 `json:"processInstanceKey,string"`
	// Inputs is a keyed hash of the job's inputs; see [Secret.Inputs].
	Inputs Inputs `json:"inputsHash"`
}

// Inputs is a keyed hash of the inputs of a job: without the store's key it says nothing about them.
type Inputs [16]byte

// MarshalText writes the hash in hexadecimal digits.
func (i Inputs) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(i[:])), nil }

// Record is one fact about a claim. It holds no personal data: its texts were redacted before they got here.
// Its JSON form is that of exports, and stable.
//
// ID, Chain, Seq, Prev, Hash and Course are given by the store when the record is appended.
type Record struct {
	// ID orders the records of a store: of two records of one claim the later one has the greater ID.
	ID int64 `json:"id"`
	// Chain is the hash chain that the record belongs to, Seq its place in it, from 1 without gaps.
	Chain int   `json:"chain"`
	Seq   int64 `json:"seq"`
	// Prev is the ID of the record before it about the same claim since that one's last end; 0 for none.
	Prev int64 `json:"prev"`
	// Hash covers all other fields and the hash of the record before.
	Hash Hash `json:"hash"`

	Kind Kind `json:"kind"`
	// At is when the decision was taken: UTC, in whole microseconds.
	At time.Time `json:"at"`
	Key
	// ClaimID is empty where the input was invalid and named no claim.
	ClaimID string `json:"claimId"`
	// RetryCount is, for a decision, the count of retries with this one; for a rejected job the one that it
	// brought; for an outcome and a re-drive, how many retries the round had.
	RetryCount int `json:"retryCount"`
	// NextRetryTime is when the claim is to be submitted again, in whole seconds; zero unless a retry was
	// decided, or a re-drive keeps the schedule.
	NextRetryTime time.Time `json:"nextRetryTime,omitzero"`
	// MaxRetries is how many retries the policy allows, Class, Rule and Code are what was found in the error
	// text: of decisions only.
	MaxRetries int         `json:"maxRetries,omitempty"`
	Class      retry.Class `json:"errorClassification,omitempty"`
	Rule       string      `json:"ruleId,omitempty"`
	Code       string      `json:"matchedCode,omitempty"`
	// Policy is the one that decided; for a rejected job the one that would have, for an outcome and a
	// re-drive the one that decided last. It is empty where there is none.
	Policy string `json:"policy,omitempty"`
	// HeldBy is with whom a stopped claim is, where the model says so, and DecidedBy who decided what became
	// of it.
	HeldBy    string `json:"with,omitempty"`
	DecidedBy string `json:"decidedBy,omitempty"`
	// Course is how the claim went that ended by this record; zero for all others.
	Course Course `json:"course,omitzero"`
	// Message and Variables are what the job was answered with: the text of a BPMN error or an incident, and
	// a JSON object of variables, of which the answer of RN-BIL-004 takes five. The variable originalError is
	// left out: it is the job's own text, and is put in again from there when the answer is sent (RN-BIL-005
	// section 10.1, LGPD).
	Message   string `json:"message,omitempty"`
	Variables string `json:"-"`
	// Detail is a JSON object with the rest; see [contract.Facts].
	Detail string `json:"-"`
}

// sinceSubmission is how many seconds before the record the claim was submitted, 0 where its task does not
// say. More than a day is the fault of a clock.
func (r *Record) sinceSubmission() int64 {
	seconds := gjson.Get(r.Variables, "retryDecision.secondsSinceLastSubmission").Int()
	if seconds < 0 || seconds > 24*60*60 {
		return 0
	}
	return seconds
}

// Facts returns what the record says beyond its columns. It fails only where the stored bytes are not what
// this worker writes.
func (r *Record) Facts() (contract.Facts, error) {
	f, err := contract.Read(r.Variables, r.Detail)
	if err != nil {
		return contract.Facts{}, fmt.Errorf("audit record %d: %w", r.ID, err)
	}
	return f, nil
}
