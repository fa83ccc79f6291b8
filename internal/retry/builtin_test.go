package retry_test

import (
	"fmt"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
)

// life is what becomes of a job that fails with the same text again and again: the wait before each retry,
// then the end.
func life(t *testing.T, p *retry.Policy, text string) (waits []time.Duration, end string) {
	t.Helper()
	r := retry.Request{ClaimID: "CLM-001-1", SubmissionError: text}
	for range retry.RetriesCeiling + 1 {
		d := p.Decide(r, now)
		if d.Outcome != retry.OutcomeRetry {
			return waits, d.ErrorCode()
		}
		waits, r.RetryCount = append(waits, d.Backoff), d.RetryCount
	}
	t.Fatalf("%s: %q is tried again without end", p.Name, text)
	return nil, ""
}

// "Mecanismo de Retentativa": delay = min(retry_delay * 2^(attempts-1), max_retry_delay). It counts attempts,
// the first one included; a job that has made n of them has been retried n-1 times.
func TestQueueWaitsByTheFormulaOfItsDocument(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		attempts int // 0: the policy's three
		delay    time.Duration
		cap      time.Duration
		want     string
	}{
		{"as the document has it", 0, 0, 0, "[5m0s 10m0s]"},
		{"its example: five attempts from one minute to one hour", 5, 60_000 * ms, 3_600_000 * ms, "[1m0s 2m0s 4m0s 8m0s]"},
		{"the cap of a day", 12, 0, 0, "[5m0s 10m0s 20m0s 40m0s 1h20m0s 2h40m0s 5h20m0s 10h40m0s 21h20m0s 24h0m0s 24h0m0s]"},
	} {
		o := retry.Overrides{Base: retry.ISODuration(tt.delay), Max: retry.ISODuration(tt.cap)}
		if tt.attempts != 0 {
			retries := tt.attempts - 1
			o.MaxRetries = &retries
		}
		waits, end := life(t, overridden(t, policy.BuiltIn("job-queue"), o), "ECONNRESET")
		if got := fmt.Sprint(waits); got != tt.want || end != string(retry.OutcomeExhausted) {
			t.Errorf("%s: %s, then %s; want %s", tt.name, got, end, tt.want)
		}
	}
}

// "02-retry-strategy": min(max_delay, base_delay * 2^attempt), a quarter to both sides; five attempts in all
// are four waits. While developing three attempts, the waits from half a second on.
func TestMailWaitsWithinAQuarterOfItsFormula(t *testing.T) {
	for name, want := range map[string][]string{
		"smtp":     {"750ms..1.25s", "1.5s..2.5s", "3s..5s", "6s..10s"},
		"smtp-dev": {"375ms..625ms", "750ms..1.25s"},
	} {
		p := policy.BuiltIn(name)
		var bands []string
		for n := range p.MaxRetries {
			from, to, _ := p.Band(n)
			bands = append(bands, fmt.Sprintf("%v..%v", from, to))
		}
		if fmt.Sprint(bands) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, bands, want)
		}
		waits, end := life(t, p, "421 4.3.2 Service shutting down")
		if len(waits) != len(want) || end != string(retry.OutcomeExhausted) {
			t.Errorf("%s: %d retries, then %s", name, len(waits), end)
		}
		if _, longest, _ := p.Band(1 << 30); longest != time.Duration(p.Max) {
			t.Errorf("%s: waits %v in the end, want its max %v", name, longest, p.Max)
		}
	}
	if prod, dev := policy.BuiltIn("smtp").Max, policy.BuiltIn("smtp-dev").Max; prod != retry.Duration(300*time.Second) || dev != retry.Duration(30*time.Second) {
		t.Errorf("max %v and %v, want 300 s and 30 s", prod, dev)
	}
}

// "Retry Failed Job Use Case": 1000 * 5^attempt milliseconds, at most 30 s: three retries after 1, 5 and 25
// seconds, of any error.
func TestFastJobIsRetriedAfter1And5And25Seconds(t *testing.T) {
	waits, end := life(t, policy.BuiltIn("fast"), "Serviço externo indisponível")
	if got := fmt.Sprint(waits); got != "[1s 5s 25s]" || end != string(retry.OutcomeExhausted) {
		t.Errorf("%s, then %s; want [1s 5s 25s], then no more", got, end)
	}
	if got := policy.BuiltIn("fast").Delay(3); got != 30*time.Second {
		t.Errorf("a fourth wait would be %v, want the 30 s of the cap", got)
	}
}
