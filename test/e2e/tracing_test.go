package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/collectortest"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// Zeebe knows nothing of traces: it is a process variable that takes this one through the call activity, to both jobs.
func TestTraceOfTheModelGoesOnInSpansAndEvents(t *testing.T) {
	const traceID, spanID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	s := atSharedBroker(t)
	queue := eventstest.StartKafka(t)
	collector := collectortest.StartGRPC(t)
	worker := s.startWorker(
		"RETRY_EVENTS_URL="+queue.URL()+"?topic=traced",
		"RETRY_DATABASE_URL=sqlite://"+filepath.Join(t.TempDir(), "traced.db"), // events of its own
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_SERVICE_NAME=retries",
	)
	claim := s.start("SUB_06", vars{"claimId": "CLM-E2E-77-1", "traceparent": "00-" + traceID + "-" + spanID + "-01"})
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	check.Await(t, "two events in the queue", func() bool {
		_, text := worker.get(t.Context(), "/metrics")
		return strings.Contains(text, "\nretry_events_published_total 2\n")
	})
	worker.stops()

	var traced []string
	for _, span := range collector.Await(t, 2) {
		if !slices.Equal(span.Links, []string{traceID + "-" + spanID}) || span.Resource["service.name"] != "retries" {
			t.Errorf("a span of %v is linked to %v", span.Resource, span.Links)
		}
		traced = append(traced, span.Attributes["retry.decision"]+" "+span.Traceparent())
	}
	var sent []string
	for _, event := range queue.Received(t, "traced") {
		var e struct {
			Type, Traceparent string
		}
		s.must(json.Unmarshal(event.JSON, &e))
		if e.Type == events.TypeAuditHead {
			continue // it is of no decision
		}
		decision := map[string]string{"retry.scheduled.v3": "RETRY", "retry.outcome_recorded.v2": "SUBMITTED"}[e.Type]
		sent = append(sent, decision+" "+e.Traceparent)
	}
	slices.Sort(traced)
	slices.Sort(sent)
	if len(traced) != 2 || !slices.Equal(traced, sent) {
		t.Errorf("the spans are %q, the events %q; want two that are the same", traced, sent)
	}
}
