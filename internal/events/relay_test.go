package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/eventstest"
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
	seen   *counts
	logs   *observer.ObservedLogs
	stop   func() // and wait for the end of Run
}

type counts struct {
	mu                sync.Mutex
	published, failed int
	waiting           int64
	oldest            time.Time
}

func (c *counts) Published(n int) { c.mu.Lock(); c.published += n; c.mu.Unlock() }
func (c *counts) get() (published, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published, c.failed
}

func (c *counts) PublishFailed(n int) { c.mu.Lock(); c.failed += n; c.mu.Unlock() }
func (c *counts) Backlog(waiting int64, oldest time.Time) {
	c.mu.Lock()
	c.waiting, c.oldest = waiting, oldest
	c.mu.Unlock()
}

func inBubble(t *testing.T, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, outbox: &eventstest.Outbox{}, queue: &queue{}}
		b.start()
		defer func() { b.stop() }()
		test(b)
	})
}

// start starts a relay on the bench's outbox and queue.
func (b *bench) start() {
	core, logs := observer.New(zap.DebugLevel)
	b.logs, b.seen = logs, &counts{}
	b.relay = events.NewRelay(b.outbox, b.queue, events.Options{Logger: zap.New(core), Observer: b.seen})
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

func TestWhatIsAppendedIsPublishedAtOnceWhenTheRelayIsTold(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.advance(time.Second / 2)
		began := time.Now()
		b.outbox.Fill("A", 3, 1)
		b.relay.Wake()
		b.relay.Wake()
		synctest.Wait()
		if _, acked := b.queue.counts(); acked != 3 || b.outbox.Waiting() != 0 || !time.Now().Equal(began) {
			t.Errorf("%d published after %v, %d wait", acked, time.Since(began), b.outbox.Waiting())
		}
	})
}

func TestWhatNobodyTellsOfIsPublishedWithinASecond(t *testing.T) {
	inBubble(t, func(b *bench) {
		synctest.Wait()
		b.outbox.Fill("A", 3, 1)
		b.advance(time.Second)
		if b.outbox.Waiting() != 0 {
			t.Errorf("%d wait", b.outbox.Waiting())
		}
	})
}

func TestNothingIsMarkedThatIsNotAcknowledged(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.delay = 3 * time.Second
		records := b.outbox.Fill("A", 10, 1)
		b.relay.Wake()
		b.advance(2 * time.Second)
		if b.outbox.Waiting() != len(records) {
			t.Errorf("%d wait while nothing is acknowledged, want all", b.outbox.Waiting())
		}
		b.advance(2 * time.Second)
		if b.outbox.Waiting() != 0 {
			t.Errorf("%d wait after the slow acknowledgement", b.outbox.Waiting())
		}
	})
}

func TestABacklogIsPublishedInTheOrderOfEachClaimWhateverFails(t *testing.T) {
	inBubble(t, func(b *bench) {
		chance := rand.New(rand.NewPCG(1, 2))
		b.queue.set(func(events.Event) error {
			if chance.IntN(3) == 0 {
				return errAway
			}
			return nil
		})
		records := b.outbox.Fill("A", 200, 10)
		b.relay.Wake()
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
		if published, failed := b.seen.get(); published != acked || failed != sent-acked {
			t.Errorf("counted %d published and %d failed, want %d and %d", published, failed, acked, sent-acked)
		}
	})
}

func TestAQueueThatIsAwayForLongIsTriedSeldomLoggedOnceAndThenDrained(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(events.Event) error { return errAway })
		records := b.outbox.Fill("A", 1000, 3)
		b.relay.Wake()
		b.advance(20 * time.Minute)
		later := b.outbox.Fill("B", 10, 1)
		_, before := b.seen.get()
		b.advance(10 * time.Minute)
		if _, tries := b.seen.get(); float64(tries-before)/600 > 256 {
			t.Errorf("%d events are sent in ten minutes to a queue that is away", tries-before)
		}
		if n := b.logs.Len(); n != 1 || b.logs.All()[0].Message != "queue_lost" {
			t.Errorf("logged %v", b.logs.All())
		}
		b.queue.set(nil)
		b.advance(30 * time.Second)
		if _, acked := b.queue.counts(); b.outbox.Waiting() != 0 || acked != len(records)+len(later) {
			t.Errorf("%d wait, %d acknowledged of %d", b.outbox.Waiting(), acked, len(records)+len(later))
		}
		if n := b.logs.FilterMessage("queue_back").Len(); n != 1 {
			t.Errorf("its return is logged %d times", n)
		}
		b.inOrder()
	})
}

