package e2e

import (
	"net"
	"net/http"
	"strconv"
	"testing"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func TestWorkerWaitsForAnAbsentBroker(t *testing.T) {
	lanes.Take(t, true)
	address := freeAddress(t)
	gateway := address
	if overREST() {
		gateway = "http://" + address
	}
	s := &scene{T: t}
	w := s.startWorkerAt(gateway)
	w.answers("/healthz", http.StatusOK)
	w.answers("/readyz", http.StatusServiceUnavailable)

	_, port, err := net.SplitHostPort(address)
	s.must(err)
	number, err := strconv.Atoi(port)
	s.must(err)
	// On the Java that is fetched where none is installed, so that the suite has a real broker run on that as well.
	o := devbroker.Options{Records: true, IgnoreInstalledJava: true}
	if overREST() {
		o.RESTPort = number
	} else {
		o.GatewayPort = number
	}
	s.broker = onOwnBroker(t, o).broker
	w.answers("/readyz", http.StatusOK)
	s.start("OneTask", sound).endsAt("EndEvent_Retry")
}
