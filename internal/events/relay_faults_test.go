package events_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestLongOutageOfTheQueueIsLoggedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(events.Event) error { return errAway })
		records := b.outbox.Fill("A", 150, 2)
		b.relay.Wake()
		b.advance(5 * time.Minute)
		later := b.outbox.Fill("B", 10, 1)
		_, before := b.seen.Events()
		b.advance(2 * time.Minute)
		if _, tries := b.seen.Events(); tries-before > 256*60 {
			t.Errorf("%d events are sent in two minutes to a queue that is away", tries-before)
		}
		if n := b.logs.Len(); n != 1 || b.logs.All()[0].Message != "queue_lost" {
			t.Errorf("logged %v", b.logs.All())
		}
		b.queue.set(nil)
		b.advance(30 * time.Second)
		if _, acked := b.queue.counts(); b.outbox.Waiting() != 0 || acked != len(records)+len(later) {
			t.Errorf("%d wait, %d acknowledged of %d", b.outbox.Waiting(), acked, len(records)+len(later))
		}
		check.Same(t, 1, b.logs.FilterMessage("queue_back").Len(), "queue_back logged")
		b.inOrder()
	})
}

func TestRefusedEventHoldsUpOnlyItsClaim(t *testing.T) {
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
		b.advance(2 * time.Hour)
		b.outbox.Fill("B", 500, 1)
		b.relay.Wake()
		synctest.Wait()
		check.Same(t, 3, b.outbox.Waiting(), "records that wait")
		if tries := b.queue.sentOf(poison); tries < 40 || tries > 140 { // every one to three minutes
			t.Errorf("sent %d times in two hours", tries)
		}
		if n := b.logs.FilterMessage("event_refused").Len(); n != 1 || b.logs.Len() != 1 {
			t.Errorf("logged %v, want one line", b.logs.All())
		}
		b.queue.set(nil) // somebody raised the limit
		b.advance(10 * time.Minute)
		check.Same(t, 0, b.outbox.Waiting(), "records that wait")
		b.inOrder()
	})
}

// As when one partition of a topic has no leader: its events are never answered, all others are.
func TestUnavailablePartitionHoldsUpNoOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		const last = 300 // the relay may run as soon as there are records
		b.queue.set(func(e events.Event) error {
			if e.Record <= last {
				return errAway
			}
			return nil
		})
		stuck := b.outbox.Fill("A", last, 1)
		b.outbox.Fill("B", 300, 1)
		b.relay.Wake()
		b.advance(5 * time.Minute)
		check.Same(t, len(stuck), b.outbox.Waiting(), "records that wait")
		b.queue.set(nil)
		b.advance(6 * time.Minute)
		check.Same(t, 0, b.outbox.Waiting(), "records that wait")
		b.inOrder()
	})
}

func TestOutageOfTheStoreIsLoggedOnce(t *testing.T) {
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
func TestRepeatedEventHasTheSameBytes(t *testing.T) {
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

func TestStopWaitsTwoSecondsForAcknowledgements(t *testing.T) {
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

func TestStopWaitsTwoSecondsForAHungStore(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.outbox.Hang()
		b.outbox.Fill("A", 3, 1)
		b.relay.Wake()
		synctest.Wait()
		began := time.Now()
		b.stop()
		if took := time.Since(began); took != 2*time.Second || b.outbox.Waiting() != 3 {
			t.Errorf("stopped after %v; %d wait", took, b.outbox.Waiting())
		}
	})
}

func TestBacklogIsReportedWhetherOrNotEventsArePublished(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(events.Event) error { return errAway })
		b.outbox.Fill("A", 7, 1)
		b.advance(10 * time.Second)
		if n, oldest := b.seen.Waiting(); n != 7 || !oldest.Equal(eventstest.Began) {
			t.Errorf("observed %d since %v", n, oldest)
		}
		b.queue.set(nil)
		b.advance(time.Minute)
		if n, oldest := b.seen.Waiting(); n != 0 || !oldest.IsZero() {
			t.Errorf("observed %d since %v", n, oldest)
		}
	})
}
