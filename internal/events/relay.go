package events

import (
	"cmp"
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

// Outbox is what the relay needs of a store: the records whose event is not published.
type Outbox interface {
	// Lead makes the caller the one who publishes, among all processes on the store, until release is called
	// or the store is lost. It returns [audit.ErrNotLeading] where another process leads.
	Lead(ctx context.Context) (release func(), err error)
	// Unpublished returns the first records that wait to be published, at most limit.
	Unpublished(ctx context.Context, limit int) ([]audit.Record, error)
	// Published takes records out of the outbox. Those that come after one that waits may stay in it until
	// that one is out.
	Published(ctx context.Context, ids []int64) error
	// Backlog is how many records wait to be published, and when the first of them was decided; the zero time
	// where none waits.
	Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error)
}

// Observer observes the publishing. Its methods must not block.
type Observer interface {
	// Published is called when the queue has acknowledged n events.
	Published(n int)
	// PublishFailed is called when n events were sent and not acknowledged. They are sent again.
	PublishFailed(n int)
	// Backlog is called every minute, whether this process publishes or not, with what [Outbox] says.
	Backlog(waiting int64, oldest time.Time)
}

// Options configure a relay.
type Options struct {
	Logger   *zap.Logger
	Observer Observer
	// Heads returns the event of the heads of the audit log, the zero event while there are none. It is
	// published every hour, and whenever this process begins to lead. If it is nil, no such event is.
	Heads func(context.Context) (Event, error)
}

const (
	// pollEvery is how long a record waits at most that another process appended, or without a Wake.
	pollEvery = time.Second
	// leadEvery is how often a process that does not publish tries to lead.
	leadEvery = 3 * time.Second
	// backlogEvery is how often the backlog is counted, headsEvery how often the leader publishes the heads.
	backlogEvery = time.Minute
	headsEvery   = time.Hour
	// callTimeout bounds one call of the store or the queue, headsTimeout a try with the heads, for which
	// events of claims wait.
	callTimeout  = 10 * time.Second
	headsTimeout = 3 * time.Second
	// stopGrace is how long a stop waits for acknowledgements that are on their way, and for marking them.
	stopGrace = 2 * time.Second
)

// Relay publishes the records of an outbox, until the queue has acknowledged each: at least once, and for
// each claim in the order of its records. It is made by [NewRelay]. It sends a page of up to [MaxBatch]
// records, and reads the page again until all of it is acknowledged.
type Relay struct {
	outbox       Outbox
	publisher    Publisher
	o            Options
	wake         chan struct{}
	store, queue *outage.Tracker
	told         *outage.Tracker // whether the heads are published
	// acked are the records of the page that the queue has acknowledged, so that they are not sent again.
	acked map[int64]bool
	// refused is the last record whose event was not taken, and again are the pauses after it.
	refused  int64
	again    outage.Backoff
	headsDue time.Time
}

// NewRelay makes a relay from an outbox to a queue.
func NewRelay(outbox Outbox, publisher Publisher, o Options) *Relay {
	tracker := func(lost, back, detail string, longest time.Duration) *outage.Tracker {
		pauses := outage.Backoff{Min: 100 * time.Millisecond, Max: longest}
		return &outage.Tracker{
			Log: o.Logger, Level: zapcore.WarnLevel, Lost: lost, Back: back, Detail: detail, Backoff: pauses,
		}
	}
	const wait = "events wait in the outbox and are sent when it is back"
	return &Relay{
		o: o, outbox: outbox, publisher: publisher, wake: make(chan struct{}, 1), acked: map[int64]bool{},
		store: tracker("outbox_lost", "outbox_back", wait, 5*time.Second),
		queue: tracker("queue_lost", "queue_back", wait, 10*time.Second),
		told: tracker("audit_heads_not_published", "audit_heads_published",
			"tried again every few minutes; other events do not wait for it", 5*time.Minute),
		again: outage.Backoff{Min: time.Second, Max: time.Minute},
	}
}

// Wake makes the relay look for new records at once. It does not block.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run publishes while no other process does, until ctx ends. What was sent by then may still be acknowledged
// and marked for two seconds; the rest stays in the outbox.
func (r *Relay) Run(ctx context.Context) {
	graced, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopGrace, cancel) })()
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
			err = r.lead(ctx, graced)
			release()
		}
		if err != nil && ctx.Err() == nil {
			outage.Sleep(ctx, r.store.Failed(time.Now(), err))
		}
	}
}

