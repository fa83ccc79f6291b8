// Package rabbitmq publishes events to RabbitMQ.
package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/events"
)

// Config says where events go. All fields but TLS are required.
type Config struct {
	// Address is host:port.
	Address        string
	User, Password string
	VirtualHost    string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Exchange is a topic exchange; an event's type is its routing key. Queue is bound to it for all types. Both are
	// durable, and made where there are none, unless KeepOut says that they are others' business.
	Exchange, Queue string
	KeepOut         bool
}

const (
	// heartbeat finds a dead connection within twice this time.
	heartbeat = 10 * time.Second
	// atOnce is how many messages may wait for their confirmation. Returned ones are kept until then.
	atOnce = 256
)

// Publisher is an [events.Publisher]. It is made by [New], connects when it is first used and again after every fault,
// and is for one goroutine at a time.
type Publisher struct {
	config  Config
	raw     net.Conn // under conn, to end what hangs
	conn    *amqp.Connection
	channel *amqp.Channel // nil while there is no connection
	closed  chan *amqp.Error
	// returned receives what no queue would have. The broker sends it before the confirmation.
	returned chan amqp.Return
}

// New makes a publisher.
func New(config Config) *Publisher { return &Publisher{config: config} }

// Publish implements [events.Publisher].
func (p *Publisher) Publish(ctx context.Context, batch []events.Event) []error {
	errs := make([]error, 0, len(batch))
	for len(batch) > 0 {
		n := min(len(batch), atOnce)
		errs, batch = append(errs, p.publish(ctx, batch[:n])...), batch[n:]
	}
	return errs
}

func (p *Publisher) publish(ctx context.Context, batch []events.Event) []error {
	errs := make([]error, len(batch))
	if err := p.connect(ctx); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	p.send(ctx, batch, errs)
	p.takeBack(batch, errs)
	if ctx.Err() == nil && !p.channel.IsClosed() {
		return errs
	}
	reason := p.reason()
	p.disconnect()
	var fault *amqp.Error
	if !errors.As(reason, &fault) || fault.Code != amqp.PreconditionFailed {
		return errs
	}
	// The broker closes the channel, and forgets the whole batch, over one message that is too large.
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

// takeBack makes refused ones of the events that were returned: confirmed, but in no queue.
func (p *Publisher) takeBack(batch []events.Event, errs []error) {
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

// connect returns at once where there is a connection.
func (p *Publisher) connect(ctx context.Context) error {
	if p.channel != nil && !p.channel.IsClosed() {
		return nil
	}
	p.disconnect()
	if err := p.dial(ctx); err != nil {
		p.disconnect()
		return err
	}
	return nil
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
		return fmt.Errorf("ask RabbitMQ for confirmations: %w", err)
	}
	p.returned = channel.NotifyReturn(make(chan amqp.Return, atOnce))
	p.closed = channel.NotifyClose(make(chan *amqp.Error, 1))
	p.channel = channel
	return nil
}

// declare makes the exchange and the queue, unless they are there as they shall be.
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

// reason is why the channel was closed.
func (p *Publisher) reason() error {
	select {
	case fault := <-p.closed:
		if fault != nil {
			return fmt.Errorf("RabbitMQ: %w", fault)
		}
	default:
	}
	return errors.New("RabbitMQ: the connection was lost")
}

// disconnect ends the connection, in order where that can be done within a second.
func (p *Publisher) disconnect() {
	if p.conn != nil {
		_ = p.conn.CloseDeadline(time.Now().Add(time.Second))
	}
	if p.raw != nil {
		_ = p.raw.Close()
	}
	p.raw, p.conn, p.channel = nil, nil, nil
}
