package e2e

import (
	"net/http"
	"testing"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/engine/gateway"
)

func TestWorkerWaitsForAnAbsentBroker(t *testing.T) {
	lanes.Take(t, false)
	address := freeAddress(t)
	at, url := gateway.Addresses{GRPC: address}, address
	if overREST(t) {
		at, url = gateway.Addresses{REST: address}, "http://"+address
	}
	s := &scene{T: t}
	w := s.startWorkerAt(url)
	w.answers("/healthz", http.StatusOK)
	w.answers("/readyz", http.StatusServiceUnavailable)

	s.broker = onOwnBroker(t, cluster.Options{At: at}).broker
	w.answers("/readyz", http.StatusOK)
	s.start("OneTask", sound).endsAt("EndEvent_Retry")
}
