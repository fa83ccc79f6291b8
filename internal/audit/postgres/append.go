package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/audit"
)

// conflictTries is how often a transaction is done that loses against another replica's about a job without a claim. The next time
// the winner's record is there to be found; the bound is for what nobody has thought of.
const conflictTries = 4

const (
	// lockClaims locks the claims for the length of the transaction, also those without a row. All take the locks in one
	// order, that of the hashes.
	lockClaims = `SELECT pg_advisory_xact_lock(hash) FROM (
		SELECT hashtextextended(claim, 0) AS hash FROM unnest($1::text[]) AS claim ORDER BY hash) AS ordered`

	// freeChain takes a chain, which counts as a write: so the commit of who has only found his records waits for a synchronous
	// standby too. They may be on this server only, where the wait of the commit that stored them was cut short.
	selectHead = "SELECT chain, seq, hash, at, signature FROM heads "
	freeChain  = selectHead + "ORDER BY chain LIMIT 1 FOR UPDATE SKIP LOCKED"
	// someChain waits for a chain. Those that wait spread over all.
	someChain = selectHead + "WHERE chain = 1 + pg_backend_pid() % $1 FOR UPDATE"

	// takeIDs takes one for each entry, also for those that turn out to be stored already: the IDs have gaps.
	takeIDs = "SELECT nextval('record_ids') FROM generate_series(1, $1)"

	setRows = `WITH ended AS (DELETE FROM claims WHERE claim_id = ANY ($1::text[]))
		INSERT INTO claims (claim_id, state) SELECT * FROM unnest($2::text[], $3::bytea[])
		ON CONFLICT (claim_id) DO UPDATE SET state = excluded.state`

	setHead = "UPDATE heads SET seq = $2, hash = $3, at = $4, signature = $5 WHERE chain = $1"
)

// Append implements [audit.Store] in two round trips, and a third one where all chains are taken. Locks are taken in one
// order by all: the claims, a chain, the IDs. So IDs ascend within a claim and within a chain, and whoever has a chain waits
// for nobody but for one who stores the same job without a claim, which makes him do all again and find it.
func (s *store) Append(ctx context.Context, entries []audit.Entry) ([]audit.Stored, error) {
	if s.secret == nil {
		return nil, s.wrap("append", errReadOnly)
	}
	for tries := 1; ; tries++ {
		results, err := s.append(ctx, entries)
		code := sqlstate(err)
		if code == uniqueViolation && tries < conflictTries {
			continue
		}
		if refusesData(code) {
			err = fmt.Errorf("%w: %w", audit.ErrRefused, err)
		}
		return results, s.wrap("append", err)
	}
}

// refusesData reports whether a SQLSTATE is about what is in a record: class 22 is data, 23 a constraint, 54 what an index has
// no room for. That a key is there already is neither.
func refusesData(code string) bool {
	class := code[:min(2, len(code))]
	return class == "22" || class == "54" || class == "23" && code != uniqueViolation
}

var errReadOnly = errors.New("it was opened for reading only")

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
	t := &transaction{store: s, Batch: audit.NewBatch(entries), entries: len(entries)}
	if err := conn.SendBatch(ctx, t.first()).Close(); err != nil {
		return nil, err
	}
	if len(t.heads) == 0 {
		var wait pgx.Batch
		t.queueChain(&wait, someChain, chains)
		if err := conn.SendBatch(ctx, &wait).Close(); err != nil {
			return nil, err
		}
	}
	last, head, err := t.place()
	if err != nil {
		return nil, err
	}
	if err := conn.SendBatch(ctx, last).Close(); err != nil {
		if violation, ok := errors.AsType[*pgconn.PgError](err); ok && violation.ConstraintName == "records_place" {
			err = own(&audit.BrokenError{Chain: head.Chain, Why: "its signed head is behind its records: an earlier one was put back"})
		}
		return nil, err
	}
	s.heads.Store(head.Chain, head)
	return t.Results(), nil
}

// transaction is one of Append.
type transaction struct {
	*audit.Batch

	store   *store
	entries int
	heads   []audit.Head // that of the chain that was taken, none while all are taken by others
	ids     []int64
}

// first returns the first round trip. Each statement sees what was stored before it began, so the locks go before the rest.
func (t *transaction) first() *pgx.Batch {
	var b pgx.Batch
	b.Queue("BEGIN")
	b.Queue(lockClaims, t.Claims())
	b.Queue("SELECT claim_id, state FROM claims WHERE claim_id = ANY ($1::text[])", t.Claims()).Query(func(rows pgx.Rows) error {
		return t.store.eachRow(rows, func(claim string, state *audit.State, err error) error {
			t.HasRow(claim, *state, err)
			return nil
		})
	})
	b.Queue(selectRecords+"WHERE job_key = ANY ($1::bigint[])", t.Jobs()).Query(func(rows pgx.Rows) error {
		return each(rows, func(r *audit.Record) error { t.HasRecord(*r); return nil })
	})
	t.queueChain(&b, freeChain)
	return &b
}

func (t *transaction) queueChain(b *pgx.Batch, query string, arguments ...any) {
	b.Queue(query, arguments...).Query(func(rows pgx.Rows) (err error) {
		t.heads, err = pgx.CollectRows(rows, scanHead)
		return err
	})
	b.Queue(takeIDs, t.entries).Query(func(rows pgx.Rows) (err error) {
		t.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
}

// place makes what is new, and returns the last round trip with the head in it.
func (t *transaction) place() (*pgx.Batch, audit.Head, error) {
	if len(t.heads) == 0 {
		return nil, audit.Head{}, own(&audit.BrokenError{Why: "the signed head of a chain is gone; worker audit verify shows which"})
	}
	if err := t.store.checkHead(t.heads[0]); err != nil {
		return nil, audit.Head{}, err
	}
	chain := audit.ChainAt(t.heads[0].Chain, t.heads[0].Seq, t.heads[0].Hash)
	t.Place(chain, func() int64 {
		id := t.ids[0]
		t.ids = t.ids[1:]
		return id
	})
	added, changed, ended := t.Rows()
	open := append(added, changed...)
	states := make([][]byte, len(open))
	for i, claim := range open {
		states[i] = t.store.secret.SealState(claim, t.State(claim))
	}
	at := t.heads[0].At
	if fresh := t.Fresh(); len(fresh) > 0 {
		at = fresh[len(fresh)-1].At
	}
	head := t.store.secret.Head(chain, at)
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
	if last, ok := s.heads.Load(h.Chain); ok && reflect.DeepEqual(last, h) || s.secret.Public().CheckHead(h) {
		return nil
	}
	return own(&audit.BrokenError{Chain: h.Chain, Why: "its head was not signed with this key: it was changed; worker audit verify shows what is wrong with it"})
}

// Probe makes a write: an append of nothing, in the way of nobody. So it fails where that does, such as behind a pooler that
// takes no transaction, or a lock on a table.
func (s *store) Probe(ctx context.Context) error {
	_, err := s.Append(ctx, nil)
	return err
}
