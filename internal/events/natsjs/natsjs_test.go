package natsjs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/devqueue"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/eventstest"
	"hospital.example/analyze-retry/internal/events/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a real NATS server.
type server struct{ *devqueue.Server }

func start(t *testing.T) server {
	t.Helper()
	s, err := devqueue.StartNATS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return server{s}
}

func (s server) Open(t *testing.T, place string) events.Publisher {
	t.Helper()
	p, err := queue.Open(s.URL() + "?stream=" + place + "&subject=" + place)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stream is for looking at what the server holds.
func (s server) stream(t *testing.T) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func (s server) Received(t *testing.T, place string) []events.Event {
	t.Helper()
	return eventstest.InStream(t, s.URL(), place)
}

func (s server) Kill(t *testing.T) {
	t.Helper()
	if err := s.Server.Kill(); err != nil {
		t.Fatal(err)
	}
}

func (s server) Restart(t *testing.T) {
	t.Helper()
	if err := s.Server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s server) TooLarge() int { return 1 << 20 }

func event(t *testing.T) []events.Event {
	t.Helper()
	e, err := events.FromRecord(&eventstest.Samples()[0])
	if err != nil {
		t.Fatal(err)
	}
	return []events.Event{e}
}

func TestNATS(t *testing.T) {
	s := start(t)
	t.Run("TheServerDropsARepeatByItsMessageID", func(t *testing.T) {
		p := s.Open(t, "repeat")
		defer p.Close()
		for range 3 {
			eventstest.Await(t, "it is acknowledged", func() bool { return p.Publish(t.Context(), event(t))[0] == nil })
		}
		if n := len(s.Received(t, "repeat")); n != 1 {
			t.Errorf("the stream holds it %d times", n)
		}
	})
	t.Run("AStreamThatIsTakenOtherwiseIsNamed", func(t *testing.T) {
		_, err := s.stream(t).CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"taken.>"}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := queue.Open(s.URL() + "?stream=mine&subject=taken")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		eventstest.Await(t, "the error names stream and way out", func() bool {
			err := p.Publish(t.Context(), event(t))[0]
			return err != nil && strings.Contains(err.Error(), "mine") && strings.Contains(err.Error(), "create=false")
		})
	})
	t.Run("AStreamOfOthersIsUsedAndNeverMade", func(t *testing.T) {
		p, err := queue.Open(s.URL() + "?subject=foreign&create=false")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		eventstest.Await(t, "no stream takes it", func() bool {
			err := p.Publish(t.Context(), event(t))[0]
			return err != nil && strings.Contains(err.Error(), "no stream takes the subject foreign.retry.scheduled.v1") && !errors.Is(err, events.ErrRefused)
		})
		_, err = s.stream(t).CreateStream(t.Context(), jetstream.StreamConfig{Name: "theirs", Subjects: []string{"foreign.>"}})
		if err != nil {
			t.Fatal(err)
		}
		eventstest.Await(t, "it is acknowledged", func() bool { return p.Publish(t.Context(), event(t))[0] == nil })
	})
	t.Run("AWrongPasswordIsToldAndShowsNoPassword", func(t *testing.T) {
		p, err := queue.Open("nats://test:not-the-password@" + s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		eventstest.Await(t, "the server's refusal", func() bool {
			err := p.Publish(t.Context(), event(t))[0]
			if err == nil || strings.Contains(err.Error(), "not-the-password") {
				t.Fatalf("error %v", err)
			}
			return strings.Contains(strings.ToLower(err.Error()), "authorization")
		})
	})
	eventstest.Suite(t, s)
}
