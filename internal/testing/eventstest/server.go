package eventstest

import (
	"context"
	"testing"

	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/events/queue"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devqueue"
)

// Server is a real server of a queue. With Open, Received and TooLarge of its kind it is a [Queue].
type Server struct{ *devqueue.Server }

// Start starts a server that ends with the test.
func Start(t *testing.T, start func(context.Context) (*devqueue.Server, error)) Server {
	t.Helper()
	s, err := start(t.Context())
	check.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Server{s}
}

// With opens a publisher to the server; the query names the place in the queue, and its options.
func (s Server) With(t *testing.T, query string) events.Publisher {
	t.Helper()
	return Open(t, s.URL()+query)
}

// Open opens the publisher that a URL names, as the worker does; it is closed with the test.
func Open(t *testing.T, url string) events.Publisher {
	t.Helper()
	p, err := queue.Open(url)
	check.Must(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
