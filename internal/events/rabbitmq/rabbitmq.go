// Package rabbitmq publishes events to RabbitMQ.
package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
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
	// Exchange is a topic exchange; an event's type is its routing key. Queue is bound to it for all types. Both are
	// durable. If they do not exist, they are created, unless KeepOut is set.
	Exchange, Queue string
	KeepOut         bool
}

const (
	// heartbeat finds a dead connection within twice this time.
	heartbeat = 10 * time.Second
	// maxUnconfirmed is how many messages may wait for their confirmation. Returned ones are kept until then.
	maxUnconfirmed = 256
)

// Publisher is an [events.Publisher]. It is made by [New], connects when it is first used and again after every fault,
// and is for one goroutine at a time.
type Publisher struct {
	config  Config
	raw     net.Conn // of conn, closed to end what hangs
	conn    *amqp.Connection
	channel *amqp.Channel // nil while there is no connection
	closed  chan *amqp.Error
	// returned receives the messages that no queue is bound for. The broker sends each before its confirmation.
	returned chan amqp.Return
}

// New makes a publisher.
func New(config Config) *Publisher { return &Publisher{config: config} }

// Publish implements [events.Publisher].
func (p *Publisher) Publish(ctx context.Context, batch []events.Event) []error {
	var errs []error
	for part := range slices.Chunk(batch, maxUnconfirmed) {
		errs = append(errs, p.publish(ctx, part)...)
	}
	return errs
}

func (p *Publisher) publish(ctx context.Context, batch []events.Event) []error {
	if err := p.connect(ctx); err != nil {
		return slices.Repeat([]error{err}, len(batch))
	}
	errs := make([]error, len(batch))
	p.send(ctx, batch, errs)
	p.collectReturned(batch, errs)
	if ctx.Err() == nil && !p.channel.IsClosed() {
		return errs
	}
	reason := p.closeReason()
	p.disconnect()
	if closed, ok := errors.AsType[*amqp.Error](reason); !ok || closed.Code != amqp.PreconditionFailed {
		return errs
	}
	// One message that is too large makes the broker close the channel and forget the whole batch.
	if len(batch) == 1 {
		return []error{fmt.Errorf("%w: %w", reason, events.ErrRefused)}
	}
	for i := range batch {
		if errs[i] != nil {
			errs[i] = p.publish(ctx, batch[i:i+1])[0]
		}
	}
	return errs
}

// send sends the batch and awaits its confirmations.
func (p *Publisher) send(ctx context.Context, batch []events.Event, errs []error) {
	// A broker that is short of memory or disk stops reading, and a write then hangs.
	raw := p.raw
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	confirmations := make([]*amqp.DeferredConfirmation, len(batch))
	for i := range batch {
		confirmations[i], errs[i] = p.channel.PublishWithDeferredConfirm(p.config.Exchange, batch[i].Type, true, false, message(&batch[i]))
		if errs[i] != nil {
			errs[i] = fmt.Errorf("RabbitMQ: %w", errs[i])
		}
	}
	for i, confirmation := range confirmations {
		if errs[i] != nil {
			continue
		}
		acked, err := confirmation.WaitContext(ctx)
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("RabbitMQ did not confirm in time: %w", err)
		case !acked && p.channel.IsClosed():
			errs[i] = errors.New("RabbitMQ: the connection was lost before the confirmation")
		case !acked: // a queue is full, or cannot be written to
			errs[i] = fmt.Errorf("RabbitMQ did not take it into a queue: %w", events.ErrRefused)
		}
	}
}

// collectReturned marks the events as refused that were returned: confirmed, but in no queue.
func (p *Publisher) collectReturned(batch []events.Event, errs []error) {
	for {
		select {
		case r, open := <-p.returned:
			if !open {
				return
			}
			for i := range batch {
				if batch[i].ID == r.MessageId {
					errs[i] = fmt.Errorf("RabbitMQ: no queue is bound to the exchange %s for %s: %w", p.config.Exchange, r.RoutingKey, events.ErrRefused)
				}
			}
		default:
			return
		}
	}
}

func message(e *events.Event) amqp.Publishing {
	return amqp.Publishing{
		ContentType: events.ContentType, DeliveryMode: amqp.Persistent, MessageId: e.ID, Type: e.Type, AppId: "analyze-retry",
		Body: e.JSON,
	}
}

// Close implements [events.Publisher].
func (p *Publisher) Close() error {
	p.disconnect()
	return nil
}

// connect connects unless there is a connection.
func (p *Publisher) connect(ctx context.Context) error {
	if p.channel != nil && !p.channel.IsClosed() {
		return nil
	}
	p.disconnect()
	err := p.dial(ctx)
	if err != nil {
		p.disconnect()
	}
	return err
}

func (p *Publisher) dial(ctx context.Context) error {
	stop := func() bool { return true }
	defer func() { stop() }()
	config := amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: p.config.User, Password: p.config.Password}},
		Vhost: p.config.VirtualHost, Heartbeat: heartbeat,
		Dial: func(network, _ string) (net.Conn, error) {
			raw, err := new(net.Dialer).DialContext(ctx, network, p.config.Address)
			if err == nil {
				p.raw = raw
				stop = context.AfterFunc(ctx, func() { _ = raw.Close() }) // what follows has no deadline of its own
			}
			return raw, err
		},
		Properties: amqp.NewConnectionProperties(),
	}
	config.Properties.SetClientConnectionName("analyze-retry")
	scheme := "amqp"
	if p.config.TLS != nil {
		scheme, config.TLSClientConfig = "amqps", p.config.TLS.Clone()
	}
	var err error
	if p.conn, err = amqp.DialConfig(scheme+"://"+p.config.Address, config); err != nil {
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
	p.returned = channel.NotifyReturn(make(chan amqp.Return, maxUnconfirmed))
	p.closed = channel.NotifyClose(make(chan *amqp.Error, 1))
	p.channel = channel
	return nil
}

// declare creates the exchange and the queue, unless they exist as they should.
func (p *Publisher) declare(channel *amqp.Channel) error {
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
		return fmt.Errorf("RabbitMQ: the exchange %s and the queue %s are not there as durable ones and cannot be made (make them yourself and add create=false to RETRY_EVENTS_URL): %w", p.config.Exchange, p.config.Queue, err)
	}
	return nil
}

// closeReason returns why the channel was closed.
func (p *Publisher) closeReason() error {
	select {
	case closed := <-p.closed:
		if closed != nil {
			return fmt.Errorf("RabbitMQ: %w", closed)
		}
	default:
	}
	return errors.New("RabbitMQ: the connection was lost")
}

// disconnect closes the connection, in order if that takes less than a second.
func (p *Publisher) disconnect() {
	if p.conn != nil {
		_ = p.conn.CloseDeadline(time.Now().Add(time.Second))
	}
	if p.raw != nil {
		_ = p.raw.Close()
	}
	p.raw, p.conn, p.channel = nil, nil, nil
}
