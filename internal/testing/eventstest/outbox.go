package eventstest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Outbox is an [audit.Outbox] in memory that keeps one cursor, as SQLite does. The zero value is empty; several relays may
// share it.
type Outbox struct {
	mu      sync.Mutex
	chain   *audit.Chain
	waiting []audit.Record
	led     bool
	err     error
}

// Append adds records, linked, and returns them.
func (o *Outbox) Append(records ...audit.Record) []audit.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.chain == nil {
		o.chain = audit.NewChain(1)
	}
	for i := range records {
		records[i].ID = o.chain.Seq + 1
		o.chain.Link(&records[i])
	}
	o.waiting = append(o.waiting, records...)
	return records
}

// Fill appends n records of different claims, rounds times over, so that the records of a claim are n apart.
func (o *Outbox) Fill(prefix string, n, rounds int) []audit.Record {
	var records []audit.Record
	for round := range rounds {
		for i := range n {
			records = append(records, Scheduled(fmt.Sprintf("CLM-%s-%d", prefix, i), Began.Add(time.Duration(round)*time.Hour)))
		}
	}
	return o.Append(records...)
}

// Fail makes every call fail with err from now on, until it is called with nil.
func (o *Outbox) Fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

// Waiting returns how many records wait.
func (o *Outbox) Waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting)
}

// Lead implements [audit.Outbox].
func (o *Outbox) Lead(context.Context) (func(), error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return nil, o.err
	case o.led:
		return nil, audit.ErrNotLeading
	}
	o.led = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.led = false
	}, nil
}

// Unpublished implements [audit.Outbox].
func (o *Outbox) Unpublished(_ context.Context, limit int) ([]audit.Record, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	return slices.Clone(o.waiting[:min(limit, len(o.waiting))]), nil
}

// Published implements [audit.Outbox].
func (o *Outbox) Published(_ context.Context, ids []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	for len(o.waiting) > 0 && slices.Contains(ids, o.waiting[0].ID) {
		o.waiting = o.waiting[1:]
	}
	return nil
}

// Backlog implements [audit.Outbox].
func (o *Outbox) Backlog(context.Context) (int64, time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return 0, time.Time{}, o.err
	}
	return int64(len(o.waiting)), o.waiting[0].At, o.err
}
