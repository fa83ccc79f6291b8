//go:build servers

package queue_test

import (
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// server is a real RabbitMQ.
type server struct{ *eventstest.RabbitMQ }

func (s server) Open(t *testing.T, place string) events.Publisher {
	t.Helper()
	return eventstest.Open(t, s.URL+"?exchange="+place+"&queue="+place)
}

// channel is for looking at what the server holds.
func (s server) channel(t *testing.T) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(s.URL)
	check.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	channel, err := conn.Channel()
	check.Must(t, err)
	return channel
}

// Received empties the queue.
func (s server) Received(t *testing.T, place string) (received []events.Event) {
	t.Helper()
	channel := s.channel(t)
	for {
		m, some, err := channel.Get(place, true)
		check.Must(t, err)
		if !some {
			return received
		}
		if m.ContentType != events.ContentType || m.DeliveryMode != amqp.Persistent || m.RoutingKey != m.Type {
			t.Errorf("message with %s, mode %d, type %s, routing key %s", m.ContentType, m.DeliveryMode, m.Type, m.RoutingKey)
		}
		received = append(received, events.Event{ID: m.MessageId, JSON: m.Body})
	}
}

func TestRabbitMQ(t *testing.T) {
	s, batch := server{eventstest.StartRabbitMQ(t)}, eventstest.Batch(t, 3)
	t.Run("AnEventThatNoQueueIsBoundForIsRefused", func(t *testing.T) {
		channel := s.channel(t)
		check.Must(t, channel.ExchangeDeclare("theirs", amqp.ExchangeTopic, true, false, false, false, nil))
		p := eventstest.Open(t, s.URL+"?exchange=theirs&create=false")
		for _, err := range p.Publish(t.Context(), batch) {
			if err == nil || !strings.Contains(err.Error(), "no queue of theirs is bound for retry.scheduled.v4") {
				t.Errorf("error %v", err)
			}
		}
		if _, err := channel.QueueDeclare("late", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		check.Must(t, channel.QueueBind("late", "retry.#", "theirs", false, nil))
		for _, err := range p.Publish(t.Context(), batch) {
			if err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("AnEventThatAFullQueueRejectsIsRefused", func(t *testing.T) {
		channel := s.channel(t)
		limits := amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"}
		check.Must(t, channel.ExchangeDeclare("full", amqp.ExchangeTopic, true, false, false, false, nil))
		if _, err := channel.QueueDeclare("full", true, false, false, false, limits); err != nil {
			t.Fatal(err)
		}
		check.Must(t, channel.QueueBind("full", "#", "full", false, nil))
		p := eventstest.Open(t, s.URL+"?exchange=full&create=false")
		check.Await(t, "one is refused", func() bool {
			refused := 0
			for _, err := range p.Publish(t.Context(), batch) {
				if err != nil && !strings.Contains(err.Error(), "is one full?") {
					t.Fatal(err)
				}
				if err != nil {
					refused++
				}
			}
			return refused > 0
		})
		if n := len(s.Received(t, "full")); n == 0 {
			t.Error("the queue is empty: it was not because it was full")
		}
	})
	t.Run("WhatIsThereOtherwiseIsNamed", func(t *testing.T) {
		check.Must(t, s.channel(t).ExchangeDeclare("direct", amqp.ExchangeDirect, true, false, false, false, nil))
		p := eventstest.Open(t, s.URL+"?exchange=direct&queue=mine")
		if err := p.Publish(t.Context(), batch)[0]; err == nil || !strings.Contains(err.Error(), "create=false") {
			t.Errorf("error %v, want one that says what to do", err)
		}
	})
	t.Run("AWrongPasswordIsToldAndShowsNoPassword", func(t *testing.T) {
		p := eventstest.Open(t, "amqp://test:not-the-password@"+s.Address)
		err := p.Publish(t.Context(), batch)[0]
		if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "not-the-password") {
			t.Errorf("error %v", err)
		}
	})
	eventstest.Suite(t, s)
}
