// Package app puts the worker together, starts it and stops it. It is the one place that knows all the parts.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/queue"
	"hospital.example/analyze-retry/internal/failpoint"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/tracing"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/zeebe"
)

// deathWatch is how much longer than two locks a process that has just started looks out for jobs that killed one.
const deathWatch = 10 * time.Second

// App is a worker that is put together: New, then Run once.
type App struct {
	cfg  config.Config
	log  *zap.Logger
	http *ops.Server
	// profiles serve what slows the process down; nil where nobody asked for them.
	profiles *ops.Server
	client   *zeebe.Client
	// clock compares the host's clock with the broker's.
	clock *zeebe.Clock

	store    audit.Store
	secret   *audit.Secret
	trail    *trailState
	recorder *audit.Recorder
	// relay publishes the events; nil where no queue is configured.
	relay *events.Relay
	// loops work the jobs, one loop for each job type.
	loops map[string]*zeebe.Worker

	policies *policy.Store
	hangup   chan os.Signal
	numbers  *metrics.Metrics
	tracer   *tracing.Tracer

	// stopping ends when the worker is to stop.
	stopping context.Context
	stop     context.CancelFunc
	cleanups []cleanup
}

// cleanup undoes one step of New.
type cleanup struct {
	what string
	do   func() error
}

// New puts the worker together. Nothing runs yet, but the HTTP address is bound and the store is open. A broker that is
// not there is no error: the worker waits for it; a store must be there. The error is a [config.FaultsError] where the
// configuration is at fault.
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
	// This process allocates much and keeps little, so a later collection costs 4 MB and saves a fifth of the CPU.
	debug.SetGCPercent(int(cfg.GCPercent))

	a.listenForHangup()
	if a.policies, err = openPolicies(cfg); err != nil {
		return nil, err
	}
	if err = a.openTracing(ctx, version); err != nil {
		return nil, err
	}
	if a.store, a.trail, err = openStore(ctx, cfg, log); err != nil {
		return nil, err
	}
	a.secret = a.trail.secret
	a.later("close the audit store", a.store.Close)
	a.trail.save(ctx, a.store)
	if err = openRetention(ctx, a.store, a.secret.Public(), cfg, log); err != nil {
		return nil, err
	}
	registry := metrics.NewRegistry()
	numbers := metrics.New(registry, a.policies.Current().All())
	a.numbers = numbers
	appended, err := a.openQueue(numbers)
	if err != nil {
		return nil, err
	}
	a.recorder = audit.NewRecorder(a.store, audit.RecorderOptions{Logger: log, Failed: numbers.StoreFailed, Appended: appended})
	if err := a.listen(registry); err != nil {
		return nil, err
	}
	if a.client, err = dial(cfg); err != nil {
		return nil, err
	}
	a.later("close the connection to the gateway", a.client.Close)
	a.clock = zeebe.NewClock(cfg.MaxClockSkew, failpoint.Now, log)

	trail := worker.Trail{Recorder: a.tracer.Recorder(a.recorder), Rounds: a.store, Secret: a.secret, Cluster: cfg.ClusterName}
	for _, jobType := range cfg.JobTypes {
		handler := worker.NewHandler(worker.Options{
			JobType: jobType.Type, Policy: jobType.Policy, Policies: a.policies.Current,
			Trail: trail, Now: failpoint.Now, Observer: observerOf(jobType.Type, numbers), Logger: log,
		})
		a.addLoop(jobType.Type, contract.DecisionVariables(), handler, trail)
	}
	a.addLoop(contract.OutcomeJobType, contract.OutcomeVariables(), worker.NewOutcomeHandler(trail, failpoint.Now, numbers, log), trail)
	metrics.RegisterState(registry, a.state(version))
	return a, nil
}

// observerOf is where the decisions about a job type are counted.
func observerOf(jobType string, numbers *metrics.Metrics) worker.Observer {
	if jobType == contract.BackoffJobType {
		return metrics.Sibling{Metrics: numbers}
	}
	return numbers
}

// openQueue makes the relay to the queue that the configuration names, if it names one, and returns what tells the relay
// of a new record. A queue that is not there is waited for.
func (a *App) openQueue(numbers *metrics.Metrics) (appended func(), err error) {
	if a.cfg.EventsURL == "" {
		return nil, nil
	}
	publisher, err := queue.Open(string(a.cfg.EventsURL))
	if err != nil {
		var found config.FaultsError
		for fault := range strings.SplitSeq(err.Error(), "\n") {
			found = append(found, "RETRY_EVENTS_URL: "+fault)
		}
		return nil, found
	}
	a.later("close the connection to the queue", publisher.Close)
	a.relay = events.NewRelay(a.store, publisher, events.Options{Logger: a.log, Observer: numbers, Heads: a.headsEvent})
	return a.relay.Wake, nil
}

