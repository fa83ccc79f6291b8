// Package reading answers the questions about the audit records in either database.
//
// Both have the same tables and are asked in the same words. What differs is in a [Dialect]; each reads by
// its own driver, and how they write is theirs.
package reading

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Reader is the part of an [audit.Store] that answers questions.
type Reader struct {
	DB     Database
	Secret *audit.Secret // nil where a reader has none
	// Snapshot calls read with the store as it is at one moment, for as long as it takes.
	Snapshot func(ctx context.Context, read func(Database) error) error
	// Failed says which store an error is about, and what was being done; nil stays nil.
	Failed func(doing string, err error) error
	Dialect
}

// Database is a pool of a driver, a connection or a transaction.
type Database interface {
	// Read reads each row of the answer to a query.
	Read(ctx context.Context, row Row, query string, args ...any) error
}

// Row is where the columns of a row are read into, and what is then called.
type Row struct {
	Into []any
	Each func() error
}

// Dialect is where the two databases differ.
type Dialect struct {
	// Chains is how many chains there are.
	Chains int
	// Row finds the value of the column RowKey by which the row of a claim is looked up.
	RowKey string
	Row    func(ctx context.Context, from Database, claimID string) (any, error)
	// Alike groups the records that a [audit.Total] counts.
	Alike string
	// Backlog asks for what [audit.Outbox.Backlog] returns, Expired for what may be removed of each chain:
	// the last of the records that were decided before $1 and how many they are.
	Backlog, Expired string
}

// One reads the only row, if there is one.
func One(into ...any) Row { return Row{into, func() error { return nil }} }

// Record calls visit with each record, of which all Columns are read. It is valid during the call.
func Record(visit func(*audit.Record) error) Row {
	var r audit.Record
	into := make([]any, len(Columns))
	for i, c := range Columns {
		into[i] = c.Field(&r)
	}
	return Row{into, func() error { return visit(&r) }}
}

// State calls visit with each claim, of which claim_id and state are read, or with why its row cannot be
// read.
func State(secret *audit.Secret, visit func(claim string, state *audit.State, err error) error) Row {
	var claim string
	var row sql.RawBytes
	return Row{[]any{&claim, &row}, func() error {
		state, err := secret.ReadState(claim, row)
		return visit(claim, &state, err)
	}}
}

// Head calls visit with each signed place, of which all columns of heads or cuts are read.
func Head(visit func(audit.Head)) Row {
	var h audit.Head
	return Row{[]any{&h.Chain, &h.Seq, bytes(h.Hash[:]), (*moment)(&h.At), &h.Signature}, func() error {
		visit(h)
		h.Signature = nil // the next one has memory of its own
		return nil
	}}
}

// Meta returns a value of the table meta, empty where there is none.
func Meta(ctx context.Context, from Database, name string) (value string, err error) {
	err = from.Read(ctx, One(&value), "SELECT value FROM meta WHERE name = $1", name)
	return value, err
}

// Trust forgets a secret that is another store's: it says nothing about the rows of claims.
func (r *Reader) Trust(ctx context.Context) error {
	if r.Secret == nil {
		return nil
	}
	key, err := Meta(ctx, r.DB, "key")
	if key != r.Secret.Public().ID() {
		r.Secret = nil
	}
	return err
}

const selectStates = "SELECT claim_id, state FROM claims"

// Open implements [audit.Store].
func (r *Reader) Open(ctx context.Context, visit func(string, *audit.State) error) error {
	var unread []error
	err := r.DB.Read(ctx, State(r.Secret, func(claim string, state *audit.State, err error) error {
		if err != nil {
			unread = append(unread, err)
			return nil
		}
		return visit(claim, state)
	}), selectStates)
	if err == nil {
		err = errors.Join(unread...)
	}
	return r.Failed("read the open claims", err)
}

// Claim implements [audit.Store].
func (r *Reader) Claim(ctx context.Context, claim string) (state audit.State, all []audit.Record, err error) {
	err = r.Snapshot(ctx, func(from Database) error {
		row, err := r.Row(ctx, from, claim)
		if err != nil {
			return err
		}
		err = from.Read(ctx, State(r.Secret, func(_ string, found *audit.State, err error) error {
			state = *found
			return err
		}), selectStates+" WHERE claim_id = $1 AND "+r.RowKey+" = $2", claim, row)
		if err != nil {
			return err
		}
		all, err = r.Records(ctx, from, SelectClaim, claim, state.Tip)
		return err
	})
	return state, all, r.Failed(fmt.Sprintf("read claim %q", claim), err)
}

