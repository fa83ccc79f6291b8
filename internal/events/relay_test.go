package events_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
)

var errAway = errors.New("no route to the queue")

func TestWakePublishesAtOnce(t *testing.T) {
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

func TestRecordsWithoutAWakeArePublishedWithinASecond(t *testing.T) {
	inBubble(t, func(b *bench) {
		synctest.Wait()
		b.outbox.Fill("A", 3, 1)
		b.advance(time.Second)
		check.Same(t, 0, b.outbox.Waiting(), "records that wait")
	})
}

func TestNothingIsMarkedThatIsNotAcknowledged(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.delay = 3 * time.Second
		records := b.outbox.Fill("A", 10, 1)
		b.relay.Wake()
		b.advance(2 * time.Second)
		check.Same(t, len(records), b.outbox.Waiting(), "records that wait while nothing is acknowledged")
		b.advance(2 * time.Second)
		check.Same(t, 0, b.outbox.Waiting(), "records that wait after the slow acknowledgement")
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
		if published, failed := b.seen.Events(); published != acked || failed != sent-acked {
			t.Errorf("counted %d published and %d failed, want %d and %d", published, failed, acked, sent-acked)
		}
	})
}
