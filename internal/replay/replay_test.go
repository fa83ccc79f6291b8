package replay_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/replay"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// changed is tiss with something else in it, under a name of its own.
func changed(t *testing.T, change func(*retry.Settings)) *retry.Policy {
	t.Helper()
	p := policy.BuiltIn("tiss").Settings
	p.Name = "other"
	p.Jitter = 0
	p.Rules = slices.Clone(p.Rules)
	change(&p)
	made, err := retry.New(p)
	check.Must(t, err)
	return made
}

// rounds are those of a hospital under a changed tiss.
func (h *hospital) rounds(t *testing.T, change func(*retry.Settings)) replay.Rounds {
	t.Helper()
	return h.replayed(t, changed(t, change)).Rounds()
}

func more(p *retry.Settings) { p.MaxRetries = 8 }

// A replay under the same policy is the test of all that it takes for granted: nothing may come out otherwise.
func TestTheSamePolicyChangesNothing(t *testing.T) {
	texts := []string{"TIMEOUT", "HTTP 503", "weird", "INSURANCE_EXPIRED"}
	rapid.Check(t, func(t *rapid.T) {
		h := tiss()
		h.language = rapid.SampledFrom([]lang.Language{lang.English, lang.Portuguese}).Draw(t, "language")
		claims := rapid.IntRange(1, 20).Draw(t, "claims")
		for n := range claims {
			first := monday.Add(time.Duration(rapid.IntRange(0, 36_000).Draw(t, "first")) * time.Second)
			down := time.Duration(rapid.IntRange(1, 20_000).Draw(t, "down")) * time.Second
			h.submits(fmt.Sprintf("CLM-%d", n)+"-1", rapid.SampledFrom(texts).Draw(t, "text"), first, first.Add(down))
		}
		again := h.replayed(t, h.policy)
		d, r := again.Decisions(), again.Rounds()
		if d.Outcome+d.Class+d.Wait+d.OwnOtherwise+d.Refused != 0 || d.OwnPolicy != d.Replayed {
			t.Fatalf("decisions come out otherwise: %+v", d)
		}
		if r.Judged != claims || r.SavedOwn+r.SavedOthers+r.LostByRule+r.LostByTime+r.Retried != 0 || r.TriesThen != r.Tries || r.WastedThen != r.Wasted {
			t.Fatalf("rounds come out otherwise: %+v", r)
		}
	})
}

func TestClaimIsSavedIfThePolicyStillTriesAtAcceptance(t *testing.T) {
	never := at("23:00")
	for _, test := range []struct {
		name        string
		then        func(h *hospital)
		own, others int
	}{
		{"nothing is known of the insurer", func(*hospital) {}, 0, 0},
		{"another claim with the same trouble is accepted", func(h *hospital) { h.submits("CLM-B-1", "TIMEOUT", at("09:00"), at("11:30")) }, 0, 1},
		{"another claim with another trouble is accepted", func(h *hospital) { h.submits("CLM-B-1", "HTTP 503", at("09:00"), at("11:30")) }, 0, 0},
		{"another claim with the trouble of another time is accepted", func(h *hospital) { h.submits("CLM-B-1", "TIMEOUT", at("12:00"), at("12:20")) }, 0, 0},
		{"another claim is accepted, but long after the policy's last try", func(h *hospital) {
			h.fails("CLM-B-1", at("09:00"), func(_ time.Time, retries int) string { return []string{"TIMEOUT", "", ""}[retries] })
			h.records[len(h.records)-1].At = at("23:59").Add(48 * time.Hour)
		}, 0, 0},
		{"it is accepted itself after a person took it up", func(h *hospital) {
			h.ends(audit.KindResubmitted, "CLM-A-1", at("13:00"))
			h.ends(audit.KindSubmitted, "CLM-A-1", at("13:01"))
		}, 1, 0},
		{"it fails once more then, and is accepted itself", func(h *hospital) {
			h.ends(audit.KindResubmitted, "CLM-A-1", at("13:00"))
			h.submits("CLM-A-1", "TIMEOUT", at("13:01"), at("13:02"))
		}, 1, 0},
		{"it is given up", func(h *hospital) { h.ends(audit.KindAbandoned, "CLM-A-1", at("13:00")) }, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := tiss()
			if end := h.submits("CLM-A-1", "TIMEOUT", at("08:00"), never); end != audit.KindExhausted {
				t.Fatalf("the claim ended as %s", end)
			}
			test.then(h)
			got := h.rounds(t, more)
			if got.SavedOwn != test.own || got.SavedOthers != test.others || got.Exhausted != 1 {
				t.Errorf("saved %d and %d, want %d and %d: %+v", got.SavedOwn, got.SavedOthers, test.own, test.others, got)
			}
			if saved := test.own+test.others > 0; saved != cmp.Equal(got.Saved, []string{"CLM-A-1"}) {
				t.Errorf("the example is %v", got.Saved)
			}
		})
	}
}

