package audittest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Secret makes a key.
func Secret(tb testing.TB) *audit.Secret {
	tb.Helper()
	secret, err := audit.NewSecret()
	check.Must(tb, err)
	return secret
}

// SavedSecret makes a key and saves it in a file, whose path it returns.
func SavedSecret(tb testing.TB) (secret *audit.Secret, path string) {
	tb.Helper()
	secret, path = Secret(tb), filepath.Join(tb.TempDir(), "audit.key")
	check.Must(tb, secret.Save(path))
	return secret, path
}

// Start is when the first of the made records was decided, long ago.
var Start = time.Date(2015, 3, 1, 8, 0, 0, 0, time.UTC)

// firstJobKey is the job key of the first of the made records; a broker's keys look like that.
const firstJobKey = 2251799813685249

// Record makes the nth decision of a busy hospital, a minute after the one before: to try a claim of its own again. It
// is as large as a real one.
func Record(n int) audit.Record {
	at := Start.Add(time.Duration(n) * time.Minute)
	r := audit.Record{
		Kind: audit.KindRetry, At: at, ClaimID: fmt.Sprintf("CLM-2015-%08d", n), RetryCount: n%5 + 1, NextRetryTime: at.Add(10 * time.Minute),
		MaxRetries: 5, Policy: "tiss", Class: "TRANSIENT", Rule: "transient", Code: "TIMEOUT",
		Variables: fmt.Sprintf(`{"shouldRetry":true,"retryCount":%d,"maxRetries":5,"backoffMinutes":10,"nextRetryTime":%q,"retryReason":"Transient error, retry %d of 5","errorClassification":"TRANSIENT","retryDecision":{"policy":"tiss","policyVersion":"1","ruleId":"transient","matchedCode":"TIMEOUT","delayBeforeJitter":"PT10M","backoffDuration":"PT10M","retriesLeft":4,"secondsSinceLastSubmission":61}}`, n%5+1, at.Add(10*time.Minute).Format(time.RFC3339), n%5+1),
		Detail:    fmt.Sprintf(`{"processId":"SUB_06","elementId":"analyze-retry","submissionError":"TIMEOUT: the insurer's gateway did not answer within 30 s","steps":{"errorReceived":%q,"afterMicros":[0,41,43,43,43,44]},"executionTimeMs":0.044}`, at.Format(time.RFC3339Nano)),
	}
	r.Cluster, r.JobKey, r.ProcessInstanceKey = "production", firstJobKey+int64(n), firstJobKey+int64(n)-7
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

// Ended makes the same records as ends of claims, which leave nothing open.
func Ended(from, to int) []audit.Record {
	records := Records(from, to)
	for i := range records {
		r := &records[i]
		r.Kind, r.NextRetryTime, r.MaxRetries, r.Class, r.Rule, r.Code = audit.KindSubmitted, time.Time{}, 0, "", "", ""
	}
	return records
}

// Entries returns entries that become these records whatever is known of their claims.
func Entries(records ...audit.Record) []audit.Entry {
	entries := make([]audit.Entry, len(records))
	for i, r := range records {
		entries[i] = audit.Entry{Key: r.Key, ClaimID: r.ClaimID, Make: func(audit.State) audit.Record { return r }}
	}
	return entries
}

// Key returns a key to open a store with.
func Key(secret *audit.Secret) func(fresh bool) (*audit.Secret, error) {
	return func(bool) (*audit.Secret, error) { return secret, nil }
}

// Probe asks whether a store takes writes.
func Probe(ctx context.Context, s audit.Log) error {
	_, err := s.Append(ctx, nil)
	return err
}

// Fill appends the records as fast as the store takes them.
func Fill(ctx context.Context, store audit.Log, records []audit.Record) error {
	for some := range slices.Chunk(records, audit.MaxBatch) {
		if _, err := store.Append(ctx, Entries(some...)); err != nil {
			return err
		}
	}
	return nil
}

// IDs returns the IDs of records that were appended.
func IDs(results []audit.Stored) []int64 {
	ids := make([]int64, len(results))
	for i := range results {
		ids[i] = results[i].Record.ID
	}
	return ids
}

// Append appends records and returns what became of them.
func Append(tb testing.TB, store audit.Log, records ...audit.Record) []audit.Stored {
	tb.Helper()
	results, err := store.Append(tb.Context(), Entries(records...))
	check.Must(tb, err)
	if len(results) != len(records) {
		tb.Fatalf("appended %d records and got %d results", len(records), len(results))
	}
	for _, r := range results {
		check.Must(tb, r.Err)
	}
	return results
}

// Verify checks a store and fails the test unless all is in order and it has so many records.
func Verify(tb testing.TB, store audit.Store, secret *audit.Secret, records int64) audit.Verified {
	tb.Helper()
	v, err := audit.Verify(tb.Context(), store, secret.Public(), nil)
	if err != nil || v.Records != records {
		tb.Fatalf("%d records are in order, %v; want %d", v.Records, err, records)
	}
	return v
}

// Purge removes what was decided before a time, of which there must be something.
func Purge(tb testing.TB, store audit.Store, before time.Time) {
	tb.Helper()
	all, held, err := audit.Purge(tb.Context(), store, before, false)
	check.Must(tb, err)
	if len(all) == 0 {
		tb.Fatalf("nothing can be removed: %+v", held)
	}
}
