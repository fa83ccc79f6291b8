package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/audit"
)

// conflictTries is how often a transaction is done again that lost against another replica's. Each time the winner's
// records are there to be found, so that it ends soon; the bound is for what nobody has thought of.
const conflictTries = 10

const (
	// takeChain takes the lowest chain that no other transaction has. There are as many chains as transactions ever ran
	// at once, and the taking ends with the transaction, even where the connection is cut.
	takeChain = `SELECT chain, seq, hash, at, signature FROM heads WHERE chain <> ALL ($1::integer[])
		ORDER BY chain LIMIT 1 FOR UPDATE SKIP LOCKED`

	// takeIDs takes one for each record, also for those that turn out to be stored already: the IDs have gaps.
	takeIDs = `SELECT nextval('record_ids') FROM generate_series(1, $1)`

	findJobs = "SELECT " + columns + " FROM records WHERE job_key = ANY ($1::bigint[])"

	insertRecords = `WITH added AS (
		INSERT INTO records (chain, id, seq, kind, at, cluster, job_key, process_instance_key, input_hash, claim_id,
			retry_count, next_retry, message, variables, detail, hash)
		SELECT $1, n.* FROM unnest($2::bigint[], $3::bigint[], $4::smallint[], $5::timestamptz[], $6::text[], $7::bigint[],
			$8::bigint[], $9::bytea[], $10::text[], $11::integer[], $12::timestamptz[], $13::text[], $14::text[], $15::text[],
			$16::bytea[]) AS n (id) ORDER BY n.id
		RETURNING id
	), published AS (INSERT INTO outbox (id) SELECT id FROM added)
	INSERT INTO unanswered (id) SELECT id FROM added`

	setHead = `INSERT INTO heads (chain, seq, hash, at, signature) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at, signature = excluded.signature`

	// noteChain notes, apart from head and records, that a chain was begun. The sequence of the numbers cannot prove that one
	// is missing: a transaction that is rolled back and a crash of the server (up to 32 at once) leave gaps in it.
	noteChain = `INSERT INTO meta (name, value) VALUES ('chain ' || $1::text, now()) ON CONFLICT DO NOTHING`

	deleteAnswered = `DELETE FROM unanswered WHERE id = ANY ($1::bigint[])`
)

// Append implements [audit.Log] in two round trips: one takes a chain and IDs and looks for what is stored already, the
// other writes and commits. Where another replica stores one of the keys in between, the transaction is rolled back and done
// again, and then finds it.
//
// IDs are taken before the commit, so that a record may become visible after one with a greater ID. Of one process
// instance that cannot be: its next decision is asked for only after this one was answered, and this one is answered only
// after its commit.
func (s *store) Append(ctx context.Context, records []audit.Record, answered []int64) ([]audit.Appended, error) {
	if s.secret == nil {
		return nil, s.wrap("append", errReadOnly)
	}
	for tries := 1; ; tries++ {
		results, err := s.append(ctx, records, answered)
		if err == nil {
			return results, nil
		}
		if code := sqlstate(err); tries == conflictTries || code != uniqueViolation && code != deadlockDetected && code != serializationFailure {
			if refusesData(code) {
				err = fmt.Errorf("%w: %w", audit.ErrRefused, err)
			}
			return nil, s.wrap("append", err)
		}
	}
}

// refusesData reports whether a SQLSTATE is about what is in a record: class 22 is data, 23 a constraint. That a key is
// there already is neither.
func refusesData(code string) bool {
	return strings.HasPrefix(code, "22") || strings.HasPrefix(code, "23") && code != uniqueViolation
}

var errReadOnly = errors.New("it was opened for reading only")

func (s *store) append(ctx context.Context, records []audit.Record, answered []int64) ([]audit.Appended, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	// One that is still in a transaction is closed by its release.
	defer conn.Release()
	a := appending{store: s, conn: conn, stored: map[jobOf][]*audit.Record{}}
	if err = a.begin(ctx, records); err == nil {
		if err = a.link(ctx, records); err == nil {
			err = a.commit(ctx, answered)
		}
	}
	if err != nil {
		if sqlstate(err) != "" { // the server speaks to us, so the connection is worth keeping
			_, rollbackErr := conn.Exec(ctx, "ROLLBACK")
			err = errors.Join(err, rollbackErr)
		}
		return nil, err
	}
	for i := range a.results {
		a.results[i].Record = *a.found[i]
	}
	return a.results, nil
}

// appending is one transaction of Append.
type appending struct {
	store  *store
	conn   *pgxpool.Conn
	chain  *audit.Chain // nil while none was taken
	fresh  bool         // the chain is a new one
	ids    []int64      // for those that are new, in ascending order
	stored map[jobOf][]*audit.Record

	results []audit.Appended
	found   []*audit.Record // for each result, the record that is stored
	added   []*audit.Record // those of them that are new, in the chain's order
}

// jobOf is what records have in common that answer one job, or two jobs with one name.
type jobOf struct {
	cluster string
	key     int64
}

