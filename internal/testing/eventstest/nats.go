package eventstest

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
)

// InStream returns what a JetStream stream holds whose subjects begin with its own name.
func InStream(t *testing.T, url, name string) (received []events.Event) {
	t.Helper()
	conn, err := nats.Connect(url)
	check.Must(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	check.Must(t, err)
	stream, err := js.Stream(t.Context(), name)
	check.Must(t, err)
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		check.Must(t, err)
		if !strings.HasPrefix(m.Subject, name+".retry.") || m.Header.Get("Content-Type") != events.ContentType {
			t.Errorf("message %d: subject %s, header %v", seq, m.Subject, m.Header)
		}
		received = append(received, events.Event{ID: m.Header.Get(nats.MsgIdHdr), JSON: m.Data})
	}
	return received
}
