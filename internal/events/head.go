package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

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
	partition := "audit-" + data.Key
	e := newEvent(cluster, TypeAuditHead, partition, name.String(), newest)
	event, err := encode(&e, partition, data)
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
