package eventstest

import (
	"testing"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/events/queue"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devqueue"
)

// RabbitMQ is a real server. With Open and Received it is a [Queue].
type RabbitMQ struct{ *devqueue.RabbitMQ }

// StartRabbitMQ starts a server that ends with the test.
func StartRabbitMQ(t *testing.T) RabbitMQ {
	t.Helper()
	s, err := devqueue.StartRabbitMQ(t.Context())
	check.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return RabbitMQ{s}
}

// With opens a publisher to the server; the query names the place in the queue, and its options.
func (s RabbitMQ) With(t *testing.T, query string) events.Publisher {
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
