package postgres

import (
	"context"
	"errors"
	"reflect"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

const (
	// lockNames locks the claims for the length of the transaction, also those without a row, and the jobs without a claim.
	// All take the locks in one order, that of the hashes.
	lockNames = `SELECT pg_advisory_xact_lock(hash) FROM (
		SELECT hashtextextended(name, 0) AS hash FROM unnest($1::text[]) AS name ORDER BY hash) AS ordered`

	// takeChain takes a free chain, or waits for one of them where all are taken; those that wait spread over all. It counts as
	// a write: so the commit of who has only found his records waits for a synchronous standby too. They may be on this server
	// only, where the wait of the commit that stored them was cut short.
	takeChain = `SELECT chain, seq, hash, at, signature FROM heads WHERE chain = coalesce(
		(SELECT chain FROM heads ORDER BY chain LIMIT 1 FOR UPDATE SKIP LOCKED), 1 + pg_backend_pid() % $1) FOR UPDATE`

	// takeIDs takes one for each entry, also for those that turn out to be stored already: the IDs have gaps.
	takeIDs = "SELECT nextval('record_ids') FROM generate_series(1, $1)"

	setRows = `WITH ended AS (DELETE FROM claims WHERE claim_id = ANY ($1::text[]))
		INSERT INTO claims (claim_id, state) SELECT * FROM unnest($2::text[], $3::bytea[])
		ON CONFLICT (claim_id) DO UPDATE SET state = excluded.state`

	setHead = "UPDATE heads SET seq = $2, hash = $3, at = $4, signature = $5 WHERE chain = $1"
)

// Append implements [audit.Store] in two round trips. Locks are taken in one order by all: the claims and jobs, a chain, the
// IDs. So IDs ascend within a claim and within a chain, and whoever has a chain waits for nobody.
func (s *store) Append(ctx context.Context, entries []audit.Entry) ([]audit.Stored, error) {
	results, err := s.append(ctx, entries)
	return results, s.wrap("append", err)
}

func (s *store) append(ctx context.Context, entries []audit.Entry) (results []audit.Stored, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release() // which closes one that is still in a transaction
	defer func() {
		if err != nil && !conn.Conn().IsClosed() { // or the locks would stay until the server notices
			_, _ = conn.Exec(ctx, "ROLLBACK")
		}
	}()
	t := &transaction{Batch: audit.NewBatch(entries), store: s}
	if err := conn.SendBatch(ctx, t.first(entries)).Close(); err != nil {
		return nil, err
	}
	last, head, err := t.place()
	if err != nil {
		return nil, err
	}
	if err := conn.SendBatch(ctx, last).Close(); err != nil {
		if violation, ok := errors.AsType[*pgconn.PgError](err); ok && violation.ConstraintName == "records_place" {
			err = &audit.BrokenError{Chain: head.Chain, Why: audit.Whyf("its signed head is behind its records: an earlier one was put back")}
		}
		return nil, err
	}
	s.heads.Store(head.Chain, head)
	return t.Results(), nil
}

// transaction is one of Append.
type transaction struct {
	*audit.Batch

	store *store
	heads []audit.Head // that of the chain that was taken
	ids   []int64
}

// first returns the first round trip. Each statement sees what was stored before it began, so the locks go before the rest.
func (t *transaction) first(entries []audit.Entry) *pgx.Batch {
	names := t.Claims()
	for i := range entries {
		if e := &entries[i]; e.ClaimID == "" {
			names = append(names, strconv.FormatInt(e.JobKey, 10))
		}
	}
	var b pgx.Batch
	b.Queue("BEGIN")
	b.Queue(lockNames, names)
	b.Queue("SELECT claim_id, state FROM claims WHERE claim_id = ANY ($1::text[])", t.Claims()).Query(each(reading.State(t.store.Secret, t.HasRow)))
	b.Queue(dialect.Select()+" FROM records WHERE job_key = ANY ($1::bigint[])", t.Jobs()).Query(each(reading.Record(t.HasRecord)))
	b.Queue(takeChain, chains).Query(each(reading.Head(func(h audit.Head) { t.heads = append(t.heads, h) })))
	b.Queue(takeIDs, len(entries)).Query(func(rows pgx.Rows) (err error) {
		t.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return &b
}

// place makes what is new, and returns the last round trip with the head in it.
func (t *transaction) place() (*pgx.Batch, audit.Head, error) {
	if len(t.heads) == 0 {
		return nil, audit.Head{}, &audit.BrokenError{Why: audit.Whyf("the signed head of a chain is gone; worker audit verify shows which")}
	}
	if err := t.store.checkHead(t.heads[0]); err != nil {
		return nil, audit.Head{}, err
	}
	chain := audit.ChainAt(t.heads[0])
	t.Place(chain, func() int64 {
		id := t.ids[0]
		t.ids = t.ids[1:]
		return id
	})
	open, ended := t.Rows()
	states := make([][]byte, len(open))
	for i, claim := range open {
		states[i] = t.store.Secret.SealState(claim, t.State(claim))
	}
	at := t.heads[0].At
	if fresh := t.Fresh(); len(fresh) > 0 {
		at = fresh[len(fresh)-1].At
	}
	head := t.store.Secret.Head(chain, at)
	var b pgx.Batch
	b.Queue(insertRecords, valuesOf(t.Fresh())...)
	b.Queue(setRows, ended, open, states)
	b.Queue(setHead, head.Chain, head.Seq, head.Hash[:], head.At, head.Signature)
	b.Queue("COMMIT")
	return &b, head, nil
}

// checkHead fails unless the head is the one that this store wrote last, or another that was signed with its key: to sign what
// follows a forged head would make it look like ours.
func (s *store) checkHead(h audit.Head) error {
	if last, ok := s.heads.Load(h.Chain); ok && reflect.DeepEqual(last, h) || s.Secret.Public().CheckHead(h) {
		return nil
	}
	return &audit.BrokenError{Chain: h.Chain, Why: audit.Whyf("its head was not signed with this key: it was changed; worker audit verify shows what is wrong with it")}
}

// Probe makes a write: an append of nothing, in the way of nobody. So it fails where that does, such as behind a pooler that
// takes no transaction, or a lock on a table.
func (s *store) Probe(ctx context.Context) error {
	_, err := s.Append(ctx, nil)
	return err
}
