package eventstest

import (
	"bytes"
	"context"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/events/queue"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Queue is a real queue under test.
type Queue interface {
	// Open makes a publisher to the place of this name in the queue: a stream, an exchange, a topic. It is closed with
	// the test.
	Open(t *testing.T, place string) events.Publisher
	// Received returns the events of a place in its order, each with its ID and its JSON.
	Received(t *testing.T, place string) []events.Event
	// Kill ends the queue as kill -9 does; Restart starts it again on the same data and address.
	Kill() error
	Restart(ctx context.Context) error
}

// Suite tests what every queue must keep, together with the relay.
func Suite(t *testing.T, q Queue) {
	for name, test := range map[string]func(*testing.T, Queue){
		"EveryEventArrivesUnchangedInTheOrderOfItsClaim": everyEventArrives,
		"AKilledQueueLosesNothing":                       killedInTheMiddle,
		"AQueueThatIsAbsentAtTheStartIsWaitedFor":        notThereAtTheStart,
	} {
		t.Run(name, func(t *testing.T) { test(t, q) })
	}
}

// Open opens the publisher that a URL names, as the worker does; it is closed with the test.
func Open(t *testing.T, url string) events.Publisher {
	t.Helper()
	p, err := queue.Open(url)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, p.Close()) })
	return p
}

// Relay runs a relay until the test ends or stop is called.
func Relay(t *testing.T, outbox audit.Outbox, publisher events.Publisher, o events.Options) (stop func()) {
	t.Helper()
	o.Logger = zap.NewNop()
	if o.Published == nil {
		o.Published = func(int, int) {}
	}
	relay := events.NewRelay(outbox, publisher, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); relay.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// Batch returns n events of different claims.
func Batch(t *testing.T, n int) []events.Event {
	t.Helper()
	return eventsOf(t, NewOutbox(t).Fill("A", n, 1))
}

func eventsOf(t *testing.T, records []audit.Record) []events.Event {
	t.Helper()
	all := make([]events.Event, len(records))
	for i := range records {
		var err error
		if all[i], err = events.FromRecord(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Complete fails the test unless each record's event was received as it is, at least once, and the first time in the
// order of its claim. It returns how many came more than once.
func Complete(t *testing.T, records []audit.Record, received []events.Event) (repeats int) {
	t.Helper()
	want := map[string]events.Event{}
	for _, e := range eventsOf(t, records) {
		want[e.ID] = e
	}
	seen, last := map[string]bool{}, map[string]int64{}
	for _, got := range received {
		e, known := want[got.ID]
		if !known || !bytes.Equal(e.JSON, got.JSON) {
			t.Fatalf("received an event %s that is not one of ours as it is: %s", got.ID, got.JSON)
		}
		if seen[e.ID] {
			repeats++
			continue
		}
		seen[e.ID] = true
		if e.Record < last[e.Key] {
			t.Errorf("claim %s: record %d came after %d", e.Key, e.Record, last[e.Key])
		}
		last[e.Key] = e.Record
	}
	if len(seen) != len(records) {
		t.Errorf("%d of %d events arrived", len(seen), len(records))
	}
	return repeats
}

func everyEventArrives(t *testing.T, q Queue) {
	outbox := NewOutbox(t)
	records := append(outbox.Fill("A", 300, 4), outbox.Add(Samples()...)...)
	Relay(t, outbox, q.Open(t, "all"), events.Options{})
	check.Await(t, "all are published", func() bool { return outbox.Waiting() == 0 })
	if repeats := Complete(t, records, q.Received(t, "all")); repeats > 0 {
		t.Errorf("%d came twice, although nothing failed", repeats)
	}
}

func killedInTheMiddle(t *testing.T, q Queue) {
	outbox, seen := NewOutbox(t), &Counts{}
	Relay(t, outbox, q.Open(t, "killed"), events.Options{Published: seen.Published})
	records := outbox.Fill("A", 1000, 3)
	check.Await(t, "the first are published", func() bool { published, _ := seen.Events(); return published > 0 })
	check.Must(t, q.Kill())
	if outbox.Waiting() == 0 {
		t.Fatal("all was published before the queue was killed: nothing is tried")
	}
	records = append(records, outbox.Fill("B", 10, 1)...)
	_, before := seen.Events()
	check.Await(t, "sending fails", func() bool { _, failed := seen.Events(); return failed > before })
	check.Must(t, q.Restart(t.Context()))
	check.Await(t, "all are published", func() bool { return outbox.Waiting() == 0 })
	repeats := Complete(t, records, q.Received(t, "killed"))
	_, failed := seen.Events()
	t.Logf("%d events, %d sent and not acknowledged, %d received twice", len(records), failed, repeats)
}

func notThereAtTheStart(t *testing.T, q Queue) {
	check.Must(t, q.Kill())
	outbox, seen := NewOutbox(t), &Counts{}
	records := outbox.Fill("A", 20, 2)
	Relay(t, outbox, q.Open(t, "late"), events.Options{Published: seen.Published})
	check.Await(t, "sending fails", func() bool { _, failed := seen.Events(); return failed > 0 })
	check.Must(t, q.Restart(t.Context()))
	check.Await(t, "all are published", func() bool { return outbox.Waiting() == 0 })
	Complete(t, records, q.Received(t, "late"))
}