// countBacklog reports to the observer what waits, until ctx ends. It leaves a failing store to Run.
func (r *Relay) countBacklog(ctx context.Context) {
	for ; ctx.Err() == nil; outage.Sleep(ctx, backlogEvery) {
		counting, cancel := context.WithTimeout(ctx, callTimeout)
		if waiting, oldest, err := r.outbox.Backlog(counting); err == nil {
			r.o.Observer.Backlog(waiting, oldest)
		}
		cancel()
	}
}

// lead publishes until ctx ends or the store fails. What it has begun by then goes on until graced ends.
func (r *Relay) lead(ctx, graced context.Context) error {
	r.headsDue = time.Time{}
	for ctx.Err() == nil {
		reading, cancel := context.WithTimeout(ctx, callTimeout)
		page, err := r.outbox.Unpublished(reading, MaxBatch)
		cancel()
		if err != nil {
			return err
		}
		pause := r.send(ctx, graced, page)
		if err := r.mark(graced, page); err != nil {
			return err
		}
		r.store.Succeeded()
		r.publishHeads(ctx)
		outage.Sleep(ctx, pause)
		if len(page) == MaxBatch || pause > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// send publishes the events of a page until one is not acknowledged. It returns how long to pause then,
// before the page is read again.
func (r *Relay) send(ctx, graced context.Context, page []audit.Record) (pause time.Duration) {
	for ctx.Err() == nil {
		wave, err := r.nextWave(page)
		if len(wave) > 0 {
			err = r.publish(graced, wave)
		}
		switch {
		case errors.Is(err, ErrRefused):
			return r.again.Next()
		case err != nil:
			return r.queue.Failed(time.Now(), err)
		case len(wave) == 0:
			r.again.Reset()
			return 0
		}
	}
	return 0
}

// nextWave returns the next event of each claim, up to the first that cannot be made.
func (r *Relay) nextWave(page []audit.Record) (wave []Event, err error) {
	taken := map[string]bool{}
	for i := range page {
		record := &page[i]
		if r.acked[record.ID] || taken[key(record)] {
			continue
		}
		taken[key(record)] = true
		event, err := FromRecord(record)
		if err != nil {
			return wave, r.refuse(record.ID, "", err)
		}
		wave = append(wave, event)
	}
	return wave, nil
}

// publish sends events of different claims, and returns why one was not acknowledged.
func (r *Relay) publish(graced context.Context, wave []Event) (failure error) {
	sending, cancel := context.WithTimeout(graced, callTimeout)
	defer cancel()
	acked, refused := 0, error(nil)
	for i, err := range r.publisher.Publish(sending, wave) {
		switch {
		case err == nil:
			r.acked[wave[i].Record] = true
			acked++
		case !errors.Is(err, ErrRefused):
			failure = cmp.Or(failure, err)
		case refused == nil:
			refused = r.refuse(wave[i].Record, wave[i].Type, err)
		}
	}
	r.o.Observer.Published(acked)
	r.o.Observer.PublishFailed(len(wave) - acked)
	if failure == nil {
		r.queue.Succeeded()
	}
	return cmp.Or(failure, refused)
}

// refuse logs an event that is not taken, once.
func (r *Relay) refuse(record int64, kind string, err error) error {
	if r.refused != record {
		const detail = "later events wait or come late, and it is tried again every minute; " +
			"docs/runbooks.md#retryoutboxgrowing says what to do"
		r.o.Logger.Error("event_refused", zap.Int64("record", record), zap.String("type", kind), zap.Error(err),
			zap.String("detail", detail))
	}
	r.refused = record
	return ErrRefused
}

// mark takes what the queue has acknowledged of a page out of the outbox.
func (r *Relay) mark(graced context.Context, page []audit.Record) error {
	var ids []int64
	acked := map[int64]bool{}
	for i := range page {
		if id := page[i].ID; r.acked[id] {
			ids, acked[id] = append(ids, id), true
		}
	}
	if r.acked = acked; len(ids) == 0 {
		return nil
	}
	marking, cancel := context.WithTimeout(graced, callTimeout)
	defer cancel()
	return r.outbox.Published(marking, ids)
}

// publishHeads publishes the event of the heads if it is due.
func (r *Relay) publishHeads(ctx context.Context) {
	if r.o.Heads == nil || ctx.Err() != nil || r.queue.Err() != nil || time.Now().Before(r.headsDue) {
		return
	}
	trying, cancel := context.WithTimeout(ctx, headsTimeout)
	defer cancel()
	event, err := r.o.Heads(trying)
	if err == nil && event.ID != "" {
		err = r.publisher.Publish(trying, []Event{event})[0]
	}
	r.headsDue = time.Now().Add(headsEvery)
	if err == nil {
		r.told.Succeeded()
	} else if ctx.Err() == nil {
		r.headsDue = time.Now().Add(r.told.Failed(time.Now(), err))
	}
}