func TestClaimIsLostIfThePolicyStopsBeforeAcceptance(t *testing.T) {
	h := tiss()
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:30")) // three retries
	got := h.rounds(t, func(p *retry.Settings) { p.MaxRetries = 1 })
	if got.LostByTime != 1 || got.LostByRule != 0 || got.Tries != 3 || got.Wasted != 0 || got.TriesThen != 1 || got.WastedThen != 1 {
		t.Errorf("with one retry: %+v", got)
	}
	again := h.replayed(t, changed(t, func(p *retry.Settings) {
		p.Rules = append([]retry.Rule{{ID: "now.permanent", Class: retry.Permanent, Condition: evidence.Condition{Contains: []string{"TIMEOUT"}}}}, p.Rules...)
	}))
	got = again.Rounds()
	if got.LostByRule != 1 || got.LostByTime != 0 || got.TriesThen != 0 || got.Needless != 0 || !cmp.Equal(got.Lost, []string{"CLM-A-1"}) {
		t.Errorf("with TIMEOUT permanent: %+v", got)
	}
	rows := again.Decisions().Rows
	want := []replay.Row{{
		Before: replay.Verdict{Rule: "transient.TIMEOUT", Class: retry.Transient, Outcome: audit.KindRetry.String()},
		After:  replay.Verdict{Rule: "now.permanent", Class: retry.Permanent, Outcome: audit.KindPermanent.String()}, Decisions: 3, Claims: []string{"CLM-A-1"},
	}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestRetriesOfANowPermanentErrorWereNeedless(t *testing.T) {
	h := tiss()
	h.submits("CLM-A-1", "weird", at("08:00"), at("23:00"))
	got := h.rounds(t, func(p *retry.Settings) { p.Unknown = retry.Permanent })
	want := replay.Rounds{Judged: 1, Exhausted: 1, Tries: 5, Wasted: 5, Needless: 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRetriedPermanentClaimIsNotCalledSaved(t *testing.T) {
	h := tiss()
	h.submits("CLM-A-1", "INSURANCE_EXPIRED", at("08:00"), at("23:00"))
	h.submits("CLM-B-1", "weird", at("07:55"), at("08:30"))
	h.ends(audit.KindResubmitted, "CLM-A-1", at("08:10"))
	h.ends(audit.KindSubmitted, "CLM-A-1", at("08:11")) // with the data corrected
	got := h.rounds(t, func(p *retry.Settings) { p.Rules = nil })
	if got.Permanent != 1 || got.Retried != 1 || got.SavedOwn+got.SavedOthers != 0 || got.WastedThen != 5 {
		t.Errorf("%+v", got)
	}
}

func TestOnlyRoundsWhoseWholeStoryIsKnownAreJudged(t *testing.T) {
	h := tiss()
	h.submits("CLM-cut-1", "TIMEOUT", at("08:00"), at("08:30"))
	h.records = slices.Delete(h.records, 0, 1)
	h.submits("CLM-open-1", "TIMEOUT", at("08:00"), at("08:30"))
	h.records = slices.Delete(h.records, len(h.records)-1, len(h.records))
	h.submits("CLM-hand-1", "TIMEOUT", at("08:00"), at("08:30"))
	h.ends(audit.KindRedriven, "CLM-hand-1", at("08:02"))
	h.ends(audit.KindSubmitted, "CLM-smooth-1", at("08:02"))
	again := h.replayed(t, h.policy)
	if diff := cmp.Diff(replay.Rounds{Cut: 1, Open: 1, ByHand: 1}, again.Rounds()); diff != "" {
		t.Error(diff)
	}
	if again.Held() != 1 {
		t.Errorf("%d claims are kept in memory, but only one is not accepted yet", again.Held())
	}
}

func TestFailureThatWasDecidedTwiceIsOneFailure(t *testing.T) {
	h := tiss()
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:30"))
	twice := h.records[0]
	twice.At = twice.At.Add(time.Minute)
	again := h.records[1]
	again.At = again.At.Add(time.Second)
	h.records = append(h.records, twice, again)
	got := h.replayed(t, h.policy).Rounds()
	if got.Judged != 1 || got.Tries != 3 || got.Open != 0 {
		t.Errorf("%+v", got)
	}

	h = tiss()
	h.submits("CLM-A-1", "weird", at("08:00"), at("23:00"))
	again = h.records[2]
	again.At = again.At.Add(time.Second)
	h.records = append(h.records, again)
	if got := h.rounds(t, func(p *retry.Settings) { p.Unknown = retry.Permanent }); got.Needless != 5 {
		t.Errorf("5 retries were needless, but it is %+v", got)
	}
}

func TestAFasterPolicyTriesInVainBetweenTheRecordedFailures(t *testing.T) {
	h := &hospital{policy: changed(t, func(*retry.Settings) {})}
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:06")) // fails at 08:00:00 and 08:05:07, and is accepted at 08:15:07
	got := h.rounds(t, func(p *retry.Settings) {
		p.Base, p.Factor, p.Min, p.Max, p.MaxRetries = time.Minute, 1, time.Minute, time.Minute, 100
	})
	// In vain at 08:01 to 08:04, with the recorded one at 08:05:07, and at 08:06:07 to 08:14:07; then at 08:15:07.
	if got.TriesThen != 4+1+9+1 || got.WastedThen != 0 || got.LostByTime != 0 {
		t.Errorf("%+v", got)
	}
}

func TestUnknownErrorsAreDistinguishedByTheirText(t *testing.T) {
	for text, saved := range map[string]int{"weird": 1, "strange": 0} {
		h := tiss()
		h.submits("CLM-A-1", "weird", at("08:00"), at("23:00"))
		h.submits("CLM-B-1", text, at("09:00"), at("11:30"))
		if got := h.rounds(t, more); got.SavedOthers != saved {
			t.Errorf("after another claim with %q: %+v", text, got)
		}
	}
}

func TestADeadlineCountsFromTheFirstFailureOfTheRound(t *testing.T) {
	h := &hospital{policy: changed(t, func(*retry.Settings) {})}
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:06"))
	d := h.replayed(t, changed(t, func(p *retry.Settings) { p.Deadline = 9 * time.Minute })).Decisions()
	if d.Outcome != 1 || d.Rows[0].After.Outcome != audit.KindExhausted.String() || d.Replayed != 2 {
		t.Errorf("%+v", d)
	}
}

func TestDecisionsOfOtherPoliciesAreLeftOutOnRequest(t *testing.T) {
	h := tiss()
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:30"))
	h.policy = changed(t, more)
	h.submits("CLM-B-1", "TIMEOUT", at("08:00"), at("08:30"))
	if d := h.replayedOf(t, h.policy, "other").Decisions(); d.Replayed != 3 || d.OwnPolicy != 3 {
		t.Errorf("%+v", d)
	}
}

func TestInvalidInputUnderThePolicyIsCounted(t *testing.T) {
	h := &hospital{policy: changed(t, func(p *retry.Settings) { p.IDs = retry.AnyIDs })}
	h.submits("mail:4711", "TIMEOUT", at("08:00"), at("08:06"))
	if d := h.replayed(t, policy.BuiltIn("tiss")).Decisions(); d.Refused != 2 || d.Replayed != 0 {
		t.Errorf("%+v", d)
	}
}

func TestAnotherWaitIsSeenAndMeasured(t *testing.T) {
	h := &hospital{policy: changed(t, func(*retry.Settings) {})}
	h.submits("CLM-A-1", "TIMEOUT", at("08:00"), at("08:10")) // waits of 5 and 10 minutes
	d := h.replayed(t, changed(t, func(p *retry.Settings) { p.Base = 20 * time.Minute })).Decisions()
	if len(d.Rows) != 1 || d.Wait != 2 || d.Rows[0].Before.MeanWait != replay.Seconds(450*time.Second) || d.Rows[0].After.MeanWait != replay.Seconds(30*time.Minute) {
		t.Errorf("%+v", d)
	}
}

func TestARecordThatCannotBeReadStopsTheReplay(t *testing.T) {
	if err := replay.New(policy.BuiltIn("tiss"), "").Add(&audit.Record{Kind: audit.KindRetry, Detail: "{"}); err == nil {
		t.Error("no error")
	}
}

// hospital is a process under a policy, whose worker records what it decides.
type hospital struct {
	policy   *retry.Policy
	language lang.Language
	records  []audit.Record
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
	answer := contract.Of(d, contract.JobType, h.language)
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

func (h *hospital) replayed(t check.TB, p *retry.Policy) *replay.Replay {
	return h.replayedOf(t, p, "")
}

// replayedOf replays the records of a policy in the order of their times.
func (h *hospital) replayedOf(t check.TB, p *retry.Policy, recorded string) *replay.Replay {
	again := replay.New(p, recorded)
	slices.SortStableFunc(h.records, func(a, b audit.Record) int { return a.At.Compare(b.At) })
	for i := range h.records {
		check.Must(t, again.Add(&h.records[i]))
	}
	return again
}

func tiss() *hospital { return &hospital{policy: policy.BuiltIn("tiss")} }
