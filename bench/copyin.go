package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
)

const (
	// Without their indexes, rows are copied in and the indexes then built in a quarter of the time. Only a superuser
	// may do this.
	withoutIndexes = "UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid = 'analyze_retry.records'::regclass"

	fillOutbox = "INSERT INTO analyze_retry.outbox (id) SELECT id FROM analyze_retry.records WHERE chain = $1 AND seq > $2"

	fillHead = `INSERT INTO analyze_retry.heads (chain, seq, hash, at, signature) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at, signature = excluded.signature`
)

// copyIn adds records as Append would, all in one transaction: chained, the head signed, each in the outbox. None is
// marked as unanswered.
func (s *stores) copyIn(ctx context.Context, url string, next func() *audit.Record) (err error) {
	chain, err := s.chainOf(ctx, url)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	from := chain.Seq()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, "SELECT nextval('analyze_retry.record_ids')").Scan(&id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, withoutIndexes); err != nil {
			return err
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"analyze_retry", "records"}, recordColumns, pgx.CopyFromFunc(func() ([]any, error) {
			r := next()
			if r == nil {
				return nil, nil
			}
			r.ID = id
			id++
			chain.Link(r)
			return values(r), nil
		})); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT setval('analyze_retry.record_ids', $1)", id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fillOutbox, chain.Number(), from); err != nil {
			return err
		}
		head := s.secret.Head(chain, time.Now())
		_, err := tx.Exec(ctx, fillHead, head.Chain, head.Seq, head.Hash[:], head.At, head.Signature)
		return err
	})
	if err != nil {
		return err
	}
	// What the server would do at some time, it does now: it is not to be done while a worker is measured.
	for _, statement := range []string{"SET maintenance_work_mem = '256MB'", "REINDEX TABLE analyze_retry.records", "VACUUM ANALYZE", "CHECKPOINT"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// chainOf returns a chain to go on with.
func (s *stores) chainOf(ctx context.Context, url string) (_ *audit.Chain, err error) {
	store, err := postgres.Open(ctx, url, s.secret, postgres.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	heads, err := store.Heads(ctx)
	if err != nil {
		return nil, err
	}
	if len(heads) == 0 {
		return audit.NewChain(1), s.sql(ctx, url, "SELECT nextval('analyze_retry.chains')")
	}
	return audit.ChainAt(heads[0].Chain, heads[0].Seq, heads[0].Hash), nil
}

var recordColumns = []string{
	"id", "seq", "job_key", "process_instance_key", "at", "next_retry", "chain", "retry_count", "kind", "input_hash", "hash",
	"cluster", "claim_id", "message", "variables", "detail",
}

func values(r *audit.Record) []any {
	var nextRetry *time.Time
	if !r.NextRetryTime.IsZero() {
		nextRetry = &r.NextRetryTime
	}
	return []any{
		r.ID, r.Seq, r.JobKey, r.ProcessInstanceKey, r.At, nextRetry, r.Chain, r.RetryCount, int16(r.Kind), r.Inputs[:], r.Hash[:],
		r.Cluster, r.ClaimID, r.Message, r.Variables, r.Detail,
	}
}
