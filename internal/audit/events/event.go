// Package events publishes what was decided about a claim (RN-BIL-005 section 12.3): it makes CloudEvents of
// stored audit records, and relays them to a queue until the queue has acknowledged each. The queues are
// below it, in package queue. docs/events describes the events for their consumers.
package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// types are the types of event by the kind of record. A type also versions the layout of its data: each
// change of the layout makes a new type.
var types = map[audit.Kind]string{
	audit.KindRetry:           "retry.scheduled.v4",
	audit.KindExhausted:       "retry.max_retries_exceeded.v4",
	audit.KindPermanent:       "retry.permanent_error_detected.v4",
	audit.KindRejected:        "retry.input_rejected.v4",
	audit.KindSubmitted:       "retry.outcome_recorded.v4",
	audit.KindResubmitted:     "retry.outcome_recorded.v4",
	audit.KindAbandoned:       "retry.outcome_recorded.v4",
	audit.KindRedriven:        "retry.redriven.v4",
	audit.KindDecisionRefused: "retry.decision_refused.v4",
}

// TypeAuditHead is not about a record, but about the whole audit log.
const TypeAuditHead = "retry.audit_head.v1"

// namespace is this project's namespace for UUIDs of version 5. It never changes.
var namespace = uuid.MustParse("ad24a3ce-1a16-5a5c-8a23-8ac4fba3f0bb")

// ContentType is the media type of [Event.JSON].
const ContentType = "application/cloudevents+json"

// Event is the CloudEvent (1.0) of an audit record, or of the heads of the audit log. The zero value is none.
type Event struct {
	// Record is the ID of the record in its store, 0 for the heads.
	Record      int64  `json:"-"`
	SpecVersion string `json:"specversion"`
	// ID is the same whenever and by whichever replica the record is published, so that a consumer can drop a
	// repeat.
	ID     string `json:"id"`
	Source string `json:"source"`
	// Type is that of the kind of record, or [TypeAuditHead].
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"`
	DataContentType string    `json:"datacontenttype"`
	DataSchema      string    `json:"dataschema"`
	Time            time.Time `json:"time"`
	Data            any       `json:"data"`
	// Key orders events: those with one Key are published in the order of their records. It is the claim's
	// ID, or the process instance's key if no claim is known. The heads have a Key of their own.
	Key string `json:"partitionkey"`
	// JSON is all of the above, ready to be sent.
	JSON []byte `json:"-"`
}

// MaxBatch is how many events are sent together at most.
const MaxBatch = 256

// Publisher sends events to a queue.
type Publisher interface {
	// Publish sends up to [MaxBatch] events, no two with the same Key, and returns one result for each, in
	// order: nil if the queue has acknowledged it, an error if it refused it or may not have it. It returns
	// when ctx ends at the latest, and reconnects to a lost queue by itself.
	Publish(ctx context.Context, events []Event) []error
	// Close ends the connection. No Publish may run.
	Close() error
}

// FromRecord makes the event of a stored record. It depends on the record alone, so that every replica makes
// the same event, to the byte. It fails only for a record that this worker does not write.
func FromRecord(r *audit.Record) (Event, error) {
	kind, known := types[r.Kind]
	if !known {
		return Event{}, fmt.Errorf("audit record %d: no event is known for %s", r.ID, r.Kind)
	}
	data, err := dataOf(r)
	if err != nil {
		return Event{}, err
	}
	e := Event{Record: r.ID, Type: kind, Subject: r.ClaimID, Time: r.At, Data: data, Key: key(r)}
	if err := e.complete(r.Cluster, r.Hash.String()); err != nil {
		return Event{}, fmt.Errorf("audit record %d: %w", r.ID, err)
	}
	return e, nil
}

// key returns the Key of the record's event.
func key(r *audit.Record) string {
	return cmp.Or(r.ClaimID, strconv.FormatInt(r.ProcessInstanceKey, 10))
}

