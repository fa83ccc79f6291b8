// Package audittest holds the stores of audit records to one set of facts, and makes records for tests.
package audittest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Database is where a store keeps its records: empty at first, and opened as often as a fact needs.
type Database interface {
	// Open opens a store on it that reads and writes. The caller closes it.
	Open(t *testing.T, secret *audit.Secret) (audit.Store, error)
	// Tamper executes an SQL statement past everything that guards the tables. The tables are records,
	// claims, heads, cuts and meta, and the columns those that both stores have. The store may be open.
	Tamper(t *testing.T, statement string)
	// Purger returns the open store as somebody sees it who may remove records.
	Purger(t *testing.T, s audit.Store, secret *audit.Secret) audit.Store
	// Later is an SQL expression for the time in a column, some seconds later.
	Later(column string) string
	// Bytes is an SQL literal for bytes.
	Bytes(b []byte) string
}

// Exercise checks that a store keeps what [audit.Store] promises. empty makes a new database for each fact.
func Exercise(t *testing.T, empty func(t *testing.T) Database) {
	t.Helper()
	for _, part := range []struct {
		name  string
		facts []fact
	}{
		{"append", appendFacts},
		{"outbox", outboxFacts},
		{"history", historyFacts},
		{"claims", claimFacts},
		{"purge", purgeFacts},
		{"tampering", tamperFacts},
		{"open", openFacts},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, f := range part.facts {
				t.Run(f.name, func(t *testing.T) {
					t.Parallel()
					f.check(t, newSubject(t, empty))
				})
			}
		})
	}
}

// fact is something that holds of every store.
type fact struct {
	name  string
	check func(t *testing.T, s *subject)
}

// subject is a store that is open on a new database.
type subject struct {
	audit.Store
	database Database
	secret   *audit.Secret
}

func newSubject(t *testing.T, empty func(t *testing.T) Database) *subject {
	t.Helper()
	s := &subject{database: empty(t), secret: Secret(t)}
	s.open(t)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	return s
}

func (s *subject) open(t *testing.T) {
	t.Helper()
	store, err := s.database.Open(t, s.secret)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	s.Store = store
}

// reopen is the restart of the worker.
func (s *subject) reopen(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	s.open(t)
}

// append appends and returns what became of the records.
func (s *subject) append(t *testing.T, records ...audit.Record) []audit.Stored {
	t.Helper()
	return Append(t, s, records...)
}

// all returns every stored record, in the order of time.
func (s *subject) all(t *testing.T) (all []audit.Record) {
	t.Helper()
	err := s.Between(t.Context(), time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil, func(r *audit.Record) error {
		all = append(all, *r)
		return nil
	})
	if err != nil {
		t.Fatalf("between: %v", err)
	}
	return all
}

// verify checks the store's chains.
func (s *subject) verify(t *testing.T, known ...audit.Head) (audit.Verified, error) {
	t.Helper()
	return audit.Verify(t.Context(), s, s.secret.Public(), known)
}

func (s *subject) mustVerify(t *testing.T, records int64) audit.Verified {
	t.Helper()
	return Verify(t, s, s.secret, records)
}

// IsBroken reports whether the error is that the trail does not hold.
func IsBroken(err error) bool {
	_, is := errors.AsType[*audit.BrokenError](err)
	return is
}

func stored(results []audit.Stored) []audit.Record {
	records := make([]audit.Record, len(results))
	for i := range results {
		records[i] = results[i].Record
	}
	return records
}

// same fails where two things differ; times must be the same to the last detail.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	times := cmp.Comparer(func(a, b time.Time) bool { return a == b }) //nolint:staticcheck // the same instant in another zone is not the same
	if diff := cmp.Diff(want, got, times, cmp.AllowUnexported(audit.Instance{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
