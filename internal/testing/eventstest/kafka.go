package eventstest

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devqueue"
)

// Kafka is a [Queue] in the test process.
type Kafka struct{ *devqueue.Kafka }

var _ Queue = Kafka{}

// StartKafka starts a Kafka that ends with the test.
func StartKafka(t *testing.T, options ...kfake.Opt) Kafka {
	t.Helper()
	k, err := devqueue.StartKafka(options...)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, k.Close()) })
	return Kafka{k}
}

// Open implements [Queue].
func (k Kafka) Open(t *testing.T, place string) events.Publisher {
	t.Helper()
	return Open(t, k.URL()+"?topic="+place)
}

// Received implements [Queue].
func (k Kafka) Received(t *testing.T, place string) (received []events.Event) {
	t.Helper()
	records, err := k.Records(t.Context(), place)
	check.Must(t, err)
	for _, r := range records {
		id, _, _ := strings.Cut(strings.SplitN(string(r.Value), `"id":"`, 2)[1], `"`)
		if len(r.Headers) != 1 || string(r.Headers[0].Value) != events.ContentType {
			t.Errorf("headers %v", r.Headers)
		}
		if key := string(r.Key); !strings.Contains(string(r.Value), `"partitionkey":"`+key+`"`) {
			t.Errorf("key %s of %s", key, r.Value)
		}
		received = append(received, events.Event{ID: id, JSON: r.Value})
	}
	return received
}
