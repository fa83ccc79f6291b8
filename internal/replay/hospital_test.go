package replay_test

import (
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/replay"
	"hospital.example/analyze-retry/internal/retry"
)

// hospital is a process under a policy, whose worker records what it decides.
type hospital struct {
	policy  *retry.Policy
	records []audit.Record
}

// late is how long after its time a retry is decided about: no timer is exact.
const late = 7 * time.Second

var monday = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// at is a time of the day of the tests.
func at(clock string) time.Time {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err)
	}
	return monday.Truncate(24 * time.Hour).Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute)
}

// submits plays a claim that fails with a text from its first submission until the insurer is up, and returns how it ends.
func (h *hospital) submits(claim, text string, first, up time.Time) audit.Kind {
	return h.fails(claim, first, func(tried time.Time, _ int) string {
		if tried.Before(up) {
			return text
		}
		return ""
	})
}

// fails plays a claim whose tries say what error gives, empty for none. A try is asked by the time at which it was due.
func (h *hospital) fails(claim string, first time.Time, failure func(tried time.Time, retries int) string) audit.Kind {
	request := retry.Request{ClaimID: claim, ProcessInstanceKey: int64(len(claim))}
	due, decided := first, first
	for range retry.RetriesCeiling + 1 {
		if request.SubmissionError = failure(due, request.RetryCount); request.SubmissionError == "" {
			h.ends(audit.KindSubmitted, claim, decided)
			return audit.KindSubmitted
		}
		d, err := h.policy.Decide(request, decided)
		if err != nil {
			panic(err)
		}
		kind := h.decides(&request, &d, decided)
		if kind != audit.KindRetry {
			return kind
		}
		if request.RetryCount == 0 {
			request.FirstFailure = decided
		}
		request.RetryCount, due, decided = d.RetryCount, d.NextRetryTime, d.NextRetryTime.Add(late)
	}
	panic(claim + " is tried again without end")
}

func (h *hospital) decides(r *retry.Request, d *retry.Decision, decided time.Time) audit.Kind {
	answer := contract.Of(d, contract.JobType)
	variables, detail := contract.Encode(contract.JobType, &answer, &contract.Detail{SubmissionError: r.SubmissionError})
	record := audit.Record{
		Kind: audit.KindOf(d.Outcome), At: decided, Key: audit.Key{ProcessInstanceKey: r.ProcessInstanceKey}, ClaimID: r.ClaimID,
		RetryCount: r.RetryCount, NextRetryTime: d.NextRetryTime, Variables: variables, Detail: detail,
	}
	h.records = append(h.records, record)
	return record.Kind
}

func (h *hospital) ends(kind audit.Kind, claim string, when time.Time) {
	h.records = append(h.records, audit.Record{Kind: kind, ClaimID: claim, At: when, Variables: "{}", Detail: "{}"})
}

// replayed replays the records of a hospital in the order of their times.
func (h *hospital) replayed(t interface{ Fatal(...any) }, p *retry.Policy) *replay.Replay {
	again := replay.New(p, "")
	slices.SortStableFunc(h.records, func(a, b audit.Record) int { return a.At.Compare(b.At) })
	for i := range h.records {
		if err := again.Add(&h.records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return again
}

func tiss() *hospital { return &hospital{policy: policy.BuiltIn("tiss")} }
