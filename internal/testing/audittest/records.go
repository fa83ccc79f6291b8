package audittest

import (
	"context"
	"fmt"
	"path/filepath"
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

// IDs returns the IDs of records that were appended.
func IDs(results []audit.Appended) []int64 {
	ids := make([]int64, len(results))
	for i := range results {
		ids[i] = results[i].Record.ID
	}
	return ids
}

// Purge removes what was decided before a time and, where the store's events are published, is.
func Purge(tb testing.TB, store audit.Maintenance, secret *audit.Secret, before time.Time) {
	tb.Helper()
	expired, err := store.Expired(tb.Context(), before)
	check.Must(tb, err)
	if len(expired) == 0 {
		tb.Fatal("nothing can be removed")
	}
	for _, e := range expired {
		check.Must(tb, store.Purge(tb.Context(), secret.Cut(e, time.Now())))
	}
}

// Append appends records and returns what became of them.
func Append(tb testing.TB, store audit.Log, records ...audit.Record) []audit.Appended {
	tb.Helper()
	results, err := store.Append(tb.Context(), records, nil)
	check.Must(tb, err)
	if len(results) != len(records) {
		tb.Fatalf("appended %d records and got %d results", len(records), len(results))
	}
	return results
}

// Verify checks a store and fails the test unless all is in order and it has so many records.
func Verify(tb testing.TB, store audit.Maintenance, secret *audit.Secret, records int64) audit.Verified {
	tb.Helper()
	v, err := audit.Verify(tb.Context(), store, secret.Public(), nil, nil)
	if err != nil || v.Records != records {
		tb.Fatalf("%d records are in order, %v; want %d", v.Records, err, records)
	}
	return v
}
