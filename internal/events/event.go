// Package events publishes what was decided about a claim (RN-BIL-005 section 12.3): it makes CloudEvents of
// stored audit records, and relays them to a queue until the queue has acknowledged each.
//
// The queues are below it, one package for each technology, and package queue picks one by a URL. docs/events
// describes the events for their consumers.
package events

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// The types of event. A type also versions the layout of its data: each change of the layout makes a new type.
const (
	TypeScheduled          = "retry.scheduled.v4"
	TypeMaxRetriesExceeded = "retry.max_retries_exceeded.v4"
	TypePermanentError     = "retry.permanent_error_detected.v4"
	TypeInputRejected      = "retry.input_rejected.v4"
	TypeOutcomeRecorded    = "retry.outcome_recorded.v4"
	TypeRedriven           = "retry.redriven.v4"
	TypeDecisionRefused    = "retry.decision_refused.v4"
	// TypeAuditHead is not about a record, but about the whole audit log.
	TypeAuditHead = "retry.audit_head.v1"
)

const (
	// version is the "version" of RN-BIL-005 section 12.3, as in the types of records.
	version = 4
	// critical is the severity of events that need a person.
	critical = "CRITICAL"
)

// namespace is this project's namespace for UUIDs of version 5. It never changes.
var namespace = uuid.MustParse("ad24a3ce-1a16-5a5c-8a23-8ac4fba3f0bb")

// ContentType is the media type of [Event.JSON].
const ContentType = "application/cloudevents+json"

// Event is the CloudEvent of an audit record, or of the heads of the audit log, ready to be sent. The zero
// value is none.
type Event struct {
	// Record is the ID of the record in its store, 0 for the heads.
	Record int64
	// ID is the same whenever and by whichever replica the record is published, so that a consumer can drop a
	// repeat.
	ID string
	// Type is one of the Type constants.
	Type string
	// Key orders events: those with one Key are published in the order of their records. It is the claim's
	// ID, or the process instance's key if no claim is known. The heads have a Key of their own.
	Key string
	// JSON is the whole event in the CloudEvents JSON format, version 1.0.
	JSON []byte
}

// MaxBatch is how many events are sent together at most.
const MaxBatch = 256

// Publisher sends events to a queue.
type Publisher interface {
	// Publish sends up to [MaxBatch] events, no two with the same Key, and returns one result for each, in
	// order: nil if the queue has acknowledged it, [ErrRefused] if the queue does not take it, another error
	// if it is not known whether the queue has it. It returns when ctx ends at the latest, and reconnects to
	// a lost queue by itself.
	Publish(ctx context.Context, events []Event) []error
	// Close ends the connection. No Publish may run.
	Close() error
}

// ErrRefused means that the queue is there, but does not take this event: no queue is bound for it, or there
// is no room.
var ErrRefused = errors.New("the queue refused the event")

// cloudEvent is an event in the JSON format of CloudEvents 1.0. PartitionKey is an extension, for the
// partitions of Kafka and its like.
type cloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`
	Source          string    `json:"source"`
	Type            string    `json:"type"`
	Subject         string    `json:"subject,omitempty"`
	DataContentType string    `json:"datacontenttype"`
	DataSchema      string    `json:"dataschema"`
	Time            time.Time `json:"time"`
	Data            any       `json:"data"`
	PartitionKey    string    `json:"partitionkey"`
}

// data is what the event of a record holds: the names of RN-BIL-005 section 12.3, and the record as it is
// stored.
type data struct {
	Version int    `json:"version"`
	ClaimID string `json:"claimId,omitempty"`
	// The keys are texts: they are larger than what JavaScript and its like read exactly as a number.
	JobKey             string `json:"jobKey"`
	ProcessInstanceKey string `json:"processInstanceKey"`
	// RetryCount is how many retries the round has, one that is scheduled included; 0 if the input was invalid.
	RetryCount int `json:"retryCount"`
	*scheduled
	*maxRetriesExceeded
	*permanentError
	Severity string `json:"severity,omitempty"`
	// Outcome is the kind of record that ended a round.
	Outcome string   `json:"outcome,omitempty"`
	Audit   position `json:"audit"`
	// The rest is stored as it is here.
	Message   string          `json:"message,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
}

type scheduled struct {
	MaxRetries          int         `json:"maxRetries"`
	BackoffMinutes      int         `json:"backoffMinutes"`
	NextRetryTime       time.Time   `json:"nextRetryTime"`
	ErrorClassification retry.Class `json:"errorClassification"`
	ScheduledAt         time.Time   `json:"scheduledAt"`
}

type maxRetriesExceeded struct {
	FinalError    string    `json:"finalError"`
	TotalAttempts int       `json:"totalAttempts"`
	TotalDuration string    `json:"totalDuration,omitempty"`
	ExceededAt    time.Time `json:"exceededAt"`
}

type permanentError struct {
	ErrorType    string    `json:"errorType"`
	ErrorMessage string    `json:"errorMessage"`
	DetectedAt   time.Time `json:"detectedAt"`
}

