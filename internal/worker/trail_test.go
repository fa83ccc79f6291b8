package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

// memory keeps records as a store does, without a disk. The stores themselves have a conformance suite.
type memory struct {
	byKey    map[audit.Key]audit.Record
	rounds   map[string]audit.Round // by claim
	retried  map[string]int         // by claim
	asked    [][]string             // the claims of each question about rounds
	down     error
	refuses  int64 // a job key whose record cannot be stored
	answered []int64
	gone     []audit.Record
	lost     error
}

func newMemory() *memory { return &memory{byKey: map[audit.Key]audit.Record{}} }

func (m *memory) Record(_ context.Context, records []audit.Record) ([]audit.Appended, error) {
	if m.down != nil {
		return nil, m.down
	}
	results := make([]audit.Appended, len(records))
	for i, r := range records {
		if r.JobKey == m.refuses {
			continue
		}
		for key := range m.byKey {
			results[i].JobKeyReused = results[i].JobKeyReused || key.JobKey == r.JobKey && key.ProcessInstanceKey != r.ProcessInstanceKey
		}
		earlier, known := m.byKey[r.Key]
		if !known {
			r.ID = int64(len(m.byKey) + 1)
			m.byKey[r.Key], earlier = r, r
		}
		results[i].Record, results[i].Repeated = earlier, known
	}
	return results, nil
}

func (m *memory) Answered(id int64)   { m.answered = append(m.answered, id) }
func (m *memory) Lost(err error)      { m.lost = err }
func (m *memory) Gone(r audit.Record) { m.gone = append(m.gone, r) }
func (m *memory) Rounds(_ context.Context, claims []string) ([]audit.Round, error) {
	m.asked = append(m.asked, claims)
	if m.down != nil {
		return nil, m.down
	}
	rounds := make([]audit.Round, len(claims))
	for i, claim := range claims {
		rounds[i] = m.rounds[claim]
	}
	return rounds, nil
}

func (m *memory) FirstFailures(ctx context.Context, claims []string) ([]time.Time, error) {
	rounds, err := m.Rounds(ctx, claims)
	first := make([]time.Time, len(rounds))
	for i := range rounds {
		first[i] = rounds[i].FirstFailure
	}
	return first, err
}

func (m *memory) Retried(_ context.Context, jobs []audit.RoundJob) ([]int, error) {
	counts := make([]int, len(jobs))
	for i := range jobs {
		counts[i] = m.retried[jobs[i].ClaimID]
	}
	return counts, m.down
}

// only returns the one record that there is.
func (m *memory) only(t *testing.T) audit.Record {
	t.Helper()
	if len(m.byKey) != 1 {
		t.Fatalf("%d records, want 1", len(m.byKey))
	}
	for _, r := range m.byKey {
		return r
	}
	panic("unreachable")
}

var secret = func() *audit.Secret {
	s, err := audit.NewSecret()
	if err != nil {
		panic(err)
	}
	return s
}()

func trailOn(m *memory) worker.Trail {
	return worker.Trail{Recorder: m, Rounds: m, Secret: secret, Cluster: "test"}
}

// facts are those of the one record that there is.
func (m *memory) facts(t *testing.T) contract.Facts {
	t.Helper()
	record := m.only(t)
	facts, err := record.Facts()
	check.Must(t, err)
	return facts
}

func atNow() time.Time { return now }

// handlerOn returns a handler whose clock stands at now.
func handlerOn(m *memory) *worker.Handler {
	return worker.NewHandler(optionsOn(m, &counts{}, atNow, zap.NewNop()))
}

// outcome handles one outcome job and returns what was recorded of it.
func (m *memory) outcome(t *testing.T, variables string) contract.Facts {
	t.Helper()
	outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{newJob(variables)})
	return m.facts(t)
}

const timeout = `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4}`

// said is what the broker gets of an answer.
func said(a job.Answer) []any {
	return []any{a.Kind(), a.Retries(), a.Code(), a.Message(), a.Variables()}
}

