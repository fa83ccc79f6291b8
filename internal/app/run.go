package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Run works jobs until ctx ends. Then it stops in this order: the worker is not ready any more, takes no more
// jobs and finishes or releases the active ones; what is left to record is recorded; the connections and the
// store are closed, and the HTTP server last, so that the stop can be watched. The error joins all that went
// wrong. If the HTTP server breaks, the worker stops, because nobody could see its state.
func (a *App) Run(ctx context.Context) error {
	unlink := context.AfterFunc(ctx, func() {
		a.log.Info("worker_stopping", zap.Duration("shutdownTimeout", a.cfg.ShutdownTimeout))
		a.stop()
	})
	defer unlink()
	served := make(chan error, 1)
	go func() {
		defer a.stop()
		served <- a.http.Serve()
	}()
	// The upkeep of the store goes on until the last answer is sent.
	background, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	var upkeep sync.WaitGroup
	upkeep.Go(func() { a.recorder.Run(background) })
	upkeep.Go(func() { a.keep(background) })
	upkeep.Go(func() { a.reloadPolicies(background) })
	upkeep.Go(func() { a.count(background) })
	if a.relay != nil {
		upkeep.Go(func() { a.relay.Run(background) })
	}
	var loops errgroup.Group
	for _, loop := range a.loops {
		loops.Go(func() error { return loop.Run(a.stopping) })
	}
	err := loops.Wait()
	finish()
	return errors.Join(err, within(func() error {
		upkeep.Wait()
		return errors.Join(a.close(), <-served)
	}))
}

// close undoes the steps of New, the last one first.
func (a *App) close() error {
	var errs []error
	for _, undo := range slices.Backward(a.cleanups) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// stopTimeout is how long a stop may take once the jobs are done: longer than it waits for by itself. That is
// two seconds each for the queue, for the store, and for the server that gets the lead back, and one for
// requests.
const stopTimeout = 10 * time.Second

// within gives up after stopTimeout, because a hung disk ignores contexts. The process ends then as in a
// crash, which loses nothing that was stored.
func within(do func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(stopTimeout):
		return fmt.Errorf("not stopped after %v: does the store's disk hang?", stopTimeout)
	}
}

// ready returns why the worker is not ready, nil where it is: the store takes writes, the clocks of host and
// broker agree well enough, polls come through, and answers to jobs do as far as there are any.
func (a *App) ready() error {
	if a.stopping.Err() != nil {
		return errors.New("the worker is stopping")
	}
	if err := a.recorder.Err(); err != nil {
		return fmt.Errorf("audit store %s takes no writes: %w", a.cfg.DatabaseURL, err)
	}
	if err := a.clock.Err(); err != nil {
		return err
	}
	switch polls, answers := a.gatewayErrs(); {
	case polls != nil:
		return fmt.Errorf("gateway %s: no poll for jobs comes through: %w", a.cfg.Address(), polls)
	case answers != nil:
		return fmt.Errorf("gateway %s: %w", a.cfg.Address(), answers)
	}
	return nil
}

// gatewayErrs return why no poll comes through and why no answer does, each nil where they do, of one of the
// job types for which that is so.
func (a *App) gatewayErrs() (polls, answers error) {
	for _, loop := range a.loops {
		polls, answers = cmp.Or(polls, loop.Err()), cmp.Or(answers, loop.AnswersErr())
	}
	return polls, answers
}

// refresh notes what /metrics shows as it is at a scrape.
func (a *App) refresh() {
	polls, _ := a.gatewayErrs()
	a.numbers.Up(polls == nil, a.recorder.Err() == nil)
	for jobType, loop := range a.loops {
		a.numbers.Active(jobType, loop.ActiveJobs())
	}
}
