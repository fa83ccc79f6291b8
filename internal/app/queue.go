package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
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
	heads, err := a.store.Heads(ctx)
	if err != nil {
		return events.Event{}, err
	}
	return events.FromHeads(a.cfg.ClusterName, a.secret.Public(), heads)
}

// readHeadsWithin bounds the reading of a queue. A Kafka topic is read as a whole.
const readHeadsWithin = 30 * time.Second

// QueueHeads reads the heads of a key's trail that the configured queue holds. An error may come with some: the queue
// could not be read to its end, or it holds heads that somebody else has signed, which are left out. Any error is about the
// queue and says nothing about the trail.
func QueueHeads(ctx context.Context, cfg config.Config, key audit.Public) (heads []audit.Head, err error) {
	publisher, err := queue.Open(string(cfg.EventsURL))
	if err != nil {
		return nil, fmt.Errorf("RETRY_EVENTS_URL %w", err)
	}
	defer func() { err = errors.Join(err, publisher.Close()) }()
	reader, can := publisher.(events.Reader)
	if !can {
		return nil, errors.New("a queue of RabbitMQ cannot be read without taking the events from it: have a consumer keep those of type " +
			events.TypeAuditHead + " in a file, and name that with --heads")
	}
	ctx, cancel := context.WithTimeout(ctx, readHeadsWithin)
	defer cancel()
	others := 0
	err = reader.Read(ctx, events.TypeAuditHead, func(event []byte) {
		found, err := events.Heads(event, key.ID())
		if err != nil {
			others++
		}
		for _, h := range found {
			if key.CheckHead(h) {
				heads = append(heads, h)
			} else {
				others++
			}
		}
	})
	if others > 0 {
		err = errors.Join(err, fmt.Errorf("%d heads in the queue bear the name of the key and were not signed with it: somebody else has written there", others))
	}
	return heads, err
}
