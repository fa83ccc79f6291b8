package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/text"
)

const (
	// lockClaims locks the claims for the length of the transaction, also those without a row, and the empty
	// one, of all jobs that name none. All take the locks in one order, that of the hashes.
	lockClaims = `SELECT pg_advisory_xact_lock(hash) FROM (
		SELECT hashtextextended(name, 0) AS hash FROM unnest($1::text[]) AS name ORDER BY hash) AS ordered`

	// takeChain takes a free chain, or waits for one of them where all are taken; those that wait spread over
	// all. It counts as a write: so the commit of who has only found his records waits for a synchronous
	// standby too. They may be on this server only, where the wait of the commit that stored them was cut
	// short.
	takeChain = `SELECT chain, seq, hash, at, signature FROM heads WHERE chain = coalesce(
		(SELECT chain FROM heads ORDER BY chain LIMIT 1 FOR UPDATE SKIP LOCKED),
		1 + pg_backend_pid() % $1) FOR UPDATE`

	// takeIDs takes one for each entry, also for those that turn out to be stored already: the IDs have gaps.
	takeIDs = "SELECT nextval('record_ids') FROM generate_series(1, $1)"

	setRows = `WITH ended AS (DELETE FROM claims WHERE claim_id = ANY ($1::text[]))
		INSERT INTO claims (claim_id, state) SELECT * FROM unnest($2::text[], $3::bytea[])
		ON CONFLICT (claim_id) DO UPDATE SET state = excluded.state`

	setHead = "UPDATE heads SET seq = $2, hash = $3, at = $4, signature = $5 WHERE chain = $1"
)

// Append implements [audit.Store] in two round trips. Locks are taken in one order by all: the claims, a
// chain, the IDs. So IDs ascend within a claim and within a chain, and a transaction that has its chain does
// not wait. An append of nothing blocks no other, and fails where any fails, such as behind a pooler that
// takes no transaction, or a lock on a table.
func (s *store) Append(ctx context.Context, entries []audit.Entry) (results []audit.Stored, err error) {
	defer func() { err = s.wrap("append", err) }()
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
	batch := audit.NewBatch(entries)
	claims := batch.Claims()
	var end audit.Head
	var id int64
	ids := make([]int64, 0, len(entries))
	// Each statement sees what was stored before it began, so the locks go before the rest.
	var first pgx.Batch
	first.Queue("BEGIN")
	first.Queue("SELECT current_setting('lock_timeout')").Query(ownSession)
	first.Queue(lockClaims, claims)
	first.Queue("SELECT claim_id, state FROM claims WHERE claim_id = ANY ($1::text[])", claims).
		Query(each(reading.State(s.Secret, batch.HasRow)))
	first.Queue(reading.Select+" FROM records WHERE job_key = ANY ($1::bigint[])", batch.Jobs()).
		Query(each(reading.Record(batch.HasRecord)))
	first.Queue(takeChain, chains).Query(each(reading.Head(func(h audit.Head) { end = h })))
	first.Queue(takeIDs, len(entries)).Query(each(reading.Row{Into: []any{&id}, Each: func() error {
		ids = append(ids, id)
		return nil
	}}))
	if err := conn.SendBatch(ctx, &first).Close(); err != nil {
		return nil, err
	}
	if err := s.checkHead(end); err != nil {
		return nil, err
	}
	batch.Place(s.Secret, end, ids)
	var last pgx.Batch
	last.Queue(insertRecords, valuesOf(batch.Records)...)
	last.Queue(setRows, batch.Ended, batch.Open, batch.States)
	head := batch.Head
	last.Queue(setHead, head.Chain, head.Seq, head.Hash[:], head.At, head.Signature)
	last.Queue("COMMIT")
	if err := conn.SendBatch(ctx, &last).Close(); err != nil {
		if fault, ok := errors.AsType[*pgconn.PgError](err); ok && fault.ConstraintName == "records_place" {
			err = &audit.BrokenError{Chain: end.Chain, Why: text.Messagef(
				"its signed head is behind its records: an earlier one was put back")}
		}
		return nil, err
	}
	s.heads.Store(end.Chain, head)
	return batch.Results, nil
}

// ownSession fails where a pooler gave the transaction the session of somebody else, in which a commit need
// not be durable.
func ownSession(rows pgx.Rows) error {
	limit, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	if err == nil && limit != lockTimeout {
		err = errors.New("the session is not as it was opened, and a commit may be lost: " +
			"connect directly, or in PgBouncer set pool_mode = session")
	}
	return err
}

// checkHead fails unless the head is the one that this store wrote last, or another that was signed with its
// key: to sign what follows a forged head would make it look like ours.
func (s *store) checkHead(h audit.Head) error {
	if last, ok := s.heads.Load(h.Chain); ok && reflect.DeepEqual(last, h) || s.Secret.Public().CheckHead(h) {
		return nil
	}
	return &audit.BrokenError{Chain: h.Chain, Why: text.Messagef("its head was not signed with this key: " +
		"it was changed; worker audit verify shows what is wrong with it")}
}

// insertRecords inserts the values of all columns, each an array.
var insertRecords = func() string {
	arrays := make([]string, len(reading.Columns))
	for i, c := range reading.Columns {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c.Kind)
	}
	return "INSERT INTO records (" + reading.Names + ") " +
		"SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")"
}()

// valuesOf are the arguments of insertRecords.
func valuesOf(records []*audit.Record) []any {
	values := make([]any, len(reading.Columns))
	for i, c := range reading.Columns {
		column := make([]any, len(records))
		for j, r := range records {
			column[j] = c.Field(r)
		}
		values[i] = column
	}
	return values
}
