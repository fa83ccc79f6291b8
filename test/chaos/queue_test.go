package chaos

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
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
	check.Must(r, err)
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
	messages, err := q.Records(r.Context(), "chaos")
	check.Must(r, err)
	got, latest := map[string]bool{}, map[string]int64{}
	for _, message := range messages {
		var e struct{ ID, Type, Subject string }
		check.Must(r, json.Unmarshal(message.Value, &e))
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
