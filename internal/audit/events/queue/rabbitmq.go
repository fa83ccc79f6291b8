package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/audit/events"
)

// rabbitMQ connects when it is first used and again after every fault, and is for one goroutine at a time.
type rabbitMQ struct {
	*place

	conn    *amqp.Connection
	channel *amqp.Channel // nil while there is no connection
	closed  chan *amqp.Error
	// returned receives the messages that no queue is bound for. The broker sends each before its
	// confirmation.
	returned chan amqp.Return
}

func (q *rabbitMQ) Publish(ctx context.Context, batch []events.Event) []error {
	if q.channel == nil || q.channel.IsClosed() {
		if err := q.connect(ctx); err != nil {
			_ = q.Close()
			return slices.Repeat([]error{err}, len(batch))
		}
	}
	errs := q.send(ctx, batch)
	q.collectReturned(batch, errs)
	if ctx.Err() != nil || q.channel.IsClosed() {
		_ = q.Close()
	}
	return errs
}

// send sends the batch and awaits its confirmations.
func (q *rabbitMQ) send(ctx context.Context, batch []events.Event) []error {
	defer q.bounded(ctx)()
	errs, publish := make([]error, len(batch)), q.channel.PublishWithDeferredConfirm
	confirmations := make([]*amqp.DeferredConfirmation, len(batch))
	for i, e := range batch {
		message := amqp.Publishing{
			ContentType: events.ContentType, DeliveryMode: amqp.Persistent, AppId: "analyze-retry",
			MessageId: e.ID, Type: e.Type, Body: e.JSON,
		}
		const mandatory, immediate = true, false
		confirmations[i], errs[i] = publish(q.query["exchange"], e.Type, mandatory, immediate, message)
	}
	lost := sync.OnceValue(func() error { return cmp.Or(<-q.closed, amqp.ErrClosed) })
	for i, confirmation := range confirmations {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("RabbitMQ: %w", errs[i])
			continue
		}
		acked, err := confirmation.WaitContext(ctx)
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("RabbitMQ did not confirm in time: %w", err)
		case !acked && q.channel.IsClosed():
			errs[i] = fmt.Errorf("RabbitMQ: %w", lost())
		case !acked:
			errs[i] = errors.New("RabbitMQ did not take it into a queue: is one full?")
		}
	}
	return errs
}

// bounded has the connection closed when ctx ends: no call has a deadline, and a broker that is short of
// memory or disk stops reading.
func (q *rabbitMQ) bounded(ctx context.Context) (stop func() bool) {
	conn := q.conn
	return context.AfterFunc(ctx, func() { _ = conn.CloseDeadline(time.Now()) })
}

// collectReturned finds the events that were returned: confirmed, but in no queue.
func (q *rabbitMQ) collectReturned(batch []events.Event, errs []error) {
	for len(q.returned) > 0 {
		r := <-q.returned
		if i := slices.IndexFunc(batch, func(e events.Event) bool { return e.ID == r.MessageId }); i >= 0 {
			errs[i] = fmt.Errorf("RabbitMQ: no queue of %s is bound for %s", r.Exchange, r.RoutingKey)
		}
	}
}

// connect opens a connection and a channel, and makes exchange and queue.
func (q *rabbitMQ) connect(ctx context.Context) error {
	_ = q.Close() // what is left of the one before
	config := amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: q.user, Password: q.password}},
		Vhost: cmp.Or(q.path, "/"), TLSClientConfig: q.tls.Clone(),
		Heartbeat:  10 * time.Second,                  // a dead connection is found within twice that
		Dial:       amqp.DefaultDial(3 * time.Second), // less than a Publish has, so that its error says why
		Properties: amqp.NewConnectionProperties(),
	}
	config.Properties.SetClientConnectionName("analyze-retry")
	var channel *amqp.Channel
	var err error
	if q.conn, err = amqp.DialConfig(q.scheme+"://"+q.hosts[0], config); err == nil {
		defer q.bounded(ctx)()
		channel, err = q.conn.Channel()
	}
	if err == nil {
		err = channel.Confirm(false)
	}
	if err != nil {
		return fmt.Errorf("connect to RabbitMQ: %w", err)
	}
	if err := q.declare(channel); err != nil {
		return err
	}
	q.returned = channel.NotifyReturn(make(chan amqp.Return, events.MaxBatch))
	q.closed = channel.NotifyClose(make(chan *amqp.Error, 1))
	q.channel = channel
	return nil
}

// declare creates a topic exchange, to which an event goes by its type, and a queue that is bound to it for
// all types, unless they exist as they should. Both are durable.
func (q *rabbitMQ) declare(channel *amqp.Channel) error {
	if q.query["create"] == "false" {
		return nil
	}
	exchange, queue := q.query["exchange"], q.query["queue"]
	err := channel.ExchangeDeclare(exchange, amqp.ExchangeTopic, true, false, false, false, nil)
	if err == nil {
		_, err = channel.QueueDeclare(queue, true, false, false, false, nil)
	}
	if err == nil {
		err = channel.QueueBind(queue, "#", exchange, false, nil)
	}
	if err != nil {
		return fmt.Errorf("RabbitMQ: exchange %s and queue %s are not there as durable ones and cannot be "+
			"made (make them yourself, with create=false in %s): %w", exchange, queue, setting, err)
	}
	return nil
}

// Close implements [events.Publisher]. It closes the connection, in order if that takes less than a second.
func (q *rabbitMQ) Close() error {
	if q.conn != nil {
		_ = q.conn.CloseDeadline(time.Now().Add(time.Second))
	}
	q.conn, q.channel = nil, nil
	return nil
}
