// Package app puts the worker together, starts it and stops it. It is the one place that knows all the parts.
package app

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/events/queue"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/broker/zeebe"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
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
	recorder *audit.Recorder
	// relay publishes the events; nil where no queue is configured.
	relay *events.Relay
	// loops work the jobs, one loop for each job type.
	loops map[string]*zeebe.Worker

	policies atomic.Pointer[policy.Set] // those in force
	hangup   chan os.Signal             // has the policies read again
	numbers  *metrics.Metrics

	// stopping ends when the worker is to stop.
	stopping context.Context
	stop     context.CancelFunc
	cleanups []func() error
}

// New puts the worker together. Nothing runs yet, but the HTTP address is bound and the store is open. It
// does not wait for the broker; the store must be there.
//
// The version is that of the build, for the metrics.
func New(ctx context.Context, cfg config.Config, log *zap.Logger, version string) (_ *App, err error) {
	a := &App{cfg: cfg, log: log, loops: map[string]*zeebe.Worker{}, hangup: make(chan os.Signal, 1)}
	signal.Notify(a.hangup, syscall.SIGHUP)
	a.stopping, a.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, within(a.close))
		}
	}()
	policies, err := OpenPolicies(cfg.Policies)
	if err != nil {
		return nil, err
	}
	a.policies.Store(policies)
	registry := metrics.NewRegistry()
	a.numbers = metrics.New(registry, policies.All(), slices.Collect(maps.Values(cfg.JobTypes))...)
	a.numbers.Built(version)
	// Before the store, so that a taken address leaves no new key behind.
	if err := a.listen(registry); err != nil {
		return nil, err
	}
	if a.store, a.secret, err = openStore(ctx, cfg, log); err != nil {
		return nil, err
	}
	a.cleanups = append(a.cleanups, a.store.Close)
	if err := a.openQueue(); err != nil {
		return nil, err
	}
	a.recorder = audit.NewRecorder(a.store, log, a.numbers.StoreFailed)
	if a.client, err = dial(cfg); err != nil {
		return nil, err
	}
	a.cleanups = append(a.cleanups, a.client.Close)
	a.clock = zeebe.NewClock(cfg.MaxClockSkew, log)

	w := worker.Worker{
		JobTypes: cfg.JobTypes,
		Policies: a.policies.Load,
		Recorder: a.recorder,
		Secret:   a.secret,
		Cluster:  cfg.ClusterName,
		Language: cfg.Lang,
		Now:      time.Now,
		Observer: a.numbers,
		Logger:   log,
	}
	a.addLoop(contract.OutcomeJobType, contract.OutcomeVariables(), w.RecordOutcome)
	for w.JobType = range cfg.JobTypes {
		a.addLoop(w.JobType, contract.DecisionVariables(), w.Decide)
	}
	return a, nil
}

// Addr returns the address of the HTTP server, host:port.
func (a *App) Addr() string { return a.http.Addr() }

// listen binds the address of the HTTP server.
func (a *App) listen(shown prometheus.Gatherer) (err error) {
	o := httpOptions(a.cfg)
	o.Metrics, o.Refresh, o.Ready = shown, a.refresh, a.ready
	if a.http, err = ops.New(o); err != nil {
		return err
	}
	a.cleanups = append(a.cleanups, a.http.Close)
	return nil
}

func httpOptions(cfg config.Config) ops.Options {
	return ops.Options{Address: cfg.HTTPAddress, Token: string(cfg.HTTPToken)}
}

// openQueue makes the relay to the queue that the configuration names, if it names one. It does not wait for
// the queue.
func (a *App) openQueue() error {
	if a.cfg.EventsURL == "" {
		return nil
	}
	publisher, err := queue.Open(string(a.cfg.EventsURL))
	if err != nil {
		return err
	}
	a.cleanups = append(a.cleanups, publisher.Close)
	a.relay = events.NewRelay(a.store, publisher, events.Options{
		Logger:    a.log,
		Published: a.numbers.Published,
		Heads:     a.headsEvent,
	})
	return nil
}

// headsEvent returns the event of the trail's present heads.
func (a *App) headsEvent(ctx context.Context) (events.Event, error) {
	heads, _, err := a.store.Heads(ctx)
	if err != nil {
		return events.Event{}, err
	}
	return events.FromHeads(a.cfg.ClusterName, a.secret.Public(), heads)
}

// addLoop adds the loop of one job type.
func (a *App) addLoop(jobType string, variables []string, handler job.Handler) {
	a.loops[jobType] = zeebe.NewWorker(a.client, zeebe.Options{
		Poll: transport.Poll{
			JobType:    jobType,
			Worker:     a.cfg.WorkerName,
			Fetch:      variables,
			JobTimeout: a.cfg.JobTimeout,
			Tenant:     a.cfg.Tenant,
		},
		Handler:         handler,
		MaxJobsActive:   a.cfg.MaxJobsActive,
		ShutdownTimeout: a.cfg.ShutdownTimeout,
		Hold:            a.recorder.Wait,
		Clock:           a.clock,
		Language:        a.cfg.Lang,
		Observer:        a.numbers,
		Logger:          a.log,
	})
}
