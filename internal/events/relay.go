package events

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/outage"
)

// Observer observes the publishing. Its methods must not block.
type Observer interface {
	// Published is called when the queue has acknowledged n events.
	Published(n int)
	// PublishFailed is called when n events were sent and not acknowledged. They are sent again.
	PublishFailed(n int)
	// Backlog is called every few seconds, whether this process publishes or not: how many events wait, and when the
	// oldest of them was decided; the zero time if none waits.
	Backlog(waiting int64, oldest time.Time)
}

// Options configure a relay.
type Options struct {
	Logger   *zap.Logger
	Observer Observer
	// Heads returns the event of the heads of the audit log, the zero event while there are none. It is published every
	// hour, and whenever this process begins to lead. If it is nil, no such event is.
	Heads func(context.Context) (Event, error)
}

const (
	// pageSize is how many records are read, sent and marked together.
	pageSize = 256
	// pollEvery is how long a record waits at most that another process appended, or without a Wake.
	pollEvery = time.Second
	// leadEvery is how often a process that does not publish tries to lead.
	leadEvery = 3 * time.Second
	// backlogEvery is how often the backlog is counted, and storeTimeout how long one call of the store may take.
	backlogEvery = 5 * time.Second
	storeTimeout = 10 * time.Second
	// publishTimeout is how long a queue may take to acknowledge what was sent together.
	publishTimeout = 10 * time.Second
	// stopGrace is how long a stop waits for acknowledgements that are on their way, and then for marking them.
	stopGrace = 2 * time.Second
	// headsEvery is how often the leader publishes the heads, and headsTimeout bounds one try, because the events of
	// claims wait for it.
	headsEvery   = time.Hour
	headsTimeout = 3 * time.Second
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

	log          *zap.Logger
	store, queue outage.Tracker
	// held are the claims with an event that was not acknowledged in this pass over the outbox, each with the record of
	// that event if the queue refused it, or 0. before is held of the pass before.
	held, before map[string]int64
	// after is the last record of this pass so far; fromStart says that the pass began at the first one, and again when
	// the next one does, if something is held.
	after     int64
	fromStart bool
	again     time.Time
	// recheck are the pauses between passes for what is held.
	recheck outage.Backoff

	// heads makes the event of the heads, if there is one; headsDue is when it is published next, headsRetry are the pauses
	// after a failure, or while there are no heads.
	heads        func(context.Context) (Event, error)
	headsDue     time.Time
	headsFailing bool
	headsRetry   outage.Backoff
}

// NewRelay makes a relay from an outbox to a queue.
func NewRelay(outbox audit.Outbox, publisher Publisher, o Options) *Relay {
	r := &Relay{
		outbox: outbox, publisher: publisher, observer: o.Observer, log: o.Logger, heads: o.Heads,
		wake:       make(chan struct{}, 1),
		held:       map[string]int64{},
		recheck:    outage.Backoff{Min: time.Second, Max: 2 * time.Minute},
		headsRetry: outage.Backoff{Min: time.Second, Max: 5 * time.Minute},
	}
	r.store.Lost, r.store.Back, r.store.Backoff = "outbox_lost", "outbox_back", outage.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}
	r.queue.Lost, r.queue.Back, r.queue.Backoff = "queue_lost", "queue_back", outage.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second}
	for _, tracker := range []*outage.Tracker{&r.store, &r.queue} {
		tracker.Log, tracker.Level = o.Logger, zapcore.WarnLevel
		tracker.Detail = "events wait in the outbox and are sent when it is back"
	}
	return r
}

// Wake makes the relay look for new records at once. It does not block.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run publishes while no other process does, until ctx ends. What was sent by then may still be acknowledged for two
// seconds, and is marked; the rest stays in the outbox.
func (r *Relay) Run(ctx context.Context) {
	var counting sync.WaitGroup
	counting.Go(func() { r.countBacklog(ctx) })
	defer counting.Wait()
	for ctx.Err() == nil {
		release, err := r.outbox.Lead(ctx)
		if errors.Is(err, audit.ErrNotLeading) {
			r.store.Succeeded()
			outage.Sleep(ctx, leadEvery/2+rand.N(leadEvery))
			continue
		}
		if err == nil {
			err = r.lead(ctx)
			release()
		}
		if err != nil && ctx.Err() == nil {
			outage.Sleep(ctx, r.store.Failed(time.Now(), err))
		}
	}
}

