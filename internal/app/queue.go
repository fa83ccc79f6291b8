package app

import (
	"context"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/queue"
)

// openQueue makes the relay to the queue that the configuration names, if it names one, and returns the function that
// notifies the relay of a new record. It does not wait for the queue.
func (a *App) openQueue() (appended func(), err error) {
	if a.cfg.EventsURL == "" {
		return nil, nil
	}
	publisher, err := queue.Open(string(a.cfg.EventsURL))
	if err != nil {
		return nil, faultsOf("RETRY_EVENTS_URL", err)
	}
	a.later("close the connection to the queue", publisher.Close)
	a.relay = events.NewRelay(a.store, publisher, events.Options{Logger: a.log, Observer: a.numbers, Heads: a.headsEvent})
	return a.relay.Wake, nil
}

// headsEvent returns the event of the trail's present heads.
func (a *App) headsEvent(ctx context.Context) (events.Event, error) {
	heads, _, err := a.store.Heads(ctx)
	if err != nil {
		return events.Event{}, err
	}
	return events.FromHeads(a.cfg.ClusterName, a.secret.Public(), heads)
}
