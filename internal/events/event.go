// Package events tells other systems what was decided about a claim (RN-BIL-005 section 12.3): it turns stored audit
// records into CloudEvents, and relays them to a queue until the queue has acknowledged each.
//
// The queues are below it, one package for each technology, and package queue picks one by a URL. What an event holds is
// described for its readers in docs/events.
package events

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/audit"
)

// The types of event. A type names the layout of its data too: whatever changes in the layout makes a new version.
const (
	TypeScheduled          = "retry.scheduled.v3"
	TypeMaxRetriesExceeded = "retry.max_retries_exceeded.v3"
	TypePermanentError     = "retry.permanent_error_detected.v3"
	TypeInputRejected      = "retry.input_rejected.v2"
	TypeOutcomeRecorded    = "retry.outcome_recorded.v2"
	TypeRedriven           = "retry.redriven.v1"
	TypeAnswerNotDelivered = "retry.answer_not_delivered.v2"
	// TypeAuditHead is not about a record, but about the whole trail.
	TypeAuditHead = "retry.audit_head.v1"
)

const (
	// sourcePrefix stands before the cluster's name in an event's source, schemaPrefix before its type in its dataschema.
	sourcePrefix = "/analyze-retry/"
	schemaPrefix = "urn:analyze-retry:schema:"
	// partitionKey is the CloudEvents extension that Kafka and its like spread events by.
	partitionKey = "partitionkey"
	// traceparent is the one of CloudEvents' extension for distributed tracing.
	traceparent = "traceparent"
)

// namespace is this project's, for UUIDs of version 5. It never changes.
var namespace = uuid.MustParse("ad24a3ce-1a16-5a5c-8a23-8ac4fba3f0bb")

// ContentType is the media type of [Event.JSON].
const ContentType = cloudevents.ApplicationCloudEventsJSON

// Event is the CloudEvent of an audit record, or of the heads of the trail, ready to be sent.
type Event struct {
	// Record is the ID of the record in its store, 0 where the event is of none.
	Record int64
	// ID is the event's own: the same whenever and by whomever the record is published, so that a consumer can drop a
	// repeat.
	ID string
	// Type is one of the Type constants.
	Type string
	// Key is what the order of events is kept by: the claim's ID, or the process instance's key where no claim is known. The
	// heads of a trail have one of their own.
	Key string
	// JSON is the whole event in the CloudEvents JSON format, version 1.0.
	JSON []byte
}

// Publisher sends events to a queue.
type Publisher interface {
	// Publish sends events, each with another Key, and returns for each, in order: nil where the queue has acknowledged
	// it, [ErrRefused] where the queue answered that it will not have it, another error where it is not known whether the
	// queue has it. It returns when ctx ends at the latest, and finds a lost queue again by itself.
	Publish(ctx context.Context, events []Event) []error
	// Close ends the connection. No Publish may run.
	Close() error
}

// Reader is a queue that can be read back. To read takes nothing from it.
type Reader interface {
	// Read calls visit with the JSON of each event of a type that the queue holds, those with one Key in their order. Where
	// the queue was not read to its end, or is not reached within seconds, it returns an error.
	Read(ctx context.Context, kind string, visit func(event []byte)) error
}

// ErrRefused says that the queue is there, but does not take this event: it is too large, or nothing would receive it.
var ErrRefused = errors.New("the queue refused the event")

// Key is the Key of the record's event.
func Key(r *audit.Record) string {
	if r.ClaimID != "" {
		return r.ClaimID
	}
	return strconv.FormatInt(r.ProcessInstanceKey, 10)
}

// FromRecord makes the event of a stored record. It depends on the record alone, so that every replica makes the same
// event of it, to the byte. It fails only where the record is not one that this worker writes.
func FromRecord(r *audit.Record) (Event, error) {
	facts, err := r.Facts()
	if err != nil {
		return Event{}, err
	}
	kind, data := dataOf(r, &facts)
	if kind == "" {
		return Event{}, fmt.Errorf("audit record %d: no event is known for %s", r.ID, r.Kind)
	}
	e := cloudevents.New()
	e.SetID(id(r.Hash.String()))
	e.SetSource(sourcePrefix + url.PathEscape(r.Cluster))
	e.SetType(kind)
	if r.ClaimID != "" {
		e.SetSubject(r.ClaimID)
	}
	e.SetTime(r.At)
	e.SetDataSchema(schemaPrefix + kind)
	e.SetExtension(partitionKey, Key(r))
	if facts.Traceparent != "" {
		e.SetExtension(traceparent, facts.Traceparent)
	}
	text, err := written(&e, data)
	if err != nil {
		return Event{}, fmt.Errorf("audit record %d: %w", r.ID, err)
	}
	return Event{Record: r.ID, ID: e.ID(), Type: kind, Key: Key(r), JSON: text}, nil
}

// written returns the JSON of an event with its data.
func written(e *cloudevents.Event, data any) ([]byte, error) {
	if err := e.SetData(cloudevents.ApplicationJSON, data); err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return e.MarshalJSON()
}

// id is the ID of the event of the record with this hash: a UUID of version 5. The hash covers the record, its place in
// the chain and all records before it, so that no two records share it.
func id(hash string) string {
	return uuid.NewSHA1(namespace, []byte(hash)).String()
}