// begin is the first round trip.
func (a *appending) begin(ctx context.Context, records []audit.Record) error {
	var b pgx.Batch
	b.Queue("BEGIN")
	if len(records) > 0 {
		keys := make([]int64, len(records))
		for i := range records {
			keys[i] = records[i].JobKey
		}
		b.Queue(takeChain, a.store.badChains()).Query(a.readHead)
		b.Queue(takeIDs, len(records)).Query(a.readIDs)
		b.Queue(findJobs, keys).Query(a.readStored)
	}
	return a.conn.SendBatch(ctx, &b).Close()
}

func (a *appending) readStored(rows pgx.Rows) error {
	return each(rows, func(r *audit.Record) error {
		stored, job := *r, jobOf{r.Cluster, r.JobKey}
		a.stored[job] = append(a.stored[job], &stored)
		return nil
	})
}

func (a *appending) readHead(rows pgx.Rows) error {
	heads, err := pgx.CollectRows(rows, scanHead)
	if err == nil && len(heads) == 1 && a.store.trusts(heads[0]) {
		a.chain = audit.ChainAt(heads[0].Chain, heads[0].Seq, heads[0].Hash)
	}
	return err
}

func (a *appending) readIDs(rows pgx.Rows) (err error) {
	a.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	return err
}

// link finds what is stored already, and links the rest. It goes by job, or two replicas that append the same jobs in
// different orders would wait for one another. The records of one job keep their order, and a later job of a claim has
// the greater key.
func (a *appending) link(ctx context.Context, records []audit.Record) error {
	a.results, a.found = make([]audit.Appended, len(records)), make([]*audit.Record, len(records))
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(records[i].JobKey, records[j].JobKey) })
	for _, i := range order {
		r := records[i]
		clean(&r)
		job := jobOf{r.Cluster, r.JobKey}
		same := slices.IndexFunc(a.stored[job], func(stored *audit.Record) bool { return stored.Key == r.Key })
		if same >= 0 {
			a.found[i], a.results[i].Repeated = a.stored[job][same], true
			continue
		}
		a.results[i].JobKeyReused = slices.ContainsFunc(a.stored[job], func(stored *audit.Record) bool {
			return stored.ProcessInstanceKey != r.ProcessInstanceKey
		})
		if err := a.needChain(ctx); err != nil {
			return err
		}
		r.ID = a.ids[len(a.added)]
		a.chain.Link(&r)
		a.found[i], a.added = &r, append(a.added, &r)
		a.stored[job] = append(a.stored[job], &r)
	}
	return nil
}

// needChain begins a chain where all others are in use.
func (a *appending) needChain(ctx context.Context) error {
	if a.chain != nil {
		return nil
	}
	var number int
	if err := a.conn.QueryRow(ctx, "SELECT nextval('chains')").Scan(&number); err != nil {
		return err
	}
	a.chain, a.fresh = audit.NewChain(number), true
	return nil
}

// commit is the second round trip.
func (a *appending) commit(ctx context.Context, answered []int64) error {
	var b pgx.Batch
	var head audit.Head
	if len(a.added) > 0 {
		head = a.store.secret.Head(a.chain, time.Now())
		b.Queue(insertRecords, arguments(a.chain.Number(), a.added)...)
		if a.fresh {
			b.Queue(noteChain, strconv.Itoa(head.Chain))
		}
		b.Queue(setHead, head.Chain, head.Seq, head.Hash[:], head.At, head.Signature)
	}
	if len(answered) > 0 {
		b.Queue(deleteAnswered, answered)
	}
	if len(a.results) > 0 && len(a.added) == 0 {
		// A record that is stored already may be on this server only: where a commit's wait for the synchronous standby is
		// cut short, the transaction is done all the same, and everybody sees it. A commit waits for all that was written
		// before it, but only where its own transaction has written something.
		queueWrite(&b)
	}
	b.Queue("COMMIT")
	err := a.conn.SendBatch(ctx, &b).Close()
	if violation, ok := errors.AsType[*pgconn.PgError](err); ok && violation.ConstraintName == "records_place" {
		// The head was put back behind its records: `worker audit verify` shows it, and another chain is extended.
		a.store.avoid(a.chain.Number())
	}
	if err == nil && len(a.added) > 0 {
		a.store.remember(head)
	}
	return err
}

// trusts reports whether the chain of a head may be extended. To sign what follows a forged head would make it look like ours;
// such a chain is left as it is, for `worker audit verify` to name.
func (s *store) trusts(h audit.Head) bool {
	s.mu.Lock()
	last := s.heads[h.Chain]
	s.mu.Unlock()
	ours := last.Seq == h.Seq && last.Hash == h.Hash && last.At.Equal(h.At) && bytes.Equal(last.Signature, h.Signature)
	if ours || s.secret.Public().CheckHead(h) {
		return true
	}
	s.avoid(h.Chain)
	return false
}

func (s *store) remember(h audit.Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads[h.Chain] = h
}

func (s *store) avoid(chain int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, int32(chain)) //nolint:gosec // it comes from an integer column
}

func (s *store) badChains() []int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int32{}, s.bad...)
}
