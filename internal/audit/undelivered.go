package audit

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/contract"
)

// Answered notes that the answer of a record has reached the broker.
func (r *Recorder) Answered(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, id)
}

// Gone notes that the answer of a record found no job. Unless another worker turns out to have answered it, that is
// recorded as KindUndelivered.
func (r *Recorder) Gone(record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = append(r.gone, gone{record, time.Now()})
}

// housekeep writes answered marks that no decision took along, and records answers that have not arrived.
func (r *Recorder) housekeep(ctx context.Context) {
	var due []Record
	r.mu.Lock()
	rest := r.gone[:0]
	for _, g := range r.gone {
		if time.Since(g.since) >= goneAfter {
			due = append(due, g.record)
		} else {
			rest = append(rest, g)
		}
	}
	r.gone = rest
	idle := len(r.answered) == 0 && len(due) == 0
	r.mu.Unlock()
	if idle {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := r.recordUndelivered(ctx, due); err != nil {
		r.mu.Lock()
		for _, record := range due {
			r.gone = append(r.gone, gone{record, time.Now()})
		}
		r.mu.Unlock()
	}
}

func (r *Recorder) recordUndelivered(ctx context.Context, due []Record) error {
	// The marks that wait here first: one of them may be of a record that is asked about.
	if _, err := r.Record(ctx, nil); err != nil || len(due) == 0 {
		return err
	}
	ids, byID := make([]int64, len(due)), map[int64]*Record{}
	for i := range due {
		ids[i], byID[due[i].ID] = due[i].ID, &due[i]
	}
	still, err := r.store.Unanswered(ctx, ids)
	if err != nil || len(still) == 0 {
		return err
	}
	q := &request{answered: still, done: make(chan struct{})} // such an answer is settled
	for _, id := range still {
		q.records = append(q.records, undelivered(byID[id]))
	}
	_, err = r.record(ctx, q)
	return err
}

// tellOpen logs the answers that found no job so shortly before the end that another worker may still be about to say
// that it has answered. Nobody else knows of them.
func (r *Recorder) tellOpen(ctx context.Context) {
	r.mu.Lock()
	open := r.gone
	r.gone = nil
	r.mu.Unlock()
	if len(open) == 0 {
		return
	}
	ids := make([]int64, len(open))
	for i := range open {
		ids[i] = open[i].record.ID
	}
	if r.Err() == nil { // else all of them count as open
		if still, err := r.store.Unanswered(ctx, ids); err == nil {
			ids = still
		}
	}
	for i := range open {
		if record := &open[i].record; slices.Contains(ids, record.ID) {
			r.log.Warn("answer_left_open", zap.Int64("jobKey", record.JobKey), zap.Int64("processInstanceKey", record.ProcessInstanceKey),
				zap.String("claimId", record.ClaimID),
				zap.String("detail", "the job was gone, and the worker stops before it is known whether another one has answered it; no UNDELIVERED is recorded: look at the process instance"))
		}
	}
}

// undelivered is the record that says that the answer of another one did not arrive.
func undelivered(r *Record) Record {
	key := r.Key
	sum := sha256.Sum256(append([]byte("undelivered\x00"), r.Inputs[:]...))
	copy(key.Inputs[:], sum[:])
	detail := contract.Detail{Undelivered: r.Hash.String()}
	if facts, err := r.Facts(); err == nil {
		detail.Traceparent = facts.Traceparent
	}
	return Record{
		Kind: KindUndelivered, At: time.Now().UTC().Truncate(time.Microsecond), Key: key,
		ClaimID: r.ClaimID, RetryCount: r.RetryCount, Detail: detail.Encode(),
	}
}
