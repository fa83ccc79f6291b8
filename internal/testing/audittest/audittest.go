// Package audittest holds the stores of audit records to one set of facts, and makes records for tests.
package audittest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/audit"
)

// Database is where a store keeps its records: empty at first, and opened as often as a fact needs.
type Database interface {
	// Open opens a store on it that reads and writes. The caller closes it.
	Open(t *testing.T, secret *audit.Secret) (audit.Store, error)
	// Tamper executes an SQL statement as somebody who may do anything: nothing that guards the tables holds. The tables are records,
	// heads, tombstones and meta, and the columns those of both stores' first migration. The store may be open.
	Tamper(t *testing.T, statement string)
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
		{"purge", purgeFacts},
		{"retention", retainFacts},
		{"floor", floorFacts},
		{"tampering", tamperFacts},
		{"crashes", crashFacts},
		{"open", openFacts},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, f := range part.facts {
				t.Run(f.name, func(t *testing.T) { f.check(t, begin(t, empty)) })
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

func begin(t *testing.T, empty func(t *testing.T) Database) *subject {
	t.Helper()
	secret, err := audit.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{database: empty(t), secret: secret}
	s.open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
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
func (s *subject) append(t *testing.T, records ...audit.Record) []audit.Appended {
	t.Helper()
	results, err := s.Append(t.Context(), records, nil)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	if len(results) != len(records) {
		t.Fatalf("appended %d records and got %d results", len(records), len(results))
	}
	return results
}

// all returns every stored record, in the order of time.
func (s *subject) all(t *testing.T) (all []audit.Record) {
	t.Helper()
	err := s.Between(t.Context(), time.Time{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), func(r *audit.Record) error {
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
	return audit.Verify(t.Context(), s, s.secret.Public(), known, nil)
}

func (s *subject) mustVerify(t *testing.T, records int64) audit.Verified {
	t.Helper()
	v, err := s.verify(t)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if v.Records != records {
		t.Fatalf("%d records were checked, want %d", v.Records, records)
	}
	return v
}

// Start is when the first of the made records was decided: long enough ago for every retention to be over.
var Start = time.Date(2015, 3, 1, 8, 0, 0, 0, time.UTC)

// FirstJobKey is the job key of the first of the made records; a broker's keys look like that.
const FirstJobKey = 2251799813685249

// Record makes the nth decision of a busy hospital, a minute after the one before: to try a claim of its own again. It
// is as large as a real one.
func Record(n int) audit.Record {
	at := Start.Add(time.Duration(n) * time.Minute)
	r := audit.Record{
		Kind: audit.KindRetry, At: at, ClaimID: fmt.Sprintf("CLM-2015-%08d", n), RetryCount: n % 5, NextRetryTime: at.Add(10 * time.Minute),
		Variables: fmt.Sprintf(`{"shouldRetry":true,"retryCount":%d,"maxRetries":5,"backoffMinutes":10,"nextRetryTime":%q,"retryReason":"Transient error, retry %d of 5","errorClassification":"TRANSIENT","retryDecision":{"policy":"tiss","policyVersion":"1","ruleId":"transient","matchedCode":"TIMEOUT","delayBeforeJitter":"PT10M","backoffDuration":"PT10M","retriesLeft":4,"secondsSinceLastSubmission":61}}`, n%5+1, at.Add(10*time.Minute).Format(time.RFC3339), n%5+1),
		Detail:    fmt.Sprintf(`{"processId":"SUB_06","elementId":"analyze-retry","submissionError":"TIMEOUT: the insurer's gateway did not answer within 30 s","steps":{"errorReceived":%q,"afterMicros":[0,41,43,43,43,44]},"executionTimeMs":0.044}`, at.Format(time.RFC3339Nano)),
	}
	r.Cluster, r.JobKey, r.ProcessInstanceKey = "production", FirstJobKey+int64(n), FirstJobKey+int64(n)-7
	copy(r.Inputs[:], fmt.Sprintf("inputs%010d", n))
	return r
}

// Records makes the records from <= n < to.
func Records(from, to int) []audit.Record {
	records := make([]audit.Record, 0, to-from)
	for n := from; n < to; n++ {
		records = append(records, Record(n))
	}
	return records
}

// Fill appends the records from <= n < to as fast as the store takes them.
func Fill(ctx context.Context, store audit.Log, from, to int) error {
	const batch = 2000
	for ; from < to; from += batch {
		if _, err := store.Append(ctx, Records(from, min(from+batch, to)), nil); err != nil {
			return err
		}
	}
	return nil
}

func stored(results []audit.Appended) []audit.Record {
	records := make([]audit.Record, len(results))
	for i := range results {
		records[i] = results[i].Record
	}
	return records
}

func ids(results []audit.Appended) []int64 {
	list := make([]int64, len(results))
	for i := range results {
		list[i] = results[i].Record.ID
	}
	return list
}

// same fails where two things differ; times must be the same to the last detail.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	times := cmp.Comparer(func(a, b time.Time) bool { return a == b }) //nolint:staticcheck // the same instant in another zone is not the same
	if diff := cmp.Diff(want, got, times); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
