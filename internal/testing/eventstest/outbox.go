package eventstest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Outbox is that of a store in a file; several relays may share it.
type Outbox struct {
	audit.Store

	t       *testing.T
	path    string
	jobs    int64
	leading atomic.Bool
}

// held is the lead of one of the relays.
type held struct {
	audit.Lead

	outbox *Outbox
}

// Release implements [audit.Lead].
func (h held) Release() { h.outbox.leading.Store(false) }

// Lead lets one of the relays lead, as a store does for several processes.
func (o *Outbox) Lead(ctx context.Context) (audit.Lead, error) {
	if !o.leading.CompareAndSwap(false, true) {
		return nil, audit.ErrNotLeading
	}
	lead, err := o.Store.Lead(ctx)
	return held{lead, o}, err
}

// NewOutbox opens a store without records, which is closed with the test.
func NewOutbox(t *testing.T) *Outbox {
	t.Helper()
	o := &Outbox{t: t, path: filepath.Join(audittest.MemoryDir(t), "retry.db")}
	var err error
	o.Store, err = sqlite.Open(t.Context(), o.path, audittest.Key(audittest.Secret(t)))
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, o.Close()) })
	_, err = o.Store.Lead(t.Context()) // from then on records wait
	check.Must(t, err)
	return o
}

// Add appends records, each of a job of its own, and returns them as they are stored.
func (o *Outbox) Add(records ...audit.Record) (stored []audit.Record) {
	o.t.Helper()
	for i := range records {
		o.jobs++
		records[i].JobKey = o.jobs
	}
	for some := range slices.Chunk(records, audit.MaxBatch) {
		for _, s := range audittest.Append(o.t, o, some...) {
			stored = append(stored, s.Record)
		}
	}
	return stored
}

// Fill adds n records of different claims, rounds times over, so that the records of a claim are n apart.
func (o *Outbox) Fill(prefix string, n, rounds int) []audit.Record {
	o.t.Helper()
	var records []audit.Record
	for round := range rounds {
		for i := range n {
			records = append(records, Scheduled(fmt.Sprintf("CLM-%s-%d", prefix, i), Began.Add(time.Duration(round)*time.Hour)))
		}
	}
	return o.Add(records...)
}

// Lose moves the file away, so that every write fails until Find.
func (o *Outbox) Lose() { check.Must(o.t, os.Rename(o.path, o.path+".away")) }

// Find puts the file back.
func (o *Outbox) Find() { check.Must(o.t, os.Rename(o.path+".away", o.path)) }

// Waiting returns how many records wait.
func (o *Outbox) Waiting() int {
	o.t.Helper()
	waiting, _, err := o.Backlog(o.t.Context())
	check.Must(o.t, err)
	return int(waiting)
}