// position is the place of a record in the audit trail.
type position struct {
	Chain int    `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
}

// FromRecord makes the event of a stored record. It depends on the record alone, so that every replica makes
// the same event, to the byte. It fails only for a record that this worker does not write.
func FromRecord(r *audit.Record) (Event, error) {
	kind, d, err := dataOf(r)
	if err != nil {
		return Event{}, err
	}
	e := cloudEvent{Type: kind, Subject: r.ClaimID, Time: r.At, Data: d, PartitionKey: key(r)}
	event, err := encode(e, r.Cluster, d.Audit.Hash)
	if err != nil {
		return Event{}, fmt.Errorf("audit record %d: %w", r.ID, err)
	}
	event.Record = r.ID
	return event, nil
}

// key returns the Key of the record's event.
func key(r *audit.Record) string {
	return cmp.Or(r.ClaimID, strconv.FormatInt(r.ProcessInstanceKey, 10))
}

// dataOf returns the type of the record's event and its data.
func dataOf(r *audit.Record) (kind string, d data, err error) {
	f, err := r.Facts()
	if err != nil {
		return "", d, err
	}
	d = data{
		Version: version, ClaimID: r.ClaimID, RetryCount: r.RetryCount,
		JobKey:             strconv.FormatInt(r.JobKey, 10),
		ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
		Audit:              position{r.Chain, r.Seq, r.Hash.String()},
		Message:            r.Message, Variables: json.RawMessage(r.Variables), Detail: json.RawMessage(r.Detail),
	}
	switch r.Kind {
	case audit.KindRetry:
		d.scheduled = &scheduled{f.MaxRetries, f.BackoffMinutes, r.NextRetryTime, f.ErrorClassification, r.At}
		return TypeScheduled, d, nil
	case audit.KindExhausted:
		attempts, duration := cmp.Or(f.Attempts, f.RetryCount+1), since(f.FirstFailureTime, r.At)
		d.maxRetriesExceeded = &maxRetriesExceeded{f.SubmissionError, attempts, duration, r.At}
		d.Severity = critical
		return TypeMaxRetriesExceeded, d, nil
	case audit.KindPermanent:
		code := cmp.Or(f.RetryDecision.MatchedCode, f.RetryDecision.RuleID)
		d.permanentError = &permanentError{code, f.SubmissionError, r.At}
		d.Severity = critical
		return TypePermanentError, d, nil
	case audit.KindRejected:
		return TypeInputRejected, d, nil
	case audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned:
		d.Outcome = r.Kind.String()
		return TypeOutcomeRecorded, d, nil
	case audit.KindRedriven:
		return TypeRedriven, d, nil
	case audit.KindDecisionRefused:
		return TypeDecisionRefused, d, nil
	}
	return "", d, fmt.Errorf("audit record %d: no event is known for %s", r.ID, r.Kind)
}

// since returns the time since the first failure in whole seconds, empty if that is not known. It is not
// negative, even if the clocks of two replicas differ.
func since(first *time.Time, at time.Time) string {
	if first == nil {
		return ""
	}
	return contract.ISODuration(max(at.Sub(*first), 0).Truncate(time.Second))
}

// encode completes an event and writes it. Its ID is a UUID of version 5 of its name. The name of a record's
// event is the record's hash, which covers the record, its place in the chain and all records before it, so
// that no two records share it.
func encode(e cloudEvent, cluster, name string) (Event, error) {
	e.SpecVersion, e.DataContentType = "1.0", "application/json"
	e.ID = uuid.NewSHA1(namespace, []byte(name)).String()
	e.Source = "/analyze-retry/" + url.PathEscape(cluster)
	e.DataSchema = "urn:analyze-retry:schema:" + e.Type
	e.Time = e.Time.UTC()
	text, err := json.Marshal(e)
	return Event{ID: e.ID, Type: e.Type, Key: e.PartitionKey, JSON: text}, err
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
	d, newest := auditHead{Version: 1, Key: key.ID()}, time.Time{}
	for _, h := range heads {
		if !key.CheckHead(h) {
			continue
		}
		if d.Heads = append(d.Heads, h); h.At.After(newest) {
			newest = h.At
		}
	}
	if len(d.Heads) == 0 {
		return Event{}, nil
	}
	name, err := json.Marshal(d)
	if err != nil {
		return Event{}, fmt.Errorf("event of the audit heads: %w", err)
	}
	e := cloudEvent{Type: TypeAuditHead, Time: newest, Data: d, PartitionKey: "audit-" + d.Key}
	event, err := encode(e, cluster, string(name))
	if err != nil {
		return Event{}, fmt.Errorf("event of the audit heads: %w", err)
	}
	return event, nil
}

// Heads returns the heads of a key in an event, none if the event is not a [TypeAuditHead]. It does not check
// their signatures.
func Heads(event []byte, key string) ([]audit.Head, error) {
	var e struct {
		Type string
		Data auditHead
	}
	err := json.Unmarshal(event, &e)
	if e.Type != TypeAuditHead {
		return nil, nil // it is something else, and so may be its data
	}
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", TypeAuditHead, err)
	}
	if e.Data.Key != key {
		return nil, nil
	}
	return e.Data.Heads, nil
}
