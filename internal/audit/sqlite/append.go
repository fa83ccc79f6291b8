package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
)

func (s *store) Append(ctx context.Context, records []audit.Record, answered []int64) ([]audit.Appended, error) {
	if len(records) == 0 && len(answered) == 0 {
		return nil, nil
	}
	b := &batch{records: records, results: make([]audit.Appended, len(records)), fresh: make([]int, 0, len(records))}
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		if len(records) > 0 {
			if err := b.append(ctx, w); err != nil {
				return err
			}
		}
		return w.clearMarks(ctx, unanswered, &w.answered, answered)
	})
	if err != nil {
		return nil, refused(err)
	}
	return b.results, nil
}

// refused marks errors that are about what is in a record, and not about the store.
func refused(err error) error {
	if fault, ok := errors.AsType[*driver.Error](err); ok {
		switch fault.Code() & 0xff { // without the extended part
		case lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_TOOBIG:
			return fmt.Errorf("%w: %w", audit.ErrRefused, err)
		}
	}
	return err
}

// batch is the records of one transaction.
type batch struct {
	records []audit.Record
	results []audit.Appended

	stored map[int64][]storedKey // by job key
	fresh  []int                 // which of the records are new
}

// storedKey is the key of a record that is stored, or of one earlier in the batch.
type storedKey struct {
	audit.Key
	id    int64
	index int // in the batch, -1 for one that was stored before
}

func (b *batch) append(ctx context.Context, w *writer) error {
	if err := b.look(ctx, w); err != nil {
		return err
	}
	chain := audit.ChainAt(chainNumber, w.seq, w.last)
	for i := range b.records {
		b.place(i, chain)
	}
	if err := b.repeat(ctx, w); err != nil {
		return err
	}
	if len(b.fresh) == 0 {
		return nil
	}
	if err := b.insert(ctx, w); err != nil {
		return err
	}
	if err := b.noteClaims(ctx, w); err != nil {
		return err
	}
	if w.seq == 0 {
		if err := w.exec(ctx, noteMeta, metaChain, now()); err != nil {
			return err
		}
	}
	head := w.secret.Head(chain, time.Now())
	err := w.exec(ctx, `INSERT INTO heads (chain, seq, hash, at, signature) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
		seq = excluded.seq, hash = excluded.hash, at = excluded.at, signature = excluded.signature`,
		int64(head.Chain), head.Seq, head.Hash[:], head.At.UnixMicro(), head.Signature)
	w.seq, w.last = chain.Seq(), chain.Last() // if the commit fails, the writer is given up
	return err
}

// look reads the keys that are stored for the batch's jobs.
func (b *batch) look(ctx context.Context, w *writer) error {
	b.stored = make(map[int64][]storedKey, len(b.records))
	for some := range slices.Chunk(b.records, maxChunk) {
		n := 1
		for n < len(some) {
			n *= 2
		}
		w.args = w.args[:0]
		for i := range some {
			w.args = append(w.args, some[i].JobKey)
		}
		for len(w.args) < n {
			w.args = append(w.args, nil) // which no job's key is
		}
		if err := w.query(ctx, selectKeys[n], b.addStored, w.args...); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) addStored(v *reader) error {
	k := storedKey{id: v.int(0), index: -1, Key: audit.Key{Cluster: v.text(1), JobKey: v.int(2), ProcessInstanceKey: v.int(3)}}
	v.bytes(4, k.Inputs[:])
	b.stored[k.JobKey] = append(b.stored[k.JobKey], k)
	return v.err
}

// place decides what becomes of a record, and links it into the chain if it is new.
func (b *batch) place(i int, chain *audit.Chain) {
	r, result := &b.records[i], &b.results[i]
	for _, k := range b.stored[r.JobKey] {
		if k.Key == r.Key {
			*result = audit.Appended{Repeated: true}
			result.Record.ID = k.id
			if k.index >= 0 {
				result.Record = b.results[k.index].Record
			}
			return
		}
		if k.Cluster == r.Cluster && k.ProcessInstanceKey != r.ProcessInstanceKey {
			result.JobKeyReused = true
		}
	}
	result.Record = *r
	result.Record.ID = chain.Seq() + 1
	chain.Link(&result.Record)
	b.fresh = append(b.fresh, i)
	b.stored[r.JobKey] = append(b.stored[r.JobKey], storedKey{r.Key, result.Record.ID, i})
}

// repeat reads the records that were stored before. They are few.
func (b *batch) repeat(ctx context.Context, w *writer) error {
	for i := range b.results {
		r := &b.results[i]
		if !r.Repeated || r.Record.Seq != 0 {
			continue
		}
		if err := w.query(ctx, selectRecords+"WHERE seq = ?", func(v *reader) error { return v.record(&r.Record) }, r.Record.ID); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) insert(ctx context.Context, w *writer) error {
	for rest := b.fresh; len(rest) > 0; {
		n := chunk(len(rest))
		args := w.args[:0]
		for _, i := range rest[:n] {
			r := &b.results[i].Record
			args = append(args, r.Seq, r.At.UnixMicro(), int64(r.Kind), r.Cluster, r.JobKey, r.ProcessInstanceKey, r.Inputs[:],
				r.ClaimID, int64(r.RetryCount), audit.NextRetrySeconds(r.NextRetryTime), r.Message, r.Variables, r.Detail, r.Hash[:])
		}
		w.args = args
		rest = rest[n:]
		if err := w.exec(ctx, insertRecords[n], args...); err != nil {
			return err
		}
	}
	return nil
}
