package chaos

import (
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// queue is a Kafka in this process that the workers reach by a proxy. They make its topic.
type queue struct {
	*eventstest.Kafka
	way     *proxy.Proxy
	setting string // for the workers
}

func (r *rig) startsQueue() *queue {
	r.Helper()
	address, err := process.FreeAddress()
	check.Must(r, err)
	way := r.before(address)
	kafka := eventstest.StartKafkaBehind(r.T, address, way.Address())
	r.queue = &queue{kafka, way, "RETRY_EVENTS_URL=kafka://" + kafka.Address() + "?topic=chaos"}
	return r.queue
}
