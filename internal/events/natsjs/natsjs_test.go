package natsjs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devqueue"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a real NATS server.
type server struct{ eventstest.Server }

func (s server) Open(t *testing.T, place string) events.Publisher {
	t.Helper()
	return s.With(t, "?stream="+place+"&subject="+place)
}

// stream is for looking at what the server holds.
func (s server) stream(t *testing.T) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(s.URL())
	check.Must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	check.Must(t, err)
	return js
}

func (s server) Received(t *testing.T, place string) []events.Event {
	t.Helper()
	return eventstest.InStream(t, s.URL(), place)
}

func (s server) TooLarge() int { return 1 << 20 }

func TestNATS(t *testing.T) {
	s, event := server{eventstest.Start(t, devqueue.StartNATS)}, eventstest.Batch(t, 1)
	t.Run("TheServerDropsARepeatByItsMessageID", func(t *testing.T) {
		p := s.Open(t, "repeat")
		for range 3 {
			check.Await(t, "it is acknowledged", func() bool { return p.Publish(t.Context(), event)[0] == nil })
		}
		check.Same(t, 1, len(s.Received(t, "repeat")), "events in the stream")
	})
	t.Run("AStreamThatIsTakenOtherwiseIsNamed", func(t *testing.T) {
		_, err := s.stream(t).CreateStream(t.Context(), jetstream.StreamConfig{Name: "other", Subjects: []string{"taken.>"}})
		check.Must(t, err)
		p := s.With(t, "?stream=mine&subject=taken")
		check.Await(t, "the error names stream and way out", func() bool {
			err := p.Publish(t.Context(), event)[0]
			return err != nil && strings.Contains(err.Error(), "mine") && strings.Contains(err.Error(), "create=false")
		})
	})
	t.Run("AStreamOfOthersIsUsedAndNeverMade", func(t *testing.T) {
		p := s.With(t, "?subject=foreign&create=false")
		check.Await(t, "no stream takes it", func() bool {
			err := p.Publish(t.Context(), event)[0]
			return err != nil && strings.Contains(err.Error(), "no stream takes the subject foreign.retry.scheduled.v3") && !errors.Is(err, events.ErrRefused)
		})
		_, err := s.stream(t).CreateStream(t.Context(), jetstream.StreamConfig{Name: "theirs", Subjects: []string{"foreign.>"}})
		check.Must(t, err)
		check.Await(t, "it is acknowledged", func() bool { return p.Publish(t.Context(), event)[0] == nil })
	})
	t.Run("AWrongPasswordIsToldAndShowsNoPassword", func(t *testing.T) {
		p := eventstest.Open(t, "nats://test:not-the-password@"+s.Address())
		check.Await(t, "the server's refusal", func() bool {
			err := p.Publish(t.Context(), event)[0]
			if err == nil || strings.Contains(err.Error(), "not-the-password") {
				t.Fatalf("error %v", err)
			}
			return strings.Contains(strings.ToLower(err.Error()), "authorization")
		})
	})
	eventstest.Suite(t, s)
}