func TestAnEventThatIsRefusedForEverHoldsUpItsClaimOnly(t *testing.T) {
	inBubble(t, func(b *bench) {
		poison := int64(3) // the first event of the third claim
		b.queue.set(func(e events.Event) error {
			if e.Record == poison {
				return fmt.Errorf("too large: %w", events.ErrRefused)
			}
			return nil
		})
		b.outbox.Fill("A", 10, 3)
		b.relay.Wake()
		b.advance(time.Second)
		if b.outbox.Waiting() != 3 {
			t.Fatalf("%d wait, want the three of one claim", b.outbox.Waiting())
		}
		b.advance(6 * time.Hour)
		b.outbox.Fill("B", 500, 1)
		b.relay.Wake()
		synctest.Wait()
		if b.outbox.Waiting() != 3 {
			t.Errorf("%d wait, want the three of one claim: others are published at once behind them", b.outbox.Waiting())
		}
		if tries := b.queue.sentOf(poison); tries < 120 || tries > 400 { // every one to three minutes
			t.Errorf("sent %d times in six hours", tries)
		}
		if n := b.logs.FilterMessage("event_refused").Len(); n != 1 || b.logs.Len() != 1 {
			t.Errorf("logged %v, want one line", b.logs.All())
		}
		b.queue.set(nil) // somebody raised the limit
		b.advance(10 * time.Minute)
		if b.outbox.Waiting() != 0 {
			t.Errorf("%d wait", b.outbox.Waiting())
		}
		b.inOrder()
	})
}

func TestMoreRefusedEventsThanAPageDoNotHoldUpTheOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		refused := b.outbox.Fill("A", 600, 1)
		last := refused[len(refused)-1].ID
		b.queue.set(func(e events.Event) error {
			if e.Record <= last {
				return events.ErrRefused
			}
			return nil
		})
		b.outbox.Fill("B", 100, 2)
		b.relay.Wake()
		b.advance(time.Minute)
		if b.outbox.Waiting() != len(refused) {
			t.Fatalf("%d wait, want the %d that are refused", b.outbox.Waiting(), len(refused))
		}
		b.advance(10 * time.Minute)
		reads := b.outbox.Reads()
		for range 100 {
			b.outbox.Fill("C", 1, 1)
			b.relay.Wake()
			synctest.Wait()
		}
		if reads = b.outbox.Reads() - reads; reads > 200 || b.outbox.Waiting() != len(refused) {
			t.Errorf("100 events behind the refused ones took %d reads, and %d wait", reads, b.outbox.Waiting())
		}
	})
}

func TestARecordThatCannotBeReadHoldsUpItsClaimOnly(t *testing.T) {
	inBubble(t, func(b *bench) {
		bad := eventstest.Scheduled("CLM-A-1", eventstest.Began)
		bad.Detail = "{"
		b.outbox.Append(eventstest.Scheduled("CLM-A-1", eventstest.Began), bad, eventstest.Scheduled("CLM-A-1", eventstest.Began))
		b.outbox.Fill("B", 5, 1)
		b.relay.Wake()
		b.advance(time.Hour)
		if _, acked := b.queue.counts(); acked != 6 || b.outbox.Waiting() != 2 {
			t.Errorf("%d published, %d wait; want 6 and 2", acked, b.outbox.Waiting())
		}
		if n := b.logs.FilterMessage("event_refused").Len(); n != 1 {
			t.Errorf("logged %d times", n)
		}
	})
}

// As when one partition of a topic has no leader: its events are never answered, all others are.
func TestAPartOfAQueueThatIsAwayDoesNotHoldUpTheOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		stuck := b.outbox.Fill("A", 1000, 1)
		last := stuck[len(stuck)-1].ID
		b.queue.set(func(e events.Event) error {
			if e.Record <= last {
				return errAway
			}
			return nil
		})
		b.outbox.Fill("B", 1000, 1)
		b.relay.Wake()
		b.advance(5 * time.Minute)
		if b.outbox.Waiting() != len(stuck) {
			t.Errorf("%d wait, want %d", b.outbox.Waiting(), len(stuck))
		}
		b.queue.set(nil)
		b.advance(6 * time.Minute)
		if b.outbox.Waiting() != 0 {
			t.Errorf("%d wait", b.outbox.Waiting())
		}
		b.inOrder()
	})
}

