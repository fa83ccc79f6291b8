// Package app puts the worker together, starts it and stops it. It is the one place that knows all the parts.
package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/zeebe"
)

// httpGrace is how long a request to the HTTP server may take to finish when the worker stops: longer than a probe.
const httpGrace = time.Second

// App is a worker that is put together: New, then Run once.
type App struct {
	cfg    config.Config
	log    *zap.Logger
	http   *ops.Server
	client *zeebe.Client
	loop   *zeebe.Worker

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

// New puts the worker together. Nothing runs yet, but the HTTP address is bound. A broker that is not there is no
// error: the worker waits for it. The error is a [config.FaultsError] where the configuration is at fault.
func New(cfg config.Config, log *zap.Logger) (_ *App, err error) {
	a := &App{cfg: cfg, log: log}
	a.stopping, a.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	// This process allocates much and keeps little, so a later collection costs 4 MB and saves a fifth of the CPU.
	debug.SetGCPercent(int(cfg.GCPercent))

	policy := retry.TISS()
	registry := metrics.NewRegistry()
	handler, err := worker.NewHandler(policy, time.Now, metrics.New(registry, policy), log)
	if err != nil {
		return nil, err
	}
	if a.http, err = ops.New(cfg.HTTPAddress, registry, a.ready); err != nil {
		return nil, err
	}
	a.later("close the HTTP server", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
		defer cancel()
		return a.http.Close(ctx)
	})
	if a.client, err = dial(cfg); err != nil {
		return nil, err
	}
	a.later("close the connection to the gateway", a.client.Close)
	a.loop = zeebe.NewWorker(a.client, zeebe.Options{
		JobType:         worker.JobType,
		FetchVariables:  worker.FetchVariables(),
		Handler:         handler,
		Name:            cfg.WorkerName,
		MaxJobsActive:   cfg.MaxJobsActive,
		JobTimeout:      cfg.JobTimeout,
		ShutdownTimeout: cfg.ShutdownTimeout,
		Logger:          log,
	})
	return a, nil
}

// Addr is the address of the HTTP server, host:port.
func (a *App) Addr() string { return a.http.Addr() }

// Run works jobs until ctx ends. Then it stops in this order: the worker is not ready any more, takes no more jobs and
// finishes or hands back those in hand; the connection to the gateway is closed; the HTTP server is closed last, so
// that the stop can be watched. The error joins all that went wrong. Should the HTTP server break, the worker stops,
// for nobody could see how it fares.
func (a *App) Run(ctx context.Context) error {
	unlink := context.AfterFunc(ctx, func() {
		a.log.Info("worker_stopping", zap.Duration("shutdownTimeout", a.cfg.ShutdownTimeout))
		a.stop()
	})
	defer unlink()
	served := make(chan error, 1)
	go func() {
		served <- a.http.Serve()
		a.stop()
	}()
	err := a.loop.Run(a.stopping)
	return errors.Join(err, a.close(), <-served)
}

// ready says why the worker is not ready, nil where it is: polls come through, and the gateway sees a leader for every
// partition.
func (a *App) ready(ctx context.Context) error {
	if a.stopping.Err() != nil {
		return errors.New("the worker is stopping")
	}
	topology, err := a.client.Topology(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("gateway %s: %w", a.cfg.ZeebeAddress, err)
	case !topology.Healthy():
		return fmt.Errorf("gateway %s: %d of %d partitions have a healthy leader", a.cfg.ZeebeAddress, topology.Led, topology.Partitions)
	case !a.loop.Connected():
		return fmt.Errorf("gateway %s is there, but no poll for jobs has come through", a.cfg.ZeebeAddress)
	default:
		return nil
	}
}

// later registers what undoes a step.
func (a *App) later(what string, do func() error) {
	a.cleanups = append(a.cleanups, cleanup{what, do})
}

// close undoes the steps of New, the last one first.
func (a *App) close() error {
	var faults []error
	for len(a.cleanups) > 0 {
		last := a.cleanups[len(a.cleanups)-1]
		a.cleanups = a.cleanups[:len(a.cleanups)-1]
		if err := last.do(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", last.what, err))
		}
	}
	return errors.Join(faults...)
}
