package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// headsEvent is the event of an end of chain 1 with so many records.
func headsEvent(t *testing.T, secret *audit.Secret, seq int64) events.Event {
	t.Helper()
	head := secret.Head(audit.Head{Chain: 1, Seq: seq, Hash: audit.Hash{1}}, eventstest.Began)
	unsigned := audit.Head{Chain: 2, Seq: 7}
	event, err := events.FromHeads("production", secret.Public(), []audit.Head{head, unsigned})
	check.Must(t, err)
	return event
}

func TestEventOfTheHeadsFitsItsSchema(t *testing.T) {
	secret := audittest.Secret(t)
	event := headsEvent(t, secret, 5)
	fits(t, event)
	schema, example := schema(t, events.TypeAuditHead)
	shown, err := json.Marshal(example)
	check.Must(t, err)
	public, err := audit.LoadPublic("testdata/audit.pub") // nobody has the private half any more
	check.Must(t, err)
	heads, err := events.Heads(shown, public.ID())
	check.Must(t, err)
	sent, err := events.FromHeads("production", public, heads)
	check.Must(t, err)
	check.Must(t, schema.Validate(example))
	check.Same(t, example, parse(t, sent.JSON), "the example and what is sent")
	heads, err = events.Heads(event.JSON, secret.Public().ID())
	if err != nil || len(heads) != 1 || !secret.Public().CheckHead(heads[0]) {
		t.Errorf("read back %+v, %v; want the one that is signed", heads, err)
	}
	if heads, err := events.Heads(event.JSON, audittest.Secret(t).Public().ID()); heads != nil || err != nil {
		t.Errorf("for another key: %+v, %v", heads, err)
	}
}

func TestTheSameHeadsMakeTheSameEvent(t *testing.T) {
	secret := audittest.Secret(t)
	first := headsEvent(t, secret, 5)
	if again := headsEvent(t, secret, 5); again.ID != first.ID || !bytes.Equal(again.JSON, first.JSON) {
		t.Error("the same heads made another event")
	}
	if other := headsEvent(t, secret, 6); other.ID == first.ID {
		t.Error("other heads made an event with the same ID")
	}
	if other := headsEvent(t, audittest.Secret(t), 5); other.ID == first.ID {
		t.Error("the heads of another key made an event with the same ID")
	}
}

// telling makes the bench's relay publish heads.
func (b *bench) telling(secret *audit.Secret) {
	b.stop()
	n := int64(0)
	b.heads = func(context.Context) (events.Event, error) {
		n++
		return headsEvent(b.T, secret, n), nil
	}
	b.start()
}

func TestHeadsArePublishedEveryHourAndByEachProcess(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.telling(audittest.Secret(t))
		synctest.Wait()
		check.Same(t, 1, b.queue.sentOf(0), "publications of the heads at first")
		b.advance(time.Hour + time.Second)
		check.Same(t, 2, b.queue.sentOf(0), "publications of the heads after an hour")
		b.stop()
		before := b.queue.sentOf(0)
		b.start()
		synctest.Wait()
		check.Same(t, before+1, b.queue.sentOf(0), "publications of the heads by a new process")
	})
}

func TestHeadsThatAreNotTakenHoldUpNoEvent(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue.set(func(e events.Event) error {
			if e.Type == events.TypeAuditHead {
				return errAway
			}
			return nil
		})
		b.telling(audittest.Secret(t))
		for range 100 {
			b.outbox.Fill("A", 3, 1)
			b.advance(time.Minute)
			if b.outbox.Waiting() != 0 {
				t.Fatalf("%d events wait", b.outbox.Waiting())
			}
		}
		tries := b.queue.sentOf(0)
		check.Same(t, 1, b.logs.FilterMessage("events_wait").Len(), "lines logged")
		b.queue.set(nil)
		b.advance(10 * time.Minute)
		if n := b.queue.sentOf(0); n != tries+1 || b.logs.FilterMessage("events_flow").Len() != 1 {
			t.Errorf("the queue takes them again, but they were sent %d times", n-tries)
		}
		if published, failed := b.seen.Events(); published != 300 || failed != 0 {
			t.Errorf("counted %d published and %d failed, want the events of records only", published, failed)
		}
	})
}
