package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/eventstest"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// queue is a Kafka in this process that the workers reach by a proxy. They make its topic.
type queue struct {
	*eventstest.Kafka
	rig     *rig
	way     *proxy.Proxy
	setting string // for the workers
}

func (r *rig) startsQueue() *queue {
	r.Helper()
	address, err := process.FreeAddress()
	r.must(err)
	way := r.before(address)
	kafka := eventstest.StartKafkaBehind(r.T, address, way.Address())
	r.queue = &queue{kafka, r, way, "RETRY_EVENTS_URL=kafka://" + kafka.Address() + "?topic=chaos"}
	return r.queue
}

// hasAll holds I4: the events in the queue are those of the records, each at least once, and for each claim in the order of
// its records, which is given by event.
func (q *queue) hasAll(order map[string]int64) {
	r := q.rig
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	messages, err := q.Records(ctx, "chaos")
	r.must(err)
	got, latest := map[string]bool{}, map[string]int64{}
	for _, message := range messages {
		var e struct{ ID, Type, Subject string }
		r.must(json.Unmarshal(message.Value, &e))
		id, known := order[e.ID]
		switch {
		case e.Type == events.TypeAuditHead: // it is of no record
		case !known:
			r.Errorf("I4: event %s of %s belongs to no record", e.ID, e.Subject)
		case !got[e.ID] && id < latest[e.Subject]:
			r.Errorf("I4: events of %s came in the wrong order", e.Subject)
		default:
			got[e.ID], latest[e.Subject] = true, max(id, latest[e.Subject])
		}
	}
	if len(got) != len(order) {
		r.Errorf("I4: %d of %d events were published", len(got), len(order))
	}
}

// The guards: an event leaves the outbox only when the queue has acknowledged it, and nothing that decides waits for the
// queue. Seen to fail without: where events leave the outbox before they are sent, some never come; where handing the relay a
// record waits for a queue that is lost, the first jobs that come while it is away are not answered.
func TestEventsWaitForTheirQueueAndDecisionsDoNot(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	q := r.startsQueue()
	w := r.warm(q.setting)
	r.until("the queue has all events", func() bool { return r.backlog() == 0 })

	r.must(q.Kill())
	r.submit(chunk)
	r.untilDone()
	w.answersStatus("/readyz", http.StatusOK) // the worker can do all that its jobs need
	r.happened(r.backlog(), "events waited")
	w.kills()
	r.must(q.Restart(t.Context()))

	r.start(q.setting)
	r.until("the queue has all events", func() bool { return r.backlog() == 0 })
	r.submit(chunk)
	r.losesReplies(q.way) // it takes what is sent, and its acknowledgements are lost
	invariants(r)
}
