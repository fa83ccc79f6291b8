package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
	_ "time/tzdata" // the policy's time zone, as in the worker's binary

	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/transport/grpc"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/zeebe"
)

// forgetful takes the records and keeps none. It is what the worker would be without a store.
type forgetful struct {
	last atomic.Int64
	// seen gets the records, if it is set.
	seen func([]audit.Record)
}

func (f *forgetful) Record(_ context.Context, records []audit.Record) ([]audit.Appended, error) {
	if f.seen != nil {
		f.seen(records)
	}
	results := make([]audit.Appended, len(records))
	for i := range records {
		results[i].Record = records[i]
		results[i].Record.ID = f.last.Add(1)
	}
	return results, nil
}

func (*forgetful) Answered(int64)    {}
func (*forgetful) Gone(audit.Record) {}

func (*forgetful) Lost(error) {}

func (*forgetful) Rounds(_ context.Context, claimIDs []string) ([]audit.Round, error) {
	return make([]audit.Round, len(claimIDs)), nil
}

func (*forgetful) Retried(_ context.Context, jobs []audit.RoundJob) ([]int, error) {
	return make([]int, len(jobs)), nil
}

func (*forgetful) FirstFailures(_ context.Context, claimIDs []string) ([]time.Time, error) {
	return make([]time.Time, len(claimIDs)), nil
}

// workNotDurably works jobs until ctx ends as the worker does, with its settings, its log and its metrics, but without
// a store: neither decisions nor active jobs are noted.
func workNotDurably(ctx context.Context, _ []string) error {
	cfg, err := config.Load(config.Process())
	if err != nil {
		return err
	}
	log, err := app.NewLogger(cfg, os.Stdout)
	if err != nil {
		return err
	}
	app.TuneGC()
	client, err := grpc.Dial(transport.Config{Scheme: cfg.Address().Scheme, Address: cfg.Address().HostPort})
	if err != nil {
		return err
	}
	secret, err := audit.NewSecret()
	if err != nil {
		return err
	}
	store := &forgetful{}
	trail := worker.Trail{Recorder: store, Rounds: store, Secret: secret, Cluster: cfg.ClusterName}
	numbers := metrics.New(metrics.NewRegistry(), policy.BuiltIns().All())
	handler := worker.NewHandler(worker.Options{
		JobType: contract.JobType, Policy: "tiss", Policies: policy.BuiltIns,
		Trail: trail, Now: time.Now, Observer: numbers, Logger: log,
	})
	clock := zeebe.NewClock(cfg.MaxClockSkew, time.Now, log)
	var loops errgroup.Group
	for _, work := range []struct {
		jobType string
		fetch   []string
		handler job.Handler
	}{
		{contract.JobType, contract.DecisionVariables(), handler},
		{contract.OutcomeJobType, contract.OutcomeVariables(), worker.NewOutcomeHandler(trail, time.Now, numbers, log)},
	} {
		loop := zeebe.NewWorker(client, zeebe.Options{
			Tenant:  job.DefaultTenant,
			JobType: work.jobType, FetchVariables: work.fetch, Handler: work.handler,
			Name: cfg.WorkerName, MaxJobsActive: cfg.MaxJobsActive, JobTimeout: cfg.JobTimeout, ShutdownTimeout: cfg.ShutdownTimeout,
			Hold: func(ctx context.Context) error { return ctx.Err() }, Clock: clock,
			Observer: numbers, Logger: log,
		})
		loops.Go(func() error { return loop.Run(ctx) })
	}
	return errors.Join(loops.Wait(), client.Close())
}
