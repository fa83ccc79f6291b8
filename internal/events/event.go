// Package events publishes what was decided about a claim (RN-BIL-005 section 12.3): it makes CloudEvents of stored audit
// records, and relays them to a queue until the queue has acknowledged each.
//
// The queues are below it, one package for each technology, and package queue picks one by a URL. docs/events describes the
// events for their consumers.
package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hospital.example/analyze-retry/internal/audit"
)

// The types of event. A type also versions the layout of its data: each change of the layout makes a new type.
const (
	TypeScheduled          = "retry.scheduled.v3"
	TypeMaxRetriesExceeded = "retry.max_retries_exceeded.v3"
	TypePermanentError     = "retry.permanent_error_detected.v3"
	TypeInputRejected      = "retry.input_rejected.v2"
	TypeOutcomeRecorded    = "retry.outcome_recorded.v2"
	TypeRedriven           = "retry.redriven.v1"
	TypeDecisionRefused    = "retry.decision_refused.v1"
	TypeAnswerNotDelivered = "retry.answer_not_delivered.v2"
	// TypeAuditHead is not about a record, but about the whole audit log.
	TypeAuditHead = "retry.audit_head.v1"
)

const (
	// sourcePrefix precedes the cluster's name in an event's source, schemaPrefix its type in its dataschema.
	sourcePrefix = "/analyze-retry/"
	schemaPrefix = "urn:analyze-retry:schema:"
)

// namespace is this project's namespace for UUIDs of version 5. It never changes.
var namespace = uuid.MustParse("ad24a3ce-1a16-5a5c-8a23-8ac4fba3f0bb")

// ContentType is the media type of [Event.JSON].
const ContentType = "application/cloudevents+json"

// Event is the CloudEvent of an audit record, or of the heads of the audit log, ready to be sent.
type Event struct {
	// Record is the ID of the record in its store, 0 for the heads.
	Record int64
	// ID is the same whenever and by whichever replica the record is published, so that a consumer can drop a repeat.
	ID string
	// Type is one of the Type constants.
	Type string
	// Key orders events: those with one Key are published in the order of their records. It is the claim's ID, or the process
	// instance's key if no claim is known. The heads have a Key of their own.
	Key string
	// JSON is the whole event in the CloudEvents JSON format, version 1.0.
	JSON []byte
}

// Publisher sends events to a queue.
type Publisher interface {
	// Publish sends events, no two with the same Key, and returns one result for each, in order: nil if the queue has
	// acknowledged it, [ErrRefused] if the queue does not take it, another error if it is not known whether the queue has
	// it. It returns when ctx ends at the latest, and reconnects to a lost queue by itself.
	Publish(ctx context.Context, events []Event) []error
	// Close ends the connection. No Publish may run.
	Close() error
}

// ErrRefused means that the queue is there, but does not take this event: it is too large, or no queue is bound for it.
var ErrRefused = errors.New("the queue refused the event")

// Key returns the Key of the record's event.
func Key(r *audit.Record) string {
	if r.ClaimID != "" {
		return r.ClaimID
	}
	return strconv.FormatInt(r.ProcessInstanceKey, 10)
}

// FromRecord makes the event of a stored record. It depends on the record alone, so that every replica makes the same
// event, to the byte. It fails only for a record that this worker does not write.
func FromRecord(r *audit.Record) (Event, error) {
	facts, err := r.Facts()
	if err != nil {
		return Event{}, err
	}
	kind, data := dataOf(r, &facts)
	if kind == "" {
		return Event{}, fmt.Errorf("audit record %d: no event is known for %s", r.ID, r.Kind)
	}
	e := newEnvelope(r.Cluster, kind, Key(r), r.Hash.String(), r.At)
	e.Subject = r.ClaimID
	event, err := e.encode(data)
	if err != nil {
		return Event{}, fmt.Errorf("audit record %d: %w", r.ID, err)
	}
	event.Record = r.ID
	return event, nil
}

// envelope is a CloudEvent in the JSON format of version 1.0. PartitionKey is an extension, for the partitions of Kafka and its like.
type envelope struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Subject         string          `json:"subject,omitempty"`
	DataContentType string          `json:"datacontenttype"`
	DataSchema      string          `json:"dataschema"`
	Time            time.Time       `json:"time"`
	Data            json.RawMessage `json:"data"`
	PartitionKey    string          `json:"partitionkey"`
}

// newEnvelope returns an event without data. Its name decides its ID.
func newEnvelope(cluster, kind, key, name string, at time.Time) envelope {
	return envelope{
		SpecVersion:     "1.0",
		ID:              id(name),
		Source:          sourcePrefix + url.PathEscape(cluster),
		Type:            kind,
		DataContentType: "application/json",
		DataSchema:      schemaPrefix + kind,
		Time:            at.UTC(),
		PartitionKey:    key,
	}
}

func (e envelope) encode(data any) (Event, error) {
	var err error
	if e.Data, err = json.Marshal(data); err != nil {
		return Event{}, err
	}
	text, err := json.Marshal(e)
	return Event{ID: e.ID, Type: e.Type, Key: e.PartitionKey, JSON: text}, err
}

// id returns the ID of an event: a UUID of version 5 of its name. The name of a record's event is the record's hash, which
// covers the record, its place in the chain and all records before it, so that no two records share it.
func id(name string) string {
	return uuid.NewSHA1(namespace, []byte(name)).String()
}

// auditHead is the data of a [TypeAuditHead].
type auditHead struct {
	Version int `json:"version"`
	// Key is the short name of the key that signed the heads, as in the worker's log.
	Key   string       `json:"key"`
	Heads []audit.Head `json:"heads"`
}

// FromHeads makes the event that shows how far the chains of an audit log go, signed, so that an auditor can later compare
// the store with what others keep. It depends on its arguments alone: the same heads make the same event. It leaves out a
// head that was not signed with the key; if none is left, it returns the zero event.
func FromHeads(cluster string, key audit.Public, heads []audit.Head) (Event, error) {
	data := auditHead{Version: 1, Key: key.ID()}
	name, newest := strings.Builder{}, time.Time{}
	name.WriteString("audit head " + data.Key)
	for _, h := range heads {
		if !key.CheckHead(h) {
			continue
		}
		data.Heads = append(data.Heads, h)
		fmt.Fprintf(&name, " %d:%d:%s:%d", h.Chain, h.Seq, h.Hash, h.At.UnixMicro())
		if h.At.After(newest) {
			newest = h.At
		}
	}
	if len(data.Heads) == 0 {
		return Event{}, nil
	}
	event, err := newEnvelope(cluster, TypeAuditHead, "audit-"+data.Key, name.String(), newest).encode(data)
	if err != nil {
		return Event{}, fmt.Errorf("event of the audit heads: %w", err)
	}
	return event, nil
}

// Heads returns the heads of a key in an event, none if the event is not a [TypeAuditHead]. It does not check their
// signatures.
func Heads(event []byte, key string) ([]audit.Head, error) {
	if !bytes.Contains(event, []byte(TypeAuditHead)) { // most are not, and there may be millions
		return nil, nil
	}
	var e struct {
		Type string
		Data json.RawMessage
	}
	if err := json.Unmarshal(event, &e); err != nil || e.Type != TypeAuditHead {
		return nil, nil //nolint:nilerr // it is something else
	}
	var data auditHead
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("event %s: %w", TypeAuditHead, err)
	}
	if data.Key != key {
		return nil, nil
	}
	return data.Heads, nil
}