// lead publishes until ctx ends or the store fails.
func (r *Relay) lead(ctx context.Context) error {
	r.begin()
	r.headsDue = time.Now()
	for ctx.Err() == nil {
		more, err := r.page(ctx)
		if err != nil {
			return err
		}
		r.store.Succeeded()
		if more {
			continue
		}
		r.endPass()
		r.publishHeads(ctx)
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

// countBacklog reports to the observer what waits, until ctx ends. It leaves a failing store to Run.
func (r *Relay) countBacklog(ctx context.Context) {
	for ctx.Err() == nil {
		counting, cancel := context.WithTimeout(ctx, storeTimeout)
		if waiting, oldest, err := r.outbox.Backlog(counting); err == nil {
			r.observer.Backlog(waiting, oldest)
		}
		cancel()
		outage.Sleep(ctx, backlogEvery)
	}
}

// begin starts the next pass at the first record of the outbox, with nothing held.
func (r *Relay) begin() {
	r.after, r.fromStart = 0, true
	r.before, r.held = r.held, map[string]int64{}
}

// endPass sets when what is held is tried again. Until then passes start where this one ended.
func (r *Relay) endPass() {
	switch {
	case len(r.held) == 0:
		r.recheck.Reset()
	case r.queue.Err() != nil:
		r.again = time.Now() // each page has paused already
	case r.fromStart:
		r.again = time.Now().Add(r.recheck.Next())
	}
	r.fromStart, r.before = false, nil
}

// page publishes the next records of this pass, and marks those that the queue has acknowledged. It reports whether there
// are more.
func (r *Relay) page(ctx context.Context) (more bool, err error) {
	reading, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	records, err := r.outbox.Unpublished(reading, r.after, pageSize)
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

// withGrace returns a context that lasts stopGrace longer than ctx, but no longer than the timeout.
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
	reachable, reason := false, error(nil)
	for i, err := range r.publisher.Publish(sending, wave) {
		switch event := &wave[i]; {
		case err == nil:
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
		outage.Sleep(ctx, r.queue.Failed(time.Now(), reason))
	case r.queue.Succeeded():
		r.recheck.Reset()
		r.again = time.Now()
	}
	return done
}

// refused holds a claim whose event is not taken, and logs that once.
func (r *Relay) refused(key string, record int64, kind string, err error) {
	r.held[key] = record
	if r.before[key] != record {
		r.log.Error("event_refused", zap.Int64("record", record), zap.String("type", kind), zap.Error(err),
			zap.String("detail", "it stays in the outbox and is tried again every two minutes or so; later events of this claim wait for it, other claims do not"))
	}
}

// publishHeads publishes the event of the heads if it is due. What fails is tried again later, and is logged once.
func (r *Relay) publishHeads(ctx context.Context) {
	if r.heads == nil || ctx.Err() != nil || r.queue.Err() != nil || time.Now().Before(r.headsDue) {
		return
	}
	trying, cancel := context.WithTimeout(ctx, headsTimeout)
	defer cancel()
	event, err := r.heads(trying)
	none := err == nil && event.ID == ""
	if err == nil && !none {
		err = r.publisher.Publish(trying, []Event{event})[0]
	}
	if err != nil && !r.headsFailing && ctx.Err() == nil {
		r.log.Warn("audit_heads_not_published", zap.Error(err), zap.String("detail", "tried again every few minutes; other events do not wait for it"))
	}
	if r.headsFailing = err != nil; err != nil || none {
		r.headsDue = time.Now().Add(r.headsRetry.Next())
		return
	}
	r.log.Info("audit_heads_published", zap.String("id", event.ID))
	r.headsRetry.Reset()
	r.headsDue = time.Now().Add(headsEvery)
}