// addLoop adds the loop of one job type.
func (a *App) addLoop(jobType string, variables []string, handler job.Handler, trail worker.Trail) {
	// A job that killed a process is given out again when its lock is over.
	careful := 2*a.cfg.JobTimeout + deathWatch
	a.loops[jobType] = zeebe.NewWorker(a.client, zeebe.Options{
		JobType:         jobType,
		FetchVariables:  slices.Concat(variables, tracing.FetchVariables()),
		Handler:         a.tracer.Handler(jobType, worker.NewQuarantine(handler, a.store, trail, careful, a.log)),
		Name:            a.cfg.WorkerName,
		MaxJobsActive:   a.cfg.MaxJobsActive,
		JobTimeout:      a.cfg.JobTimeout,
		ShutdownTimeout: a.cfg.ShutdownTimeout,
		Hold:            a.recorder.Wait,
		Clock:           a.clock,
		Observer:        jobObserver{a.numbers.Jobs(jobType, a.cfg.WorkerName), a.tracer},
		Logger:          a.log,
	})
}

// Policies are the policies in force, each with its version: tiss@1a2b3c4d5e6f.
func (a *App) Policies() []string {
	var names []string
	for p := range a.policies.Current().All() {
		names = append(names, p.Name+"@"+p.Version())
	}
	return names
}

// Addr is the address of the HTTP server, host:port.
func (a *App) Addr() string { return a.http.Addr() }

// Run works jobs until ctx ends. Then it stops in this order: the worker is not ready any more, takes no more jobs and
// finishes or hands back those in hand; what is left to record is recorded; the connection to the gateway is closed; the
// HTTP server is closed late, so that the stop can be watched, and the store last. The error joins all that went wrong.
// Should the HTTP server break, the worker stops, for nobody could see how it fares.
func (a *App) Run(ctx context.Context) error {
	unlink := context.AfterFunc(ctx, func() {
		a.log.Info("worker_stopping", zap.Duration("shutdownTimeout", a.cfg.ShutdownTimeout))
		a.stop()
	})
	defer unlink()
	served := make(chan error, 1)
	go func() { served <- a.serve() }()
	// What looks after the store goes on until the last answer is sent.
	background, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	var tending sync.WaitGroup
	tending.Go(func() { a.recorder.Run(background) })
	tending.Go(func() { a.keep(background) })
	tending.Go(func() { a.watchPlace(background) })
	tending.Go(func() { a.reloadPolicies(background) })
	tending.Go(func() { a.watchTrail(background) })
	if a.relay != nil {
		tending.Go(func() { a.relay.Run(background) })
	}
	var loops errgroup.Group
	for _, loop := range a.loops {
		loops.Go(func() error { return loop.Run(a.stopping) })
	}
	err := loops.Wait()
	finish()
	tended := within("end what looks after the store", func() error { tending.Wait(); return nil })
	return errors.Join(err, tended, a.close(), <-served)
}

// ready says why the worker is not ready, nil where it is: the store takes writes, the clocks of host and broker agree
// well enough, polls come through, and the gateway sees a leader for every partition.
func (a *App) ready(ctx context.Context) error {
	if a.stopping.Err() != nil {
		return errors.New("the worker is stopping")
	}
	if err := a.recorder.Err(); err != nil {
		return fmt.Errorf("audit store %s takes no writes: %w", a.cfg.DatabaseURL, err)
	}
	if err := a.clock.Err(); err != nil {
		return err
	}
	topology, err := a.client.Topology(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("gateway %s: %w", a.cfg.ZeebeAddress, err)
	case !topology.Healthy():
		return fmt.Errorf("gateway %s: %d of %d partitions have a healthy leader", a.cfg.ZeebeAddress, topology.Led, topology.Partitions)
	case !a.connected():
		return fmt.Errorf("gateway %s is there, but no poll for jobs has come through", a.cfg.ZeebeAddress)
	default:
		return nil
	}
}

// connected reports whether the polls of every job type come through.
func (a *App) connected() bool {
	for _, loop := range a.loops {
		if !loop.Connected() {
			return false
		}
	}
	return true
}

// later registers what undoes a step.
func (a *App) later(what string, do func() error) {
	a.cleanups = append(a.cleanups, cleanup{what, do})
}

// close undoes the steps of New, the last one first.
func (a *App) close() error {
	var errs []error
	for len(a.cleanups) > 0 {
		last := a.cleanups[len(a.cleanups)-1]
		a.cleanups = a.cleanups[:len(a.cleanups)-1]
		errs = append(errs, within(last.what, last.do))
	}
	return errors.Join(errs...)
}
