package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// memory keeps records as a store does, without a disk. The stores themselves have a conformance suite.
type memory struct {
	byKey   map[audit.Key]audit.Record
	states  map[string]audit.State // what is known of claims
	down    error
	refuses int64 // a job key whose record cannot be stored
}

func newMemory() *memory { return &memory{byKey: map[audit.Key]audit.Record{}} }

// after returns a memory that knows this of the claim of the tests.
func after(state audit.State) *memory {
	m := newMemory()
	m.states = map[string]audit.State{"CLM-001-1": state}
	return m
}

// retried is a claim whose instances had so many retries.
func retried(n int) audit.State { return audit.State{Dropped: n} }

func (m *memory) Append(_ context.Context, entries []audit.Entry) ([]audit.Stored, error) {
	if m.down != nil {
		return nil, m.down
	}
	results := make([]audit.Stored, len(entries))
	for i, e := range entries {
		if e.JobKey == m.refuses {
			results[i].Err = audit.ErrRow
			continue
		}
		earlier, known := m.byKey[e.Key]
		if !known {
			e.Make(audit.State{Dropped: 99, FirstFailure: now.Add(-100 * time.Hour)}) // as where a transaction is done again
			r := e.Make(m.states[e.ClaimID])
			r.ID, r.Key, r.ClaimID = int64(len(m.byKey)+1), e.Key, e.ClaimID
			m.byKey[r.Key], earlier = r, r
		}
		results[i].Record, results[i].Repeated = earlier, known
	}
	return results, nil
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

// facts are those of the one record that there is.
func (m *memory) facts(t *testing.T) contract.Facts {
	t.Helper()
	record := m.only(t)
	facts, err := record.Facts()
	check.Must(t, err)
	return facts
}

const timeout = `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":4}`

// said is what the broker gets of an answer.
func said(a job.Answer) []any {
	return []any{a.Kind, a.Retries, a.Code, a.Message, a.Variables}
}

func TestARedeliveredJobGetsTheStoredBytesHoursLater(t *testing.T) {
	clock := now
	for _, jobType := range []string{contract.JobType, contract.BackoffJobType} {
		c, m := &counts{}, newMemory()
		h := optionsOn(m, countedBy(c), by(func() time.Time { return clock }), ofType(jobType)).Decide
		for _, variables := range []string{
			timeout,
			`{"claimId":"CLM-001-2","submissionError":"TIMEOUT","retryCount":5}`,
			`{"claimId":"CLM-001-3","submissionError":"INSURANCE_EXPIRED"}`,
			`{"claimId":"x"}`,
		} {
			first := h(t.Context(), []job.Job{newJob(variables)})[0]
			clock = clock.Add(3 * time.Hour)
			second := h(t.Context(), []job.Job{newJob(variables)})[0]
			check.Same(t, said(first), said(second), "%s: the second answer", jobType)
		}
		if c.decided != 3 || c.rejected != 1 || c.repeated != 4 {
			t.Errorf("%s: counted %d decisions, %d rejections and %d repeats, want 3, 1 and 4", jobType, c.decided, c.rejected, c.repeated)
		}
	}
}

func TestUnavailableStoreReleasesAllJobsUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, m := &counts{}, newMemory()
		m.down = errors.New("down")
		h := optionsOn(m, countedBy(c)).Decide
		for _, a := range h(t.Context(), []job.Job{newJob(timeout), newJob(`{}`), newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`)}) {
			check.Same(t, job.KindRelease, a.Kind, "answer")
		}
		check.Same(t, job.KindRelease, optionsOn(m, countedBy(c)).RecordOutcome(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)})[0].Kind, "answer to an outcome")
		check.Same(t, 0, c.decided+c.rejected+len(c.outcomes), "decisions, rejections and outcomes counted that are not stored")
	})
}

func TestARecordThatTheStoreRefusesHarmsNoOtherJob(t *testing.T) {
	c, m := &counts{}, newMemory()
	m.refuses = 4711
	other := newJob(timeout)
	other.Key = 4712
	answers := optionsOn(m, countedBy(c)).Decide(t.Context(), []job.Job{newJob(timeout), other})
	if answers[0].Kind != job.KindFail || answers[0].Retries != 2 {
		t.Errorf("answered %s with %d retries, want fail with 2", answers[0].Kind, answers[0].Retries)
	}
	check.Same(t, 1, c.decided, "decisions counted")
	check.Same(t, job.KindComplete, answers[1].Kind, "answer to the other job")
}

func TestRecordHoldsTheWholeDecisionAndNoPersonalData(t *testing.T) {
	m := newMemory()
	ticks := 0
	clock := func() time.Time { ticks++; return now.Add(time.Duration(ticks) * time.Millisecond) }
	j := newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT paciente: Maria da Silva, CPF 123.456.789-09, maria@example.com","retryCount":1}`)
	j.Received, j.ProcessID = now, "SubmissionRetryProcess"
	a := ask(t, m, j, by(clock))
	record, facts := m.only(t), m.facts(t)
	decided := now.Add(time.Millisecond)
	want := audit.Record{
		ID: 1, Kind: audit.KindRetry, At: decided, Key: record.Key, ClaimID: "CLM-001-1", RetryCount: 2, MaxRetries: 5,
		Policy: "tiss", Class: retry.Transient, Rule: "transient.TIMEOUT", Code: "TIMEOUT",
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
	check.Contains(t, a.Variables, "Maria da Silva, CPF 123.456.789-09")
}

func TestUsedUpRetriesAreRecordedWithTheFirstFailure(t *testing.T) {
	since := now.Add(-3 * time.Hour)
	m := after(audit.State{Failures: 5, Retries: 5, FirstFailure: since})
	ask(t, m, newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`))
	facts := m.facts(t)
	if facts.Attempts != 6 || !facts.FirstFailureTime.Equal(since) {
		t.Errorf("%d attempts since %v, want 6 since %v", facts.Attempts, facts.FirstFailureTime, since)
	}
}

// waits is a store that hangs until the context of the call ends.
type waits struct{}

func (waits) Append(ctx context.Context, _ []audit.Entry) ([]audit.Stored, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Three answers that are late make an incident, and a machine that is short of CPU is late by tens of milliseconds.
func TestJobsAreReleasedInTimeWhileTheStoreIsUnavailable(t *testing.T) {
	for variables, handle := range map[string]func(worker.Worker, context.Context, []job.Job) []job.Answer{
		timeout: worker.Worker.Decide,
		`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`: worker.Worker.RecordOutcome,
	} {
		synctest.Test(t, func(t *testing.T) {
			const lock = 500 * time.Millisecond
			o := optionsOn(nil, by(time.Now))
			o.Recorder = audit.NewRecorder(waits{}, zap.NewNop(), func() {})
			ctx, cancel := context.WithTimeout(t.Context(), lock)
			defer cancel()
			began := time.Now()
			a := handle(o, ctx, []job.Job{newJob(variables)})[0]
			if took := time.Since(began); a.Kind != job.KindRelease || took > lock*9/10 || took < lock/2 {
				t.Errorf("%s: answered %s after %v of %v, want release with a tenth to spare", variables, a.Kind, took, lock)
			}
			<-time.After(time.Minute) // until the recorder has given its tries up
		})
	}
}