// data is what the event of a record holds: the names of RN-BIL-005 section 12.3, and the record as it is
// stored. What a kind of record does not know is zero and left out.
type data struct {
	Version int `json:"version"` // as in the types of records
	// The keys are texts: they are larger than what JavaScript and its like read exactly as a number.
	JobKey             int64  `json:"jobKey,string"`
	ProcessInstanceKey int64  `json:"processInstanceKey,string"`
	ClaimID            string `json:"claimId,omitempty"`
	RetryCount         int    `json:"retryCount"`
	Message            string `json:"message,omitempty"`
	// Variables and Detail are a [contract.Decision] and a [contract.Detail], to the byte as they are stored.
	Variables json.RawMessage `json:"variables,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
	Audit     struct {
		Chain int        `json:"chain"`
		Seq   int64      `json:"seq"`
		Hash  audit.Hash `json:"hash"`
	} `json:"audit"`

	// Of a retry.
	MaxRetries          int       `json:"maxRetries,omitzero"`
	BackoffMinutes      *int      `json:"backoffMinutes,omitempty"` // 0 is to try at once
	NextRetryTime       time.Time `json:"nextRetryTime,omitzero"`
	ScheduledAt         time.Time `json:"scheduledAt,omitzero"`
	ErrorClassification string    `json:"errorClassification,omitempty"`

	// Of a claim that is stopped.
	FinalError    string    `json:"finalError,omitempty"`
	TotalAttempts int       `json:"totalAttempts,omitzero"`
	TotalDuration string    `json:"totalDuration,omitempty"`
	ExceededAt    time.Time `json:"exceededAt,omitzero"`
	ErrorType     string    `json:"errorType,omitempty"`
	ErrorMessage  string    `json:"errorMessage,omitempty"`
	DetectedAt    time.Time `json:"detectedAt,omitzero"`
	Severity      string    `json:"severity,omitempty"`

	// Outcome is how a round ended.
	Outcome string `json:"outcome,omitempty"`
}

// dataOf returns what the record's event holds.
func dataOf(r *audit.Record) (*data, error) {
	f, err := r.Facts()
	if err != nil {
		return nil, err
	}
	d := &data{
		Version:            4,
		JobKey:             r.JobKey,
		ProcessInstanceKey: r.ProcessInstanceKey,
		ClaimID:            r.ClaimID,
		RetryCount:         r.RetryCount,
		Message:            r.Message,
		Variables:          json.RawMessage(r.Variables),
		Detail:             json.RawMessage(r.Detail),
	}
	d.Audit.Chain, d.Audit.Seq, d.Audit.Hash = r.Chain, r.Seq, r.Hash
	switch r.Kind {
	case audit.KindRetry:
		d.MaxRetries, d.BackoffMinutes = f.MaxRetries, &f.BackoffMinutes
		d.NextRetryTime, d.ScheduledAt = r.NextRetryTime, r.At
		d.ErrorClassification = string(f.ErrorClassification)
	case audit.KindExhausted:
		d.FinalError, d.TotalAttempts = f.SubmissionError, cmp.Or(f.Attempts, f.RetryCount+1)
		d.ExceededAt, d.Severity = r.At, "CRITICAL"
		if first := f.FirstFailureTime; !first.IsZero() { // it may be later than At, by another clock
			d.TotalDuration = contract.ISODuration(max(r.At.Sub(first), 0).Truncate(time.Second)).String()
		}
	case audit.KindPermanent:
		d.ErrorType = cmp.Or(f.RetryDecision.MatchedCode, f.RetryDecision.RuleID)
		d.ErrorMessage, d.DetectedAt, d.Severity = f.SubmissionError, r.At, "CRITICAL"
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned:
		d.Outcome = r.Kind.String()
	case audit.KindRejected, audit.KindRedriven, audit.KindDecisionRefused: // the record says all
	}
	return d, nil
}

// complete fills what all events have and writes the JSON. The ID is a UUID of version 5 of the name. The
// name of a record's event is the record's hash, which covers the record, its place in the chain and all
// records before it, so that no two records share it.
func (e *Event) complete(cluster, name string) (err error) {
	e.SpecVersion, e.DataContentType = "1.0", "application/json"
	e.ID = uuid.NewSHA1(namespace, []byte(name)).String()
	e.Source = "/analyze-retry/" + url.PathEscape(cluster)
	e.DataSchema = "urn:analyze-retry:schema:" + e.Type
	e.Time = e.Time.UTC()
	e.JSON, err = json.Marshal(e)
	return err
}

// auditHead is the data of a [TypeAuditHead].
type auditHead struct {
	Version int `json:"version"`
	// Key is the short name of the key that signed the heads, as in the worker's log.
	Key   string       `json:"key"`
	Heads []audit.Head `json:"heads"`
}

// FromHeads makes the event that shows how far the chains of an audit log go, signed, so that an auditor can
// later compare the store with what others keep. It depends on its arguments alone: the same heads make the
// same event. It leaves out a head that was not signed with the key; if none is left, it returns the zero
// event.
func FromHeads(cluster string, key audit.Public, heads []audit.Head) (Event, error) {
	heads = slices.DeleteFunc(slices.Clone(heads), func(h audit.Head) bool { return !key.CheckHead(h) })
	if len(heads) == 0 {
		return Event{}, nil
	}
	newest := slices.MaxFunc(heads, func(a, b audit.Head) int { return a.At.Compare(b.At) })
	d := auditHead{1, key.ID(), heads}
	e := Event{Type: TypeAuditHead, Time: newest.At, Data: d, Key: "audit-" + d.Key}
	name, err := json.Marshal(d)
	if err == nil {
		err = e.complete(cluster, string(name))
	}
	return e, err
}

// Heads returns the heads of a key in an event, none if the event is not a [TypeAuditHead]. It does not check
// their signatures.
func Heads(event []byte, key string) ([]audit.Head, error) {
	var e struct {
		Type string
		Data auditHead
	}
	err := json.Unmarshal(event, &e)
	switch {
	case e.Type != TypeAuditHead: // it is something else, and so may be its data
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("event %s: %w", TypeAuditHead, err)
	case e.Data.Key != key:
		return nil, nil
	}
	return e.Data.Heads, nil
}
