// Package natsjs publishes events to NATS JetStream.
package natsjs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"hospital.example/analyze-retry/internal/events"
)

// Config configures a publisher. All fields but the credentials and TLS are required.
type Config struct {
	// Servers are nats:// or tls:// URLs without user and password.
	Servers []string
	// User and Password are empty if the server requires none; User alone is a token.
	User, Password string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Prefix precedes an event's type in its subject.
	Prefix string
	// Stream takes the subjects. If it does not exist, it is created, unless KeepOut is set.
	Stream  string
	KeepOut bool
}

const (
	// ackTimeout bounds the wait for one acknowledgement. It is shorter than the relay's for a whole page.
	ackTimeout = 8 * time.Second
	// connectTimeout bounds a reader's wait for a connection, which the library tries for ever.
	connectTimeout = 5 * time.Second
	// duplicates is how long the server recognizes a repeat by its message ID: longer than an outage is likely to last.
	duplicates = time.Hour
)

// Publisher is an [events.Publisher] and an [events.Reader]. It is made by [Open].
type Publisher struct {
	config Config
	conn   *nats.Conn
	stream jetstream.JetStream
	ready  atomic.Bool // the stream is known to be there
}

// Open makes a publisher. It does not wait for the server, which may come later.
func Open(config Config) (events.Publisher, error) {
	options := nats.Options{
		Servers: config.Servers, Name: "analyze-retry",
		AllowReconnect: true, RetryOnFailedConnect: true, MaxReconnect: -1,
		ReconnectWait: 500 * time.Millisecond, ReconnectJitter: 500 * time.Millisecond, ReconnectJitterTLS: time.Second,
		ReconnectBufSize: -1, // what cannot be sent now is the relay's to send again
		Timeout:          nats.DefaultTimeout, PingInterval: 10 * time.Second, MaxPingsOut: 2, FlusherTimeout: ackTimeout,
		TLSConfig: config.TLS, Secure: config.TLS != nil,
		IgnoreAuthErrorAbort: true,                                           // a password may be corrected at the server
		AsyncErrorCB:         func(*nats.Conn, *nats.Subscription, error) {}, // the library's own writes to stderr; see explain
	}
	if config.Password == "" {
		options.Token = config.User
	} else {
		options.User, options.Password = config.User, config.Password
	}
	conn, err := options.Connect()
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	stream, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(ackTimeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("NATS: %w", err)
	}
	return &Publisher{config: config, conn: conn, stream: stream}, nil
}

// Publish implements [events.Publisher].
func (p *Publisher) Publish(ctx context.Context, batch []events.Event) []error {
	if err := p.prepare(ctx); err != nil {
		return slices.Repeat([]error{err}, len(batch))
	}
	errs, futures := make([]error, len(batch)), make([]jetstream.PubAckFuture, len(batch))
	for i, e := range batch {
		// The relay sends again what is not acknowledged, and knows when.
		futures[i], errs[i] = p.stream.PublishMsgAsync(p.message(&e), jetstream.WithRetryAttempts(0))
	}
	for i, f := range futures {
		if errs[i] == nil {
			errs[i] = await(ctx, f)
		}
		if errs[i] != nil {
			errs[i] = p.explain(errs[i], &batch[i])
		}
	}
	return errs
}

// Close implements [events.Publisher].
func (p *Publisher) Close() error {
	p.conn.Close()
	return nil
}

func (p *Publisher) subject(e *events.Event) string { return p.config.Prefix + "." + e.Type }

func (p *Publisher) message(e *events.Event) *nats.Msg {
	return &nats.Msg{Subject: p.subject(e), Data: e.JSON, Header: nats.Header{
		nats.MsgIdHdr:  {e.ID}, // the server drops a repeat
		"Content-Type": {events.ContentType},
	}}
}

func await(ctx context.Context, f jetstream.PubAckFuture) error {
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare creates the stream if it does not exist.
func (p *Publisher) prepare(ctx context.Context) error {
	if !p.conn.IsConnected() {
		p.ready.Store(false) // a server that was restarted may be empty
		return p.notConnected(nats.ErrConnectionReconnecting)
	}
	if p.config.KeepOut || p.ready.Load() {
		return nil
	}
	_, err := p.stream.Stream(ctx, p.config.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = p.stream.CreateStream(ctx, jetstream.StreamConfig{
			Name: p.config.Stream, Subjects: []string{p.config.Prefix + ".>"},
			Description: "Decisions of analyze-retry, as CloudEvents", Duplicates: duplicates,
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another replica was faster
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("NATS: the stream %s for %s.> is not there and cannot be made (make it yourself and add create=false to RETRY_EVENTS_URL, or name another stream or subject): %w", p.config.Stream, p.config.Prefix, err)
	}
	p.ready.Store(true)
	return nil
}

// notConnected returns the reason of the library, or else this one.
func (p *Publisher) notConnected(reason error) error {
	if err := p.conn.LastError(); err != nil {
		reason = err
	}
	return fmt.Errorf("NATS is not connected: %w", reason)
}

// explain returns the error for a result of publishing.
func (p *Publisher) explain(err error, e *events.Event) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload),
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum:
		return fmt.Errorf("NATS: %d bytes are more than the server or the stream allows: %w", len(e.JSON), events.ErrRefused)
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		p.ready.Store(false)
		return fmt.Errorf("NATS: no stream takes the subject %s: %w", p.subject(e), err)
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout) && p.conn.LastError() != nil: // such as: no permission
		return fmt.Errorf("NATS: %w; the server's last error: %w", err, p.conn.LastError())
	default:
		return fmt.Errorf("NATS: %w", err)
	}
}

// Read implements [events.Reader]. It gets one message after the other, so that it leaves no consumer behind.
func (p *Publisher) Read(ctx context.Context, kind string, visit func(event []byte)) error {
	if err := p.connected(ctx); err != nil {
		return err
	}
	subject := p.config.Prefix + "." + kind
	name, err := p.stream.StreamNameBySubject(ctx, subject)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil // nothing was ever published
	}
	if err != nil {
		return fmt.Errorf("NATS: find the stream of %s: %w", subject, err)
	}
	stream, err := p.stream.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("NATS: stream %s: %w", name, err)
	}
	for seq := uint64(1); ; seq++ {
		message, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject)) // that one, or the first after it
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("NATS: read the stream %s: %w", name, err)
		}
		visit(message.Data)
		seq = message.Sequence
	}
}

// connected waits until there is a connection.
func (p *Publisher) connected(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	changed := p.conn.StatusChanged(nats.CONNECTED)
	defer p.conn.RemoveStatusListener(changed)
	if p.conn.IsConnected() {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return p.notConnected(ctx.Err())
	}
}