func TestARedeliveredJobGetsTheStoredBytesHoursLater(t *testing.T) {
	clock := now
	for _, jobType := range []string{contract.JobType, contract.BackoffJobType} {
		c, m := &counts{}, newMemory()
		o := optionsOn(m, c, func() time.Time { return clock }, zap.NewNop())
		o.JobType = jobType
		h := worker.NewHandler(o)
		for _, variables := range []string{
			timeout,
			`{"claimId":"CLM-001-2","submissionError":"TIMEOUT","retryCount":5}`,
			`{"claimId":"CLM-001-3","submissionError":"INSURANCE_EXPIRED"}`,
			`{"claimId":"x"}`,
		} {
			first := h.Handle(t.Context(), []job.Job{newJob(variables)})[0]
			clock = clock.Add(3 * time.Hour)
			second := h.Handle(t.Context(), []job.Job{newJob(variables)})[0]
			check.Same(t, said(first), said(second), "%s: the second answer", jobType)
		}
		if c.decided != 3 || c.rejected != 1 || c.repeated != 4 {
			t.Errorf("%s: counted %d decisions, %d rejections and %d repeats, want 3, 1 and 4", jobType, c.decided, c.rejected, c.repeated)
		}
	}
}

func TestReusedJobKeyIsDecidedAnew(t *testing.T) {
	c, m := &counts{}, newMemory()
	core, logs := observer.New(zap.WarnLevel)
	h := worker.NewHandler(optionsOn(m, c, atNow, zap.New(core)))
	h.Handle(t.Context(), []job.Job{newJob(timeout)})
	other := newJob(timeout)
	other.ProcessInstanceKey++
	h.Handle(t.Context(), []job.Job{other})
	if n := logs.FilterMessage("job_key_reused").Len(); n != 1 || c.decided != 2 || c.repeated != 0 {
		t.Errorf("%d lines about a reused key, %d decisions, %d repeats, want 1, 2 and 0", n, c.decided, c.repeated)
	}
}

