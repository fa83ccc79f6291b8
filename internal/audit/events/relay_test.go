package events_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// queue is a publisher whose answers a test chooses.
type queue struct {
	mu     sync.Mutex
	answer func(e events.Event) error // what an event gets; nil: all are acknowledged
	delay  time.Duration              // before a Publish answers
	sent   []events.Event             // in the order of sending, acknowledged or not
	acked  []events.Event
	busy   int // Publish calls that run
	most   int // at one time
}

func (q *queue) Publish(ctx context.Context, batch []events.Event) []error {
	q.mu.Lock()
	q.busy++
	q.most = max(q.most, q.busy)
	answer, delay := q.answer, q.delay
	q.mu.Unlock()
	late := false
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			late = true
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	errs := make([]error, len(batch))
	for i, e := range batch {
		q.sent = append(q.sent, e)
		switch {
		case late:
			errs[i] = ctx.Err()
		case answer != nil:
			errs[i] = answer(e)
		}
		if errs[i] == nil {
			q.acked = append(q.acked, e)
		}
	}
	return errs
}

func (q *queue) Close() error { return nil }

func (q *queue) set(answer func(events.Event) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer = answer
}

func (q *queue) counts() (sent, acked int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.sent), len(q.acked)
}

// sentOf is how often the event of a record was sent.
func (q *queue) sentOf(record int64) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.sent {
		if e.Record == record {
			n++
		}
	}
	return n
}

// bench is a relay in a bubble: its clock moves only while everybody waits.
type bench struct {
	*testing.T
	outbox *eventstest.Outbox
	queue  *queue
	relay  *events.Relay
	seen   *eventstest.Counts
	logs   *observer.ObservedLogs
	heads  func(context.Context) (events.Event, error) // nil: no heads are published
	stop   func()                                      // and wait for the end of Run
}

func inBubble(t *testing.T, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, outbox: eventstest.NewOutbox(t), queue: &queue{}}
		b.start()
		defer func() { b.stop() }()
		test(b)
	})
}

// start starts a relay on the bench's outbox and queue.
func (b *bench) start() {
	core, logs := observer.New(zap.DebugLevel)
	b.logs, b.seen = logs, &eventstest.Counts{}
	b.relay = events.NewRelay(b.outbox, b.queue, events.Options{Logger: zap.New(core), Published: b.seen.Published, Heads: b.heads})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.relay.Run(ctx) }()
	b.stop = func() { cancel(); <-done }
}

// advance lets time pass.
func (b *bench) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// inOrder fails the test unless every event of a claim was first sent after the one before was acknowledged.
func (b *bench) inOrder() {
	b.Helper()
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	last := map[string]int64{}
	for _, e := range b.queue.acked {
		if e.Record < last[e.Key] {
			b.Errorf("claim %s: record %d after %d", e.Key, e.Record, last[e.Key])
		}
		last[e.Key] = max(last[e.Key], e.Record)
	}
}

var errAway = errors.New("no route to the queue")

// Of PostgreSQL, its own tests show that one process leads at a time.
func TestOfTwoRelaysOnePublishesAndTheOtherTakesOver(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.delay = time.Millisecond
		eventstest.Relay(b.T, b.outbox, b.queue, events.Options{})
		for _, first := range []string{"A", "B"} {
			before, _ := b.queue.counts()
			records := b.outbox.Fill(first, 40, 3)
			b.advance(10 * time.Second)
			if sent, _ := b.queue.counts(); sent-before != len(records) || b.queue.most > 1 || b.outbox.Waiting() > 0 {
				t.Errorf("%s: %d sent of %d, %d side by side, %d wait", first, sent-before, len(records), b.queue.most, b.outbox.Waiting())
			}
			b.stop() // the one that was there first
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestARecordIsPublishedWithinASecond(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.advance(time.Second / 2)
		b.outbox.Fill("A", 3, 1)
		b.advance(time.Second)
		if _, acked := b.queue.counts(); acked != 3 || b.outbox.Waiting() != 0 {
			t.Errorf("%d published, %d wait", acked, b.outbox.Waiting())
		}
	})
}

func TestBacklogKeepsTheOrderOfEachClaimDespiteFailures(t *testing.T) {
	inBubble(t, func(b *bench) {
		chance := rand.New(rand.NewPCG(1, 2))
		b.queue.set(func(events.Event) error {
			if chance.IntN(3) == 0 {
				return errAway
			}
			return nil
		})
		records := b.outbox.Fill("A", 200, 10)
		for deadline := time.Now().Add(time.Hour); b.outbox.Waiting() > 0; b.advance(time.Second) {
			if time.Now().After(deadline) {
				t.Fatalf("%d wait after an hour", b.outbox.Waiting())
			}
		}
		b.inOrder()
		sent, acked := b.queue.counts()
		if acked != len(records) || sent == acked {
			t.Errorf("%d acknowledged of %d records, %d sent", acked, len(records), sent)
		}
		if published, failed := b.seen.Events(); published != acked || failed != sent-acked {
			t.Errorf("counted %d published and %d failed, want %d and %d", published, failed, acked, sent-acked)
		}
	})
}
