package retry_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden pins the jitter for ever: a change in it moves the next try of every claim that waits, makes a
// redelivered job answer otherwise than before, and contradicts what the audit trail says. Rewrite it only
// together with a new version number in the jitter's hash.
func TestJitterGolden(t *testing.T) {
	const path = "testdata/jitter.golden"
	var b strings.Builder
	often := 7 // the golden has more retries than tiss
	tiss, err := policy.BuiltIn("tiss").With(retry.Overrides{MaxRetries: &often})
	check.Must(t, err)
	fmt.Fprintf(&b, "# policy %s: claim, process instance: minutes for retryCount 0 1 2 3 4 6\n", tiss.Name)
	for _, claim := range []string{"CLM-001-1", "CLM-001-2", "CLM-ENC-001-1234567890", "CLM--0", "CLM-ÇÃO-7"} {
		for _, instance := range []int64{0, 1, 2251799813685249} {
			fmt.Fprintf(&b, "%s %d:", claim, instance)
			for _, retryCount := range []int{0, 1, 2, 3, 4, 6} {
				r := retry.Request{ClaimID: claim, RetryCount: retryCount, ProcessInstanceKey: instance}
				fmt.Fprintf(&b, " %d", tiss.Decide(r, now).Backoff/time.Minute)
			}
			b.WriteByte('\n')
		}
	}
	if *update {
		check.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	check.Must(t, err)
	if b.String() != string(want) {
		t.Errorf("the jitter moved.\ngot:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestThePolicyVersionIsPinned(t *testing.T) {
	const want = "206e27fc539e"
	if got := policy.BuiltIn("tiss").Version(); got != want {
		t.Errorf("version %s, want %s: the rule or a table changed. If that is meant, change the version here and in the pages", got, want)
	}
}