// SelectClaim walks the links of the records of the claim $1: from $2, its last one, and from those that no
// row leads to.
var SelectClaim = `WITH RECURSIVE found (n) AS (
		SELECT id FROM records WHERE claim_id = $1 AND kind IN (7, 16, 18)
		UNION SELECT CAST($2 AS bigint)
		UNION SELECT prev FROM found CROSS JOIN records WHERE id = n AND prev > 0
	) ` + Select + " FROM found CROSS JOIN records WHERE id = n ORDER BY id"

// Records returns the records of an answer that has all Columns.
func (r *Reader) Records(
	ctx context.Context, from Database, text string, args ...any,
) (all []audit.Record, err error) {
	err = from.Read(ctx, Record(func(r *audit.Record) error {
		all = append(all, *r)
		return nil
	}), text, args...)
	return all, err
}

// Between implements [audit.Store].
func (r *Reader) Between(
	ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Record) error,
) error {
	text := Select + " FROM records WHERE " + ofTime + ofKinds(kinds) + " ORDER BY at, id"
	return r.Failed("read records", r.DB.Read(ctx, Record(visit), text, from, to))
}

const ofTime = "at >= $1 AND at < $2"

// ofKinds is a condition behind others: of these kinds, of any where none is named. The numbers stand in it,
// as in those of the indexes.
func ofKinds(kinds []audit.Kind) string {
	if len(kinds) == 0 {
		return ""
	}
	numbers := make([]int, len(kinds))
	for i, k := range kinds {
		numbers[i] = int(k)
	}
	return " AND kind IN (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]") + ")"
}

// Totals implements [audit.Store].
func (r *Reader) Totals(
	ctx context.Context, from, to time.Time, kinds []audit.Kind, visit func(*audit.Total) error,
) error {
	var t audit.Total
	row := Row{[]any{
		&t.Kind, &t.Policy, &t.Class, &t.Rule, &t.Code, &t.Flags, &t.Minutes,
		&t.Records, &t.Attempts, &t.Seconds,
	}, func() error { return visit(&t) }}
	return r.Failed("count the records", r.DB.Read(ctx, row,
		`SELECT kind, policy, class, rule, code, course, (seconds + 59) / 60 AS minutes,
			count(*), sum(attempts), CAST(sum(seconds) AS bigint)
		FROM records WHERE `+ofTime+ofKinds(kinds)+" GROUP BY "+r.Alike, from, to))
}

// Heads implements [audit.Store].
func (r *Reader) Heads(ctx context.Context) (heads, cuts []audit.Head, err error) {
	heads, cuts, err = Ends(ctx, r.DB, r.Chains)
	return heads, cuts, r.Failed("read the heads", err)
}

// Ends returns the heads of all chains, and the cuts.
func Ends(ctx context.Context, from Database, chains int) (heads, cuts []audit.Head, err error) {
	for n := range chains {
		heads = append(heads, audit.Head{Chain: n + 1})
	}
	err = from.Read(ctx, Head(func(h audit.Head) {
		if h.Chain > 0 && h.Chain <= chains {
			heads[h.Chain-1] = h
		} else {
			heads = append(heads, h)
		}
	}), "SELECT * FROM heads ORDER BY chain")
	if err == nil {
		err = from.Read(ctx, Head(func(h audit.Head) {
			cuts = append(cuts, h)
		}), "SELECT * FROM cuts ORDER BY chain")
	}
	return heads, cuts, err
}

// Walk implements [audit.Store]. What finds a record is left to the database.
func (r *Reader) Walk(ctx context.Context, w audit.Walker) error {
	return r.Failed("read all", r.Snapshot(ctx, func(from Database) error { return r.Show(ctx, from, w) }))
}

// Show shows all to a walker.
func (r *Reader) Show(ctx context.Context, from Database, w audit.Walker) error {
	heads, cuts, err := Ends(ctx, from, r.Chains)
	if err == nil {
		err = w.Ends(heads, cuts)
	}
	if err == nil {
		err = from.Read(ctx, Record(w.Record), Select+" FROM records ORDER BY id")
	}
	if err == nil {
		err = from.Read(ctx, State(r.Secret, w.Row), selectStates)
	}
	return err
}

// Backlog implements [audit.Store].
func (r *Reader) Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	err = r.DB.Read(ctx, One(&waiting, (*moment)(&oldest)), r.Dialect.Backlog)
	return waiting, oldest, r.Failed("read the outbox", err)
}

// Expired returns what may be removed of each chain because it was decided before a time.
func (r *Reader) Expired(ctx context.Context, from Database, before time.Time) ([]audit.Purged, error) {
	var all []audit.Purged
	var p audit.Purged
	row := Row{[]any{&p.Chain, &p.Through, bytes(p.Hash[:]), &p.Records}, func() error {
		all = append(all, p)
		return nil
	}}
	err := from.Read(ctx, row, r.Dialect.Expired, before)
	return all, err
}
