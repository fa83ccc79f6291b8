package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/worker"
)

// waits is a store that hangs until the context of the query ends.
type waits struct{ *memory }

func ended(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func (waits) Record(ctx context.Context, _ []audit.Record) ([]audit.Appended, error) {
	return nil, ended(ctx)
}

func (waits) Rounds(ctx context.Context, _ []string) ([]audit.Round, error) { return nil, ended(ctx) }

func (waits) FirstFailures(ctx context.Context, _ []string) ([]time.Time, error) {
	return nil, ended(ctx)
}

func (waits) Crashes(ctx context.Context, _ string) (map[int64]int, error) { return nil, ended(ctx) }
func (waits) Begin(ctx context.Context, _ string, _ []int64) error         { return ended(ctx) }
func (waits) End(context.Context, string, []int64) error                   { return nil }

// Three answers that are late make an incident, and a machine that is short of CPU is late by tens of milliseconds.
func TestJobsAreReleasedInTimeWhileTheStoreIsUnavailable(t *testing.T) {
	const usedUp = `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`
	away := waits{newMemory()}
	none, three := &crashLog{}, &crashLog{counted: map[int64]int{4711: 3}}
	for name, tt := range map[string]struct {
		variables string
		trail     worker.Trail
		crashes   audit.Crashes
	}{
		"a decision cannot be stored":    {timeout, worker.Trail{Recorder: away, Rounds: newMemory()}, none},
		"a round cannot be read":         {usedUp, worker.Trail{Recorder: newMemory(), Rounds: away}, none},
		"crashes cannot be read":         {timeout, worker.Trail{Recorder: newMemory(), Rounds: newMemory()}, away},
		"an incident cannot be recorded": {timeout, worker.Trail{Recorder: away, Rounds: newMemory()}, three},
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
					a := worker.NewQuarantine(handler, tt.crashes, tt.trail, time.Hour, zap.NewNop()).Handle(ctx, []job.Job{newJob(variables)})[0]
					if took := time.Since(began); a.Kind() != job.KindRelease || took > lock*9/10 || took < lock/2 {
						t.Errorf("%s: answered %s after %v of %v, want release with a tenth to spare", variables, a.Kind(), took, lock)
					}
				})
			}
		})
	}
}
