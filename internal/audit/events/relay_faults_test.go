package events_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestLongOutageOfTheQueueIsLoggedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(events.Event) error { return errAway })
		records := b.outbox.Fill("A", 150, 2)
		b.advance(5 * time.Minute)
		later := b.outbox.Fill("B", 10, 1)
		_, before := b.seen.Events()
		b.advance(2 * time.Minute)
		if _, tries := b.seen.Events(); tries-before > 256*30 {
			t.Errorf("%d events are sent in two minutes to a queue that is away", tries-before)
		}
		if n := b.logs.Len(); n != 1 || b.logs.All()[0].Message != "events_wait" {
			t.Errorf("logged %v", b.logs.All())
		}
		b.queue.set(nil)
		b.advance(30 * time.Second)
		if _, acked := b.queue.counts(); b.outbox.Waiting() != 0 || acked != len(records)+len(later) {
			t.Errorf("%d wait, %d acknowledged of %d", b.outbox.Waiting(), acked, len(records)+len(later))
		}
		check.Same(t, 1, b.logs.FilterMessage("events_flow").Len(), "events_flow logged")
		b.inOrder()
	})
}

func TestAnEventThatIsNeverTakenHoldsLaterOnesOfItsClaim(t *testing.T) {
	inBubble(t, func(b *bench) {
		const poison = 3 // the first event of the third claim
		b.queue.set(func(e events.Event) error {
			if e.Record == poison {
				return errors.New("no queue is bound")
			}
			return nil
		})
		records := b.outbox.Fill("A", 10, 3)
		b.advance(10 * time.Minute)
		b.outbox.Fill("B", 500, 1)
		b.advance(10 * time.Minute)
		check.Same(t, 530-2, b.outbox.Waiting(), "records that wait")
		if tries := b.queue.sentOf(poison); tries < 100 || tries > 300 { // every five to ten seconds
			t.Errorf("sent %d times in 20 minutes", tries)
		}
		if logged := b.logs.All(); len(logged) != 1 || logged[0].Message != "events_wait" || logged[0].ContextMap()["error"] != "no queue is bound" {
			t.Errorf("logged %v, want one line that says why", logged)
		}
		b.queue.set(nil) // somebody bound a queue
		b.advance(2 * time.Minute)
		check.Same(t, 0, b.outbox.Waiting(), "records that wait")
		b.inOrder()
		for _, r := range records {
			if n := b.queue.sentOf(r.ID); n != 1 && r.ID != poison {
				t.Errorf("record %d was sent %d times", r.ID, n)
			}
		}
	})
}

func TestARecordWithoutAnEventWaitsAndIsNamed(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.outbox.Fill("A", 2, 1)
		b.outbox.Add(audit.Record{Kind: 99, At: eventstest.Began})
		b.outbox.Fill("B", 2, 1)
		b.advance(time.Hour)
		logged := b.logs.All()
		if len(logged) != 1 || !strings.Contains(logged[0].ContextMap()["error"].(string), "audit record 3") || b.outbox.Waiting() != 3 {
			t.Errorf("%d wait, logged %v", b.outbox.Waiting(), logged)
		}
	})
}

func TestOutageOfTheStoreIsLoggedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.advance(time.Second / 2)
		b.outbox.Fill("A", 10, 1)
		b.outbox.Lose()
		b.advance(time.Hour)
		if n := b.logs.Len(); n != 1 || b.logs.All()[0].Message != "events_wait" {
			t.Errorf("logged %v", b.logs.All())
		}
		b.outbox.Find()
		b.outbox.Fill("B", 10, 1)
		b.advance(15 * time.Second)
		if b.outbox.Waiting() != 0 || b.logs.FilterMessage("events_flow").Len() != 1 {
			t.Errorf("%d wait; logged %v", b.outbox.Waiting(), b.logs.All())
		}
	})
}

func TestALostMarkIsMadeUpForWithoutSendingAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		synctest.Wait()
		b.outbox.Fill("A", 1, 1)
		b.queue.set(func(events.Event) error {
			b.outbox.Lose() // between the acknowledgement and the mark
			return nil
		})
		b.advance(time.Second)
		b.queue.set(nil)
		b.outbox.Find()
		b.advance(10 * time.Second)
		if sent, _ := b.queue.counts(); sent != 1 || b.outbox.Waiting() != 0 {
			t.Errorf("sent %d times, %d wait", sent, b.outbox.Waiting())
		}
	})
}

func TestAStopMarksWhatIsAcknowledgedAndWaitsForNothingElse(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.delay = time.Second
		b.advance(time.Second / 2)
		b.outbox.Fill("A", 100, 2) // the second wave is sent when the first is acknowledged
		b.advance(2 * time.Second)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took != 0 || b.outbox.Waiting() != 100 {
			t.Errorf("stopped after %v; %d wait, want those that were on their way", took, b.outbox.Waiting())
		}
	})
}
