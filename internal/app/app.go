// Package app puts the worker together, starts it and stops it. It is the one place that knows all the parts.
package app

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/zeebe"
)

// App is a worker that is put together: New, then Run once.
type App struct {
	cfg    config.Config
	log    *zap.Logger
	http   *ops.Server
	client transport.Client
	// clock compares the host's clock with the broker's.
	clock *zeebe.Clock

	store    audit.Store
	secret   *audit.Secret
	heads    []audit.Head // those of the start
	recorder *audit.Recorder
	// relay publishes the events; nil where no queue is configured.
	relay *events.Relay
	// loops work the jobs, one loop for each job type.
	loops map[string]*zeebe.Worker

	policies *policy.Store
	hangup   chan os.Signal
	numbers  *metrics.Metrics

	// stopping ends when the worker is to stop.
	stopping context.Context
	stop     context.CancelFunc
	cleanups []cleanup
}

// New puts the worker together. Nothing runs yet, but the HTTP address is bound and the store is open. It does not wait for
// the broker; the store must be there. The error is a [text.Faults] where the configuration is at fault.
//
// The version is that of the build, for the metrics.
func New(ctx context.Context, cfg config.Config, log *zap.Logger, version string) (_ *App, err error) {
	a := &App{cfg: cfg, log: log, loops: map[string]*zeebe.Worker{}}
	a.stopping, a.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	TuneGC()

	a.listenForHangup()
	if a.policies, err = openPolicies(cfg.Policies); err != nil {
		return nil, err
	}
	registry := metrics.NewRegistry()
	a.numbers = metrics.New(registry, a.policies.Current().All(), inUse(cfg)...)
	if err := a.listen(registry); err != nil { // before the store, so that a taken address leaves no new key behind
		return nil, err
	}
	if a.store, a.secret, err = openStore(ctx, cfg, log); err != nil {
		return nil, err
	}
	a.last("close the audit store", a.store.Close)
	if a.heads, _, err = a.store.Heads(ctx); err != nil {
		return nil, err
	}
	if behind := a.behindTrail(); behind != nil {
		log.Warn("clock_behind_trail", zap.Error(behind))
	}
	appended, err := a.openQueue()
	if err != nil {
		return nil, err
	}
	a.recorder = audit.NewRecorder(a.store, audit.RecorderOptions{Logger: log, Failed: a.numbers.StoreFailed, Appended: appended})
	if a.client, err = dial(cfg); err != nil {
		return nil, err
	}
	a.later("close the connection to the gateway", a.client.Close)
	a.clock = zeebe.NewClock(cfg.MaxClockSkew, time.Now, log)

	trail := worker.Trail{Recorder: a.recorder, Secret: a.secret, Cluster: cfg.ClusterName, Language: cfg.Lang}
	for _, jobType := range cfg.JobTypes {
		handler := worker.NewHandler(worker.Options{
			JobType: jobType.Type, Policy: jobType.Policy, Policies: a.policies.Current,
			Trail: trail, Now: time.Now, Observer: observerOf(jobType.Type, a.numbers), Logger: log,
		})
		a.addLoop(jobType.Type, contract.DecisionVariables(), handler)
	}
	a.addLoop(contract.OutcomeJobType, contract.OutcomeVariables(), worker.NewOutcomeHandler(trail, time.Now, a.numbers, log))
	metrics.RegisterState(registry, a.state(version))
	return a, nil
}

// TuneGC sets the target of Go's garbage collector to 200, unless GOGC names one. This process allocates much and keeps
// little: compared with Go's own 100 that saves a fifth of the CPU and costs about 4 MB.
func TuneGC() {
	const standard = 100
	if before := debug.SetGCPercent(200); before != standard {
		debug.SetGCPercent(before)
	}
}

// observerOf returns what counts the decisions about a job type.
func observerOf(jobType string, numbers *metrics.Metrics) worker.Observer {
	if jobType == contract.BackoffJobType {
		return metrics.RNBIL004{Metrics: numbers}
	}
	return numbers
}

// inUse returns the policies that decide where a job names none. Their series exist from the start.
func inUse(cfg config.Config) (policies []string) {
	for _, jobType := range cfg.JobTypes {
		policies = append(policies, jobType.Policy)
	}
	return policies
}

// addLoop adds the loop of one job type.
func (a *App) addLoop(jobType string, variables []string, handler job.Handler) {
	a.loops[jobType] = zeebe.NewWorker(a.client, zeebe.Options{
		JobType:         jobType,
		FetchVariables:  variables,
		Tenant:          a.cfg.Tenant,
		Handler:         handler,
		Name:            a.cfg.WorkerName,
		MaxJobsActive:   a.cfg.MaxJobsActive,
		JobTimeout:      a.cfg.JobTimeout,
		ShutdownTimeout: a.cfg.ShutdownTimeout,
		Hold:            a.recorder.Wait,
		Clock:           a.clock,
		Language:        a.cfg.Lang,
		Observer:        a.numbers,
		Logger:          a.log,
	})
}

// Addr returns the address of the HTTP server, host:port.
func (a *App) Addr() string { return a.http.Addr() }

// Run works jobs until ctx ends. Then it stops in this order: the worker is not ready any more, takes no more jobs and
// finishes or releases the active ones; what is left to record is recorded; the connection to the gateway is closed; the
// HTTP server is closed late, so that the stop can be watched, and the store last. The error joins all that went wrong.
// If the HTTP server breaks, the worker stops, because nobody could see its state.
func (a *App) Run(ctx context.Context) error {
	unlink := context.AfterFunc(ctx, func() {
		a.log.Info("worker_stopping", zap.Duration("shutdownTimeout", a.cfg.ShutdownTimeout))
		a.stop()
	})
	defer unlink()
	served := make(chan error, 1)
	go func() { served <- a.serve() }()
	// The upkeep of the store goes on until the last answer is sent.
	background, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	var upkeep sync.WaitGroup
	upkeep.Go(func() { a.recorder.Run(background) })
	upkeep.Go(func() { a.keep(background) })
	upkeep.Go(func() { a.reloadPolicies(background) })
	upkeep.Go(func() { a.watchTrail(background) })
	upkeep.Go(func() { a.watchClaims(background) })
	if a.relay != nil {
		upkeep.Go(func() { a.relay.Run(background) })
	}
	var loops errgroup.Group
	for _, loop := range a.loops {
		loops.Go(func() error { return loop.Run(a.stopping) })
	}
	err := loops.Wait()
	finish()
	kept := within("end what looks after the store", func() error { upkeep.Wait(); return nil })
	return errors.Join(err, kept, a.close(), <-served)
}
