// Package rabbitmq publishes events to RabbitMQ.
package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/events"
)

// Config configures a publisher. All fields but TLS are required.
type Config struct {
	// Address is host:port.
	Address        string
	User, Password string
	VirtualHost    string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Exchange is a topic exchange; an event's type is its routing key. Queue is bound to it for all types.
	// Both are durable. If they do not exist, they are created, unless KeepOut is set.
	Exchange, Queue string
	KeepOut         bool
}

// heartbeat finds a dead connection within twice this time.
const heartbeat = 10 * time.Second

// publisher connects when it is first used and again after every fault, and is for one goroutine at a time.
type publisher struct {
	config  Config
	raw     net.Conn // of conn, closed to end what hangs
	conn    *amqp.Connection
	channel *amqp.Channel // nil while there is no connection
	closed  chan *amqp.Error
	// returned receives the messages that no queue is bound for. The broker sends each before its confirmation.
	returned chan amqp.Return
}

// Open makes a publisher. It does not wait for the broker, which may come later.
func Open(config Config) events.Publisher { return &publisher{config: config} }

// Publish implements [events.Publisher].
func (p *publisher) Publish(ctx context.Context, batch []events.Event) []error {
	if p.channel == nil || p.channel.IsClosed() {
		if err := p.connect(ctx); err != nil {
			_ = p.Close()
			return slices.Repeat([]error{err}, len(batch))
		}
	}
	errs := p.send(ctx, batch)
	p.collectReturned(batch, errs)
	if ctx.Err() != nil || p.channel.IsClosed() {
		_ = p.Close()
	}
	return errs
}

// send sends the batch and awaits its confirmations.
func (p *publisher) send(ctx context.Context, batch []events.Event) []error {
	// A broker that is short of memory or disk stops reading, and a write then hangs.
	raw := p.raw
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	errs := make([]error, len(batch))
	confirmations := make([]*amqp.DeferredConfirmation, len(batch))
	for i := range batch {
		confirmations[i], errs[i] = p.channel.PublishWithDeferredConfirm(
			p.config.Exchange, batch[i].Type, true, false, message(&batch[i]))
	}
	lost := sync.OnceValue(p.whyClosed)
	for i, confirmation := range confirmations {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("RabbitMQ: %w", errs[i])
			continue
		}
		acked, err := confirmation.WaitContext(ctx)
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("RabbitMQ did not confirm in time: %w", err)
		case !acked && p.channel.IsClosed():
			errs[i] = lost()
		case !acked: // a queue is full, or cannot be written to
			errs[i] = fmt.Errorf("RabbitMQ did not take it into a queue: %w", events.ErrRefused)
		}
	}
	return errs
}

// whyClosed returns why the channel was closed.
func (p *publisher) whyClosed() error {
	select {
	case closed := <-p.closed:
		if closed != nil {
			return fmt.Errorf("RabbitMQ: %w", closed)
		}
	default:
	}
	return errors.New("RabbitMQ: the connection was lost before the confirmation")
}

// collectReturned marks the events as refused that were returned: confirmed, but in no queue.
func (p *publisher) collectReturned(batch []events.Event, errs []error) {
	for len(p.returned) > 0 {
		r := <-p.returned
		if i := slices.IndexFunc(batch, func(e events.Event) bool { return e.ID == r.MessageId }); i >= 0 {
			errs[i] = fmt.Errorf("RabbitMQ: no queue is bound to the exchange %s for %s: %w",
				p.config.Exchange, r.RoutingKey, events.ErrRefused)
		}
	}
}

func message(e *events.Event) amqp.Publishing {
	return amqp.Publishing{
		ContentType: events.ContentType, DeliveryMode: amqp.Persistent, AppId: "analyze-retry",
		MessageId: e.ID, Type: e.Type, Body: e.JSON,
	}
}

// connect opens a connection and a channel, and makes exchange and queue.
func (p *publisher) connect(ctx context.Context) error {
	_ = p.Close() // what is left of the one before
	stop := func() bool { return true }
	defer func() { stop() }()
	config := amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: p.config.User, Password: p.config.Password}},
		Vhost: p.config.VirtualHost, Heartbeat: heartbeat, TLSClientConfig: p.config.TLS.Clone(),
		Dial: func(network, _ string) (raw net.Conn, err error) {
			if raw, err = new(net.Dialer).DialContext(ctx, network, p.config.Address); err == nil {
				p.raw = raw
				stop = context.AfterFunc(ctx, func() { _ = raw.Close() }) // what follows has no deadline of its own
			}
			return raw, err
		},
		Properties: amqp.NewConnectionProperties(),
	}
	config.Properties.SetClientConnectionName("analyze-retry")
	scheme := "amqp://"
	if p.config.TLS != nil {
		scheme = "amqps://"
	}
	var err error
	if p.conn, err = amqp.DialConfig(scheme+p.config.Address, config); err != nil {
		return fmt.Errorf("connect to RabbitMQ: %w", err)
	}
	channel, err := p.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel of RabbitMQ: %w", err)
	}
	if err := p.declare(channel); err != nil {
		return err
	}
	if err := channel.Confirm(false); err != nil {
		return fmt.Errorf("enable RabbitMQ's confirmations: %w", err)
	}
	p.returned = channel.NotifyReturn(make(chan amqp.Return, events.MaxBatch))
	p.closed = channel.NotifyClose(make(chan *amqp.Error, 1))
	p.channel = channel
	return nil
}

// declare creates the exchange and the queue, unless they exist as they should.
func (p *publisher) declare(channel *amqp.Channel) error {
	if p.config.KeepOut {
		return nil
	}
	err := channel.ExchangeDeclare(p.config.Exchange, amqp.ExchangeTopic, true, false, false, false, nil)
	if err == nil {
		_, err = channel.QueueDeclare(p.config.Queue, true, false, false, false, nil)
	}
	if err == nil {
		err = channel.QueueBind(p.config.Queue, "#", p.config.Exchange, false, nil)
	}
	if err != nil {
		return fmt.Errorf("RabbitMQ: the exchange %s and the queue %s are not there as durable ones and cannot be "+
			"made (make them yourself and add create=false to RETRY_EVENTS_URL): %w",
			p.config.Exchange, p.config.Queue, err)
	}
	return nil
}

// Close implements [events.Publisher]. It closes the connection, in order if that takes less than a second.
func (p *publisher) Close() error {
	if p.conn != nil {
		_ = p.conn.CloseDeadline(time.Now().Add(time.Second))
	}
	if p.raw != nil {
		_ = p.raw.Close()
	}
	p.raw, p.conn, p.channel = nil, nil, nil
	return nil
}