func TestOfTwoRelaysOnOneStoreOneOnlyPublishesAndTheOtherTakesOver(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.delay = 100 * time.Millisecond
		synctest.Wait()
		first := *b
		b.start()
		records := b.outbox.Fill("A", 600, 2)
		b.advance(10 * time.Second)
		if sent, _ := b.queue.counts(); sent != len(records) || b.queue.most != 1 {
			t.Errorf("%d sent of %d, %d at one time", sent, len(records), b.queue.most)
		}
		first.stop()
		b.outbox.Fill("B", 10, 1)
		b.advance(10 * time.Second)
		if b.outbox.Waiting() != 0 {
			t.Errorf("%d wait although one of the two goes on", b.outbox.Waiting())
		}
	})
}

func TestAStoreThatIsAwayIsAskedAgainAndLoggedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.advance(time.Second)
		b.outbox.Fail(errors.New("disk full"))
		b.advance(time.Hour)
		if n := b.logs.Len(); n != 1 || b.logs.All()[0].Message != "outbox_lost" {
			t.Errorf("logged %v", b.logs.All())
		}
		b.outbox.Fail(nil)
		b.outbox.Fill("A", 10, 1)
		b.advance(15 * time.Second)
		if b.outbox.Waiting() != 0 || b.logs.FilterMessage("outbox_back").Len() != 1 {
			t.Errorf("%d wait; logged %v", b.outbox.Waiting(), b.logs.All())
		}
	})
}

// The mark is lost, not the event: it is sent again, and a consumer knows it by its ID.
func TestARepeatCarriesTheSameBytes(t *testing.T) {
	inBubble(t, func(b *bench) {
		synctest.Wait()
		b.outbox.Fill("A", 1, 1)
		b.queue.set(func(events.Event) error {
			b.outbox.Fail(errors.New("connection reset")) // between the acknowledgement and the mark
			return nil
		})
		b.relay.Wake()
		synctest.Wait()
		b.outbox.Fail(nil)
		b.queue.set(nil)
		b.advance(10 * time.Second)
		sent := b.queue.sent
		if len(sent) != 2 || sent[0].ID != sent[1].ID || !slices.Equal(sent[0].JSON, sent[1].JSON) || b.outbox.Waiting() != 0 {
			t.Errorf("sent %v, %d wait", sent, b.outbox.Waiting())
		}
	})
}

func TestAStopWaitsTwoSecondsForAcknowledgementsOnTheirWayAndMarksThem(t *testing.T) {
	for _, c := range []struct {
		delay, stopped time.Duration
		waiting        int
	}{
		{time.Second, time.Second, 200},     // the second page is not begun
		{time.Minute, 2 * time.Second, 456}, // nothing was acknowledged
	} {
		inBubble(t, func(b *bench) {
			b.queue.delay = c.delay
			b.advance(time.Second / 2)
			b.outbox.Fill("A", 456, 1)
			b.relay.Wake()
			synctest.Wait()
			began := time.Now()
			b.stop()
			if took := time.Since(began); took != c.stopped || b.outbox.Waiting() != c.waiting {
				t.Errorf("acknowledged in %v: stopped after %v, want %v; %d wait, want %d", c.delay, took, c.stopped, b.outbox.Waiting(), c.waiting)
			}
		})
	}
}

func TestTheBacklogIsToldWhetherOrNotAnythingIsPublished(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(events.Event) error { return errAway })
		b.outbox.Fill("A", 7, 1)
		b.advance(10 * time.Second)
		if b.seen.waiting != 7 || !b.seen.oldest.Equal(eventstest.Began) {
			t.Errorf("told %d since %v", b.seen.waiting, b.seen.oldest)
		}
		b.queue.set(nil)
		b.advance(time.Minute)
		if b.seen.waiting != 0 || !b.seen.oldest.IsZero() {
			t.Errorf("told %d since %v", b.seen.waiting, b.seen.oldest)
		}
	})
}
