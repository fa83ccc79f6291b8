package events

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/failpoint"
)

// Observer is told how publishing goes. Its methods must not block.
type Observer interface {
	// Published is called when the queue has acknowledged so many events.
	Published(n int)
	// PublishFailed is called when so many events were sent and not acknowledged. They are sent again.
	PublishFailed(n int)
	// Backlog is called every few seconds, whether this process publishes or not: how many events wait, and when the
	// oldest of them was decided; the zero time where none waits.
	Backlog(waiting int64, oldest time.Time)
}

// Options are what a relay may be given beside its outbox and its queue. The zero value is of use.
type Options struct {
	// Logger defaults to none, Observer to nobody.
	Logger   *zap.Logger
	Observer Observer
	// Heads returns the event of the heads of the trail, the zero event while there are none. It is published once a day,
	// and at the start of leading. Where it is nil, no such event is.
	Heads func(context.Context) (Event, error)
}

const (
	// pageSize is how many records are read, sent and marked together.
	pageSize = 256
	// pollEvery is how long an appended record waits at most that another process appended, or that nobody told of.
	pollEvery = time.Second
	// leadEvery is how often a process that does not publish asks whether it shall.
	leadEvery = 3 * time.Second
	// backlogEvery is how often the backlog is counted, and storeTimeout how long one question to the store may take.
	backlogEvery = 5 * time.Second
	storeTimeout = 10 * time.Second
	// publishTimeout is how long a queue may take to acknowledge what was sent together.
	publishTimeout = 10 * time.Second
	// stopGrace is how long a stop waits for acknowledgements that are on their way, and then for marking them.
	stopGrace = 2 * time.Second
)

// Relay publishes the records of an outbox, until the queue has acknowledged each: at least once, and for each claim in
// the order of its records. It is made by [NewRelay].
//
// An event that is not acknowledged holds back the later ones of its claim and no others.
type Relay struct {
	outbox    audit.Outbox
	publisher Publisher
	observer  Observer
	wake      chan struct{}

	store, queue link
	// held are the claims with an event that was not acknowledged in this pass over the outbox, with the record of that
	// event where the queue refused it. before is the same of the pass before.
	held, before map[string]int64
	// after is the record that this pass has come to; fromStart says that it began at the first one, and again when the
	// next one shall, where something is held.
	after     int64
	fromStart bool
	again     time.Time
	// recheck are the pauses between passes for what is held.
	recheck *backoff.ExponentialBackOff

	heads headTeller
}

// NewRelay makes a relay from an outbox to a queue.
func NewRelay(outbox audit.Outbox, publisher Publisher, o Options) *Relay {
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	return &Relay{
		outbox: outbox, publisher: publisher, observer: o.Observer,
		wake:    make(chan struct{}, 1),
		store:   link{log: o.Logger, lost: "outbox_lost", back: "outbox_back", pause: pause(100*time.Millisecond, 5*time.Second)},
		queue:   link{log: o.Logger, lost: "queue_lost", back: "queue_back", pause: pause(100*time.Millisecond, 10*time.Second)},
		held:    map[string]int64{},
		recheck: pause(time.Second, 2*time.Minute),
		heads:   headTeller{ask: o.Heads, again: pause(time.Second, 5*time.Minute)},
	}
}

// Wake tells the relay that something was appended. It does not block.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run publishes while no other process does, until ctx ends. What was sent by then may still be acknowledged for two
// seconds, and is marked; the rest stays in the outbox.
func (r *Relay) Run(ctx context.Context) {
	counting := make(chan struct{})
	go func() {
		defer close(counting)
		r.countBacklog(ctx)
	}()
	defer func() { <-counting }()
	for ctx.Err() == nil {
		release, err := r.outbox.Lead(ctx)
		switch {
		case errors.Is(err, audit.ErrNotLeading):
			r.store.succeeded()
			wait(ctx, leadEvery/2+rand.N(leadEvery))
		case err != nil:
			r.storeFailed(ctx, err)
		default:
			err = r.lead(ctx)
			release()
			if err != nil {
				r.storeFailed(ctx, err)
			}
		}
	}
}

