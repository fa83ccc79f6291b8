package e2e

import (
	"net/http"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// The worker's way to the broker is there before the broker, so that no other server can take its address meanwhile.
func TestWorkerWaitsForAnAbsentBroker(t *testing.T) {
	lanes.Take(t, false)
	way, err := proxy.Start(freeAddress(t))
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, way.Close()) })
	address := way.Address()
	if overREST(t) {
		address = "http://" + address
	}
	s := &scene{T: t}
	w := s.startWorkerAt(address)
	w.answers("/healthz", http.StatusOK)
	w.answers("/readyz", http.StatusServiceUnavailable)

	s.broker = onOwnBroker(t, cluster.Options{}).broker
	if overREST(t) {
		way.Retarget(strings.TrimPrefix(s.broker.RESTURL(), "http://"))
	} else {
		way.Retarget(s.broker.Address())
	}
	w.answers("/readyz", http.StatusOK)
	s.start("OneTask", sound).endsAt("EndEvent_Retry")
}
