package events

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/ops/outage"
)

// Options configure a relay.
type Options struct {
	Logger *zap.Logger
	// Published is called when events were sent, with how many the queue has acknowledged. The others are
	// sent again. It must not block.
	Published func(acked, unacked int)
	// Heads returns the event of the heads of the audit log, the zero event while there are none. It is
	// published when this process first leads, and every hour. If it is nil, no such event is.
	Heads func(context.Context) (Event, error)
}

const (
	// pollEvery is how long a record waits at most while nothing fails.
	pollEvery = time.Second
	// leadEvery is how often a process that does not publish tries to lead.
	leadEvery = 3 * time.Second
	// headsEvery is how often the leader publishes the heads.
	headsEvery = time.Hour
	// callTimeout bounds one call of the store or the queue.
	callTimeout = 10 * time.Second
)

// Relay publishes the records of an outbox, until the queue has acknowledged each: at least once, and for
// each claim in the order of its records. It is made by [NewRelay]. It sends a page of up to [MaxBatch]
// records, and reads the page again until all of it is acknowledged. Whatever fails, the store, the queue or
// one event that the queue refuses, it tries again after a pause, and events wait.
type Relay struct {
	outbox    audit.Outbox
	publisher Publisher
	o         Options
	flow      outage.Tracker
	headsDue  time.Time
	// acked are the records that the queue has acknowledged and the outbox still has, so that they are not
	// sent again.
	acked map[int64]bool
}

// NewRelay makes a relay from an outbox to a queue.
func NewRelay(outbox audit.Outbox, publisher Publisher, o Options) *Relay {
	r := &Relay{o: o, outbox: outbox, publisher: publisher, acked: map[int64]bool{}}
	r.flow = outage.Tracker{
		Log:     o.Logger,
		Lost:    "events_wait",
		Back:    "events_flow",
		Level:   zapcore.WarnLevel,
		Detail:  "none is lost; docs/runbooks.md#retryoutboxgrowing says what to do",
		Backoff: outage.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second},
	}
	return r
}

// Run publishes while no other process does, until ctx ends. What is not acknowledged by then stays in the
// outbox.
func (r *Relay) Run(ctx context.Context) {
	for ctx.Err() == nil {
		lead, err := r.outbox.Lead(ctx)
		if errors.Is(err, audit.ErrNotLeading) {
			r.flow.Succeeded()
			outage.Sleep(ctx, leadEvery/2+rand.N(leadEvery))
			continue
		}
		if err == nil {
			err = r.lead(ctx, lead)
		}
		if err != nil && ctx.Err() == nil { // as leader: processes do not take turns at a queue that is away
			outage.Sleep(ctx, r.flow.Failed(time.Now(), err))
		}
		if lead != nil {
			lead.Release()
		}
	}
}

// lead publishes until ctx ends or something fails.
func (r *Relay) lead(ctx context.Context, lead audit.Lead) error {
	for ctx.Err() == nil {
		read, err := r.publishPage(ctx, lead)
		if err == nil {
			err = r.publishHeads(ctx)
		}
		if err != nil {
			return err
		}
		r.flow.Succeeded()
		if read < MaxBatch {
			outage.Sleep(ctx, pollEvery)
		}
	}
	return nil
}

// publishPage publishes the first records of the outbox and takes out what the queue has acknowledged. It
// returns how many it read, and why not all are published.
func (r *Relay) publishPage(ctx context.Context, lead audit.Lead) (read int, err error) {
	reading, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	page, err := lead.Unpublished(reading, MaxBatch)
	if err != nil {
		return 0, err
	}
	for err == nil {
		var wave []Event
		if wave, err = r.nextWave(page); len(wave) == 0 {
			break
		}
		err = cmp.Or(r.publish(ctx, wave), err)
	}
	return len(page), cmp.Or(r.mark(ctx, lead, page), err)
}

// nextWave returns the next event of each claim, and why one cannot be made.
func (r *Relay) nextWave(page []audit.Record) (wave []Event, failure error) {
	taken := map[string]bool{}
	for i := range page {
		record := &page[i]
		if r.acked[record.ID] || taken[key(record)] {
			continue
		}
		taken[key(record)] = true
		event, err := FromRecord(record)
		if err == nil {
			wave = append(wave, event)
		}
		failure = cmp.Or(failure, err)
	}
	return wave, failure
}

// publish sends events of different claims, and returns why one was not acknowledged.
func (r *Relay) publish(ctx context.Context, wave []Event) (failure error) {
	sending, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	acked := 0
	for i, err := range r.publisher.Publish(sending, wave) {
		if err == nil {
			r.acked[wave[i].Record] = true
			acked++
		}
		failure = cmp.Or(failure, err)
	}
	r.o.Published(acked, len(wave)-acked)
	return failure
}

// mark takes what the queue has acknowledged of a page out of the outbox, up to the first record that it has
// not. It does so when ctx has ended, too.
func (r *Relay) mark(ctx context.Context, lead audit.Lead, page []audit.Record) error {
	var ids []int64
	for i := 0; i < len(page) && r.acked[page[i].ID]; i++ {
		ids = append(ids, page[i].ID)
	}
	if ids == nil {
		return nil
	}
	marking, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if err := lead.Published(marking, ids); err != nil {
		return err
	}
	for _, id := range ids {
		delete(r.acked, id)
	}
	return nil
}

// publishHeads publishes the event of the heads if it is due.
func (r *Relay) publishHeads(ctx context.Context) error {
	if r.o.Heads == nil || ctx.Err() != nil || time.Now().Before(r.headsDue) {
		return nil
	}
	trying, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	event, err := r.o.Heads(trying)
	if err == nil && event.ID != "" {
		err = r.publisher.Publish(trying, []Event{event})[0]
	}
	if err == nil {
		r.headsDue = time.Now().Add(headsEvery)
	}
	return err
}