// lead publishes until ctx ends or the store fails.
func (r *Relay) lead(ctx context.Context) error {
	r.begin()
	r.heads.due = time.Now()
	for ctx.Err() == nil {
		more, err := r.page(ctx)
		if err != nil {
			return err
		}
		r.store.succeeded()
		if more {
			continue
		}
		r.endPass()
		r.tellHeads(ctx)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-time.After(pollEvery):
		}
		if len(r.held) == 0 || !time.Now().Before(r.again) {
			r.begin()
		}
	}
	return nil
}

// begin makes the next pass begin at the first record of the outbox, with nothing held.
func (r *Relay) begin() {
	r.after, r.fromStart = 0, true
	r.before, r.held = r.held, map[string]int64{}
}

// endPass settles when what is held is tried again. Until then passes go on behind it: they begin where this one ended.
func (r *Relay) endPass() {
	switch {
	case len(r.held) == 0:
		r.recheck.Reset()
	case r.queue.isLost():
		r.again = time.Now() // it has been waited for already, page by page
	case r.fromStart:
		r.again = time.Now().Add(r.recheck.NextBackOff())
	}
	r.fromStart, r.before = false, nil
}

// page publishes the next records of this pass, and marks those that the queue has acknowledged. It reports whether there
// are more.
func (r *Relay) page(ctx context.Context) (more bool, err error) {
	asking, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	records, err := r.outbox.Unpublished(asking, r.after, pageSize)
	if err != nil || len(records) == 0 {
		return false, err
	}
	r.after = records[len(records)-1].ID
	more = len(records) == pageSize
	var done []int64
	for len(records) > 0 && ctx.Err() == nil {
		var wave []Event
		wave, records = r.nextWave(records)
		done = append(done, r.publish(ctx, wave)...)
	}
	if len(done) == 0 {
		return more, nil
	}
	marking, cancel := withGrace(ctx, storeTimeout)
	defer cancel()
	return more, r.outbox.Published(marking, done)
}

// withGrace is the context of what a stop does not break off at once.
func withGrace(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	graced, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	stopped := context.AfterFunc(ctx, func() { time.AfterFunc(stopGrace, cancel) })
	return graced, func() { stopped(); cancel() }
}

// nextWave takes the first record of each claim that is not held, and returns their events and the other records.
func (r *Relay) nextWave(records []audit.Record) (wave []Event, rest []audit.Record) {
	taken := make(map[string]bool, len(records))
	for i := range records {
		record := &records[i]
		key := Key(record)
		if _, held := r.held[key]; held {
			continue
		}
		if taken[key] {
			rest = append(rest, *record)
			continue
		}
		event, err := FromRecord(record)
		if err != nil {
			r.refused(key, record.ID, "", err)
			r.observer.PublishFailed(1)
			continue
		}
		taken[key] = true
		wave = append(wave, event)
	}
	return wave, rest
}

// publish sends events of different claims, and returns the records of those that the queue has acknowledged.
func (r *Relay) publish(ctx context.Context, wave []Event) (done []int64) {
	if len(wave) == 0 {
		return nil
	}
	sending, cancel := withGrace(ctx, publishTimeout)
	defer cancel()
	for i := range wave {
		failpoint.At(failpoint.Publishing, wave[i].Key)
	}
	reachable, reason := false, error(nil)
	for i, err := range r.publisher.Publish(sending, wave) {
		switch event := &wave[i]; {
		case err == nil:
			failpoint.At(failpoint.Published, event.Key)
			reachable = true
			done = append(done, event.Record)
		case errors.Is(err, ErrRefused):
			reachable = true
			r.refused(event.Key, event.Record, event.Type, err)
		default:
			r.held[event.Key], reason = 0, err
		}
	}
	r.observer.Published(len(done))
	r.observer.PublishFailed(len(wave) - len(done))
	switch {
	case !reachable:
		wait(ctx, r.queue.failed(reason))
	case r.queue.succeeded():
		r.recheck.Reset()
		r.again = time.Now()
	}
	return done
}

// refused holds a claim whose event is not taken, and says so once.
func (r *Relay) refused(key string, record int64, kind string, err error) {
	r.held[key] = record
	if r.before[key] != record {
		r.queue.log.Error("event_refused", zap.Int64("record", record), zap.String("type", kind), zap.Error(err),
			zap.String("detail", "it stays in the outbox and is tried again every two minutes or so; later events of this claim wait for it, other claims do not"))
	}
}

// storeFailed waits before the store is asked again.
func (r *Relay) storeFailed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		wait(ctx, r.store.failed(err))
	}
}