func TestUnavailableStoreReleasesAllJobsUndecided(t *testing.T) {
	c, m := &counts{}, newMemory()
	m.down = errors.New("down")
	h := worker.NewHandler(optionsOn(m, c, atNow, zap.NewNop()))
	for _, a := range h.Handle(t.Context(), []job.Job{newJob(timeout), newJob(`{}`), newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`)}) {
		check.Same(t, job.KindRelease, a.Kind(), "answer")
	}
	check.Same(t, job.KindRelease, outcomesOn(m, c).Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)})[0].Kind(), "answer to an outcome")
	check.Same(t, 0, c.decided+c.rejected+len(c.outcomes), "decisions, rejections and outcomes counted that are not stored")
	if m.lost == nil { // or jobs would be taken and released without end
		t.Error("a round that cannot be read is not noted as a loss of the store")
	}
}

func TestARecordThatTheStoreRefusesHarmsNoOtherJob(t *testing.T) {
	c, m := &counts{}, newMemory()
	m.refuses = 4711
	other := newJob(timeout)
	other.Key = 4712
	answers := worker.NewHandler(optionsOn(m, c, atNow, zap.NewNop())).Handle(t.Context(), []job.Job{newJob(timeout), other})
	if answers[0].Kind() != job.KindFail || answers[0].Retries() != 2 {
		t.Errorf("answered %s with %d retries, want fail with 2", answers[0].Kind(), answers[0].Retries())
	}
	check.Same(t, 1, c.decided, "decisions counted")
	check.Same(t, job.KindComplete, answers[1].Kind(), "answer to the other job")
}

func TestRecorderNotesTheResultOfAnAnswer(t *testing.T) {
	m := newMemory()
	h := handlerOn(m)
	a := h.Handle(t.Context(), []job.Job{newJob(timeout)})[0]
	id := m.only(t).ID
	a.Settle(job.Unknown)
	check.Same(t, 0, len(m.answered)+len(m.gone), "answers noted that may come again")
	a.Settle(job.Accepted)
	a.Settle(job.NotFound)
	if !slices.Equal(m.answered, []int64{id}) || len(m.gone) != 1 || m.gone[0].ID != id {
		t.Errorf("noted %v as answered and %v as gone, want record %d each", m.answered, m.gone, id)
	}
}

func TestRecordHoldsTheWholeDecisionAndNoPersonalData(t *testing.T) {
	m := newMemory()
	ticks := 0
	clock := func() time.Time { ticks++; return now.Add(time.Duration(ticks) * time.Millisecond) }
	j := newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT paciente: Maria da Silva, CPF 123.456.789-09, maria@example.com","retryCount":1}`)
	j.Received, j.ProcessID = now, "SubmissionRetryProcess"
	a := worker.NewHandler(optionsOn(m, &counts{}, clock, zap.NewNop())).Handle(t.Context(), []job.Job{j})[0]
	record, facts := m.only(t), m.facts(t)
	decided := now.Add(time.Millisecond)
	want := audit.Record{
		ID: 1, Kind: audit.KindRetry, At: decided, Key: record.Key, ClaimID: "CLM-001-1", RetryCount: 1,
		NextRetryTime: now.Add(12 * time.Minute), Variables: record.Variables, Detail: record.Detail,
	}
	check.Same(t, want, record, "record")
	wantKey := audit.Key{Cluster: "test", JobKey: 4711, ProcessInstanceKey: 2251799813685249, Inputs: record.Inputs}
	if record.Key != wantKey || record.Inputs == [16]byte{} {
		t.Errorf("key %+v, want %+v with a hash of the inputs", record.Key, wantKey)
	}
	check.Same(t, "TIMEOUT paciente: [palavra] da [palavra], CPF [número longo], [palavra]@example.com", facts.SubmissionError, "submission error")
	if facts.MaxRetries != 5 || facts.BackoffMinutes != 12 || !facts.ShouldRetry || facts.RetryReason != "Transient error, retry 2 of 5" ||
		facts.ErrorClassification != "TRANSIENT" || facts.ExecutionTimeMs != 1 || facts.RetryDecision.Policy != "tiss" ||
		facts.RetryDecision.PolicyVersion == "" || facts.ElementID != "Task_AnalyzeRetry" || facts.ProcessID != "SubmissionRetryProcess" {
		t.Errorf("facts %+v", facts)
	}
	check.Same(t, [6]time.Time{now, decided, decided, decided, decided, now.Add(2 * time.Millisecond)}, facts.Steps.Times(), "steps")
	check.Contains(t, a.Variables(), "Maria da Silva, CPF 123.456.789-09")
}

func TestUsedUpRetriesAreRecordedWithTheFirstFailure(t *testing.T) {
	m := newMemory()
	since := now.Add(-3 * time.Hour)
	m.rounds = map[string]audit.Round{"CLM-001-1": {Failures: 5, Retries: 5, FirstFailure: since}}
	handlerOn(m).
		Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`)})
	facts := m.facts(t)
	if facts.Attempts != 6 || facts.FirstFailureTime == nil || !facts.FirstFailureTime.Equal(since) {
		t.Errorf("%d attempts since %v, want 6 since %v", facts.Attempts, facts.FirstFailureTime, since)
	}
}

func TestBatchQueriesItsRoundsOnce(t *testing.T) {
	one, three := now.Add(-time.Hour), now.Add(-3*time.Hour)
	for form, other := range map[string]string{
		`{"claimId":"%s","submissionError":"TIMEOUT","retryCount":5}`: `{"claimId":"CLM-001-2","submissionError":"TIMEOUT"}`, // exhausted, but for the second
		`{"claimId":"%s","outcome":"SUBMITTED"}`:                      `{"claimId":"CLM-001-2"}`,
	} {
		m := newMemory()
		m.rounds = map[string]audit.Round{"CLM-001-1": {FirstFailure: one}, "CLM-001-3": {FirstFailure: three}}
		var h job.Handler = handlerOn(m)
		if strings.Contains(form, "outcome") {
			h = outcomesOn(m, &counts{})
		}
		jobs := batchOf(fmt.Sprintf(form, "CLM-001-1"), other, fmt.Sprintf(form, "CLM-001-3"), fmt.Sprintf(form, "CLM-001-1"))
		h.Handle(t.Context(), jobs)
		check.Same(t, [][]string{{"CLM-001-1", "CLM-001-3", "CLM-001-1"}}, m.asked, "%s: asked about", form)
		check.Same(t, []*time.Time{&one, nil, &three, &one}, m.firstFailures(t, jobs), "%s: first failures", form)
	}
}

// batchOf makes jobs of process instances of their own.
func batchOf(variables ...string) []job.Job {
	jobs := make([]job.Job, len(variables))
	for i, v := range variables {
		jobs[i] = newJob(v)
		jobs[i].Key += int64(i)
		jobs[i].ProcessInstanceKey += int64(i)
	}
	return jobs
}

// firstFailures are those recorded of the jobs.
func (m *memory) firstFailures(t *testing.T, jobs []job.Job) []*time.Time {
	t.Helper()
	times := make([]*time.Time, len(jobs))
	for key, record := range m.byKey {
		facts, err := record.Facts()
		check.Must(t, err)
		times[slices.IndexFunc(jobs, func(j job.Job) bool { return j.Key == key.JobKey })] = facts.FirstFailureTime
	}
	return times
}

// waits is a store that hangs until the context of the query ends.
type waits struct{ *memory }

func ended(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func (waits) Record(ctx context.Context, _ []audit.Record) ([]audit.Appended, error) {
	return nil, ended(ctx)
}

func (waits) Rounds(ctx context.Context, _ []string) ([]audit.Round, error) { return nil, ended(ctx) }

func (waits) Retried(ctx context.Context, _ []audit.RoundJob) ([]int, error) { return nil, ended(ctx) }

func (waits) FirstFailures(ctx context.Context, _ []string) ([]time.Time, error) {
	return nil, ended(ctx)
}

// Three answers that are late make an incident, and a machine that is short of CPU is late by tens of milliseconds.
func TestJobsAreReleasedInTimeWhileTheStoreIsUnavailable(t *testing.T) {
	const usedUp = `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`
	away := waits{newMemory()}
	for name, tt := range map[string]struct {
		variables string
		trail     worker.Trail
	}{
		"a decision cannot be stored": {timeout, worker.Trail{Recorder: away, Rounds: newMemory()}},
		"a round cannot be read":      {usedUp, worker.Trail{Recorder: newMemory(), Rounds: away}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.trail.Secret = secret
			h := worker.NewHandler(worker.Options{
				JobType: contract.JobType, Policy: "tiss", Policies: policy.BuiltIns,
				Trail: tt.trail, Now: time.Now, Observer: &counts{}, Logger: zap.NewNop(),
			})
			outcomes := worker.NewOutcomeHandler(tt.trail, time.Now, &counts{}, zap.NewNop())
			handlers := map[string]job.Handler{tt.variables: h, `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`: outcomes}
			for variables, handler := range handlers {
				synctest.Test(t, func(t *testing.T) {
					const lock = 500 * time.Millisecond
					ctx, cancel := context.WithTimeout(t.Context(), lock)
					defer cancel()
					began := time.Now()
					a := handler.Handle(ctx, []job.Job{newJob(variables)})[0]
					if took := time.Since(began); a.Kind() != job.KindRelease || took > lock*9/10 || took < lock/2 {
						t.Errorf("%s: answered %s after %v of %v, want release with a tenth to spare", variables, a.Kind(), took, lock)
					}
				})
			}
		})
	}
}
