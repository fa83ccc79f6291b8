package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/zeebe"
)

// askTimeout bounds what a scrape asks of the store or the gateway.
const askTimeout = time.Second

// ready returns why the worker is not ready, nil where it is: the store takes writes, the clocks of host, broker and trail
// agree well enough, the gateway sees a leader for every partition, polls come through, and answers to jobs do as far as there
// are any.
func (a *App) ready(ctx context.Context) error {
	if a.stopping.Err() != nil {
		return errors.New("the worker is stopping")
	}
	if err := a.recorder.Err(); err != nil {
		return fmt.Errorf("audit store %s takes no writes: %w", a.cfg.DatabaseURL, err)
	}
	if err := errors.Join(a.clock.Err(), a.behindTrail()); err != nil {
		return err
	}
	topology, err := a.client.Topology(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("gateway %s: %w", a.cfg.Address(), err)
	case !topology.Healthy():
		return fmt.Errorf("gateway %s: %d of %d partitions have a healthy leader", a.cfg.Address(), topology.Led, topology.Partitions)
	}
	if err := a.pollsErr(); err != nil {
		return fmt.Errorf("gateway %s is there, but no poll for jobs comes through: %w", a.cfg.Address(), err)
	}
	if err := a.first((*zeebe.Worker).AnswersErr); err != nil {
		return fmt.Errorf("gateway %s: %w", a.cfg.Address(), err)
	}
	return nil
}

// behindTrail returns an error while the host's clock is behind what the trail had at the start.
func (a *App) behindTrail() error { return behindTrail(a.heads, time.Now(), a.cfg.MaxClockSkew) }

// pollsErr returns nil while the polls of every job type come through.
func (a *App) pollsErr() error { return a.first((*zeebe.Worker).Err) }

// first returns the first error that a job type's loop has, nil where none has.
func (a *App) first(errOf func(*zeebe.Worker) error) error {
	for _, loop := range a.loops {
		if err := errOf(loop); err != nil {
			return err
		}
	}
	return nil
}

// state returns what /metrics asks at every scrape.
func (a *App) state(version string) metrics.State {
	active := map[string]func() int{}
	for jobType, loop := range a.loops {
		active[jobType] = loop.ActiveJobs
	}
	return metrics.State{
		Version:    version,
		ActiveJobs: active,
		GatewayUp:  func() bool { return a.pollsErr() == nil },
		StoreUp:    func() bool { return a.recorder.Err() == nil },
	}
}
