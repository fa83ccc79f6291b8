package contract_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// drawDecision asks a random policy a random question.
func drawDecision(t *rapid.T) retry.Decision {
	p := policy.BuiltIn(rapid.SampledFrom([]string{"tiss", "smtp", "job-queue", "fast"}).Draw(t, "policy"))
	now := time.Unix(rapid.Int64Range(1e9, 4e9).Draw(t, "now"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
	o := retry.Overrides{
		Base: rapid.SampledFrom([]retry.ISODuration{0, retry.ISODuration(time.Minute)}).Draw(t, "base"), Max: rapid.SampledFrom([]retry.ISODuration{0, retry.ISODuration(time.Hour)}).Draw(t, "max"),
		Deadline: rapid.SampledFrom([]retry.ISODuration{0, retry.ISODuration(90 * time.Minute)}).Draw(t, "deadline"),
	}
	if rapid.Bool().Draw(t, "overrides the limit") {
		limit := rapid.IntRange(0, 9).Draw(t, "limit")
		o.MaxRetries = &limit
	}
	p, err := p.With(o)
	check.Must(t, err)
	d := p.Decide(retry.Request{
		ClaimID:         "CLM-" + rapid.StringMatching(`[A-Z]{1,3}`).Draw(t, "claim") + "-1",
		SubmissionError: rapid.SampledFrom([]string{"TIMEOUT", "DUPLICATE_CLAIM", "HTTP 503", "?", "550 5.1.1", "Retry-After: 600"}).Draw(t, "error"),
		RetryCount:      rapid.IntRange(0, 7).Draw(t, "count"),
		RetryAfter: rapid.SampledFrom([]retry.Hint{
			{}, {Source: retry.HintVariable, After: 90e9}, {Source: retry.HintVariable, Until: now.Add(time.Hour).UTC().Truncate(time.Second)},
		}).Draw(t, "hint"),
		LastSubmissionTime: rapid.SampledFrom([]time.Time{{}, now.Add(-time.Minute), now.Add(time.Minute)}).Draw(t, "last submission"),
		Ignored:            rapid.SampledFrom([][]string{nil, {contract.RetryAfter}}).Draw(t, "ignored"),
	}, now)
	return d
}

func drawDetail(t *rapid.T) contract.Detail {
	texts := rapid.SampledFrom([]string{"", "TIMEOUT <b> & \u2028 [cpf]", `o "convênio"` + "\n\t\\\x01é💥", "x"})
	at := time.Unix(rapid.Int64Range(1e9, 4e9).Draw(t, "seconds"), 123456000).UTC()
	d := contract.Detail{
		ProcessID: texts.Draw(t, "process"), ElementID: texts.Draw(t, "element"), SubmissionError: texts.Draw(t, "error"),
		ExecutionTimeMs: rapid.Float64Range(0, 1e6).Draw(t, "ms"), Attempts: rapid.IntRange(0, 9).Draw(t, "attempts"),
		Policy: texts.Draw(t, "policy of the round"), Justification: texts.Draw(t, "justification"), DecidedBy: texts.Draw(t, "decided by"),
		RedriveID: texts.Draw(t, "redrive"), RedriveWait: contract.ISODuration(rapid.Int64Range(0, 1e9).Draw(t, "wait") * 1e6),
	}
	if rapid.Bool().Draw(t, "steps") {
		d.Steps = &contract.Steps{ErrorReceived: at, AfterMicros: [6]int64{0, 1, 2, 3, 4, 1e15}}
	}
	if rapid.Bool().Draw(t, "first failure") {
		d.FirstFailureTime = at
	}
	return d
}

// Of both job types.
func TestEveryDecisionAndDetailIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decision, detail := drawDecision(t), drawDetail(t)
		jobType := rapid.SampledFrom([]string{contract.JobType, contract.BackoffJobType}).Draw(t, "job type")
		want := contract.Facts{Decision: contract.Of(&decision, jobType, text.English), Detail: detail}

		variables, rest := want.Decision.Encode(), want.Detail.Encode()
		got, err := contract.Read(variables, rest)
		if err != nil {
			t.Fatalf("%s\n%s: %v", variables, rest, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("written as\n%s\n%s\nread back (-want +got):\n%s", variables, rest, diff)
		}
	})
}

// A form shows them, where the pattern by which a phrase was found says little.
func TestAPhraseHasTheMeaningOfItsRule(t *testing.T) {
	for submissionError, want := range map[string]string{
		"Login ou senha inválidos": "invalid*: login, certificado ou configuração do hospital",
		"HTTP 404":                 "404: Not Found",
		"TIMEOUT":                  "TIMEOUT: ",
		"?":                        ": ",
	} {
		d := policy.BuiltIn("tiss").Decide(retry.Request{ClaimID: "CLM-A-1", SubmissionError: submissionError}, time.Unix(1e9, 0))
		x := contract.Of(&d, contract.JobType, text.Portuguese).RetryDecision
		check.Same(t, want, x.MatchedCode+": "+x.MatchedMeaning, "%s", submissionError)
	}
}

func TestADurationIsWrittenAsATimerEventReadsIt(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "PT0M", time.Millisecond: "PT0.001S", 750 * time.Millisecond: "PT0.75S", time.Second: "PT1S", 90 * time.Second: "PT90S",
		time.Minute: "PT1M", 4 * time.Hour: "PT240M", 24 * time.Hour: "PT1440M",
	} {
		if got := contract.ISODuration(d).String(); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}

// A record of an outcome has no variables, one of a rejected input has no detail.
func TestARecordMayLackEitherHalf(t *testing.T) {
	for _, halves := range [][2]string{{"", `{"attempts":2}`}, {`{"retryCount":2}`, ""}} {
		got, err := contract.Read(halves[0], halves[1])
		check.Must(t, err)
		check.Same(t, 2, got.Attempts+got.RetryCount, "what %q says", halves)
	}
}

func TestWhatIsNoRecordIsNotRead(t *testing.T) {
	_, err := contract.Read(`{"retryDecision":{"overrides":{"base":"soon"}}}`, "")
	check.Fails(t, err, "its variables cannot be read", "is no duration such as 500ms")
}
