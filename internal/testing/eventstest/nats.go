package eventstest

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hospital.example/analyze-retry/internal/events"
)

// InStream returns what a JetStream stream holds whose subjects begin with its own name.
func InStream(t *testing.T, url, name string) (received []events.Event) {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(m.Subject, name+".retry.") || m.Header.Get("Content-Type") != events.ContentType {
			t.Errorf("message %d: subject %s, header %v", seq, m.Subject, m.Header)
		}
		received = append(received, events.Event{ID: m.Header.Get(nats.MsgIdHdr), JSON: m.Data})
	}
	return received
}
