// Package kafka publishes events to Apache Kafka and what speaks its protocol.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"hospital.example/analyze-retry/internal/events"
)

// Config configures a publisher. Brokers and Topic are required.
type Config struct {
	// Brokers are host:port.
	Brokers []string
	// User is empty if the brokers require none. SASL is then ignored.
	User, Password string
	SASL           Mechanism
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Topic takes all events. If it does not exist, the brokers may create it, unless KeepOut is set.
	Topic   string
	KeepOut bool
}

// Mechanism is a SASL mechanism, by its name in URLs.
type Mechanism string

// The mechanisms. PLAIN shows the password to the broker, SCRAM does not.
const (
	Plain       Mechanism = "plain"
	ScramSHA256 Mechanism = "scram-sha-256"
	ScramSHA512 Mechanism = "scram-sha-512"
)

// pingTimeout bounds a ping, which shows why a broker is lost, or that it is back.
const pingTimeout = 3 * time.Second

// Publisher is an [events.Publisher]. It is made by [Open] and is for one goroutine at a time.
type Publisher struct {
	config Config
	client *kgo.Client
	lost   bool // nothing was acknowledged last time, or yet
}

// Open makes a publisher. It does not wait for the brokers, which may come later.
func Open(config Config) (events.Publisher, error) {
	options := append(connection(config),
		kgo.DefaultProduceTopic(config.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()), // the producer is idempotent by default
		kgo.ProducerLinger(0),              // events come in batches already
		// The relay sends again what was given up, and a consumer recognizes a repeat by its ID.
		kgo.AllowIdempotentProduceCancellation(),
	)
	if !config.KeepOut {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("set up Kafka: %w", err)
	}
	return &Publisher{config: config, client: client, lost: true}, nil
}

// connection returns the options by which the brokers are reached.
func connection(config Config) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(config.Brokers...), kgo.ClientID("analyze-retry"), kgo.DialTimeout(pingTimeout)}
	if config.TLS != nil {
		options = append(options, kgo.DialTLSConfig(config.TLS))
	}
	if config.User != "" {
		options = append(options, kgo.SASL(mechanism(config)))
	}
	return options
}

func mechanism(config Config) sasl.Mechanism {
	login := scram.Auth{User: config.User, Pass: config.Password}
	switch config.SASL {
	case Plain:
		return plain.Auth{User: config.User, Pass: config.Password}.AsMechanism()
	case ScramSHA256:
		return login.AsSha256Mechanism()
	case ScramSHA512:
	}
	return login.AsSha512Mechanism()
}

// Publish implements [events.Publisher].
func (p *Publisher) Publish(ctx context.Context, batch []events.Event) []error {
	if p.lost { // a ping fails soon, and with the reason
		if err := p.ping(ctx); err != nil {
			return slices.Repeat([]error{err}, len(batch))
		}
	}
	errs := slices.Repeat([]error{errUnanswered}, len(batch))
	type result struct {
		event int
		err   error
	}
	results := make(chan result, len(batch)) // some may come when Publish has returned
	for i := range batch {
		p.client.Produce(ctx, record(&batch[i]), func(_ *kgo.Record, err error) { results <- result{i, err} })
	}
	p.lost = true
	for range batch {
		select {
		case r := <-results:
			errs[r.event] = p.explain(r.err, &batch[r.event])
			p.lost = p.lost && r.err != nil
		case <-ctx.Done():
			return errs
		}
	}
	return errs
}

func (p *Publisher) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := p.client.Ping(ctx); err != nil {
		return fmt.Errorf("connect to Kafka: %w", err)
	}
	return nil
}

var errUnanswered = errors.New("kafka did not acknowledge in time")

func record(e *events.Event) *kgo.Record {
	return &kgo.Record{
		Key: []byte(e.Key), Value: e.JSON,
		Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte(events.ContentType)}},
	}
}

// explain returns the error for a result of producing.
func (p *Publisher) explain(err error, e *events.Event) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge), errors.Is(err, kerr.InvalidRecord):
		return fmt.Errorf("kafka, %d bytes: %w: %w", len(e.JSON), err, events.ErrRefused)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("kafka: the topic %s is not there; make it: %w", p.config.Topic, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errUnanswered
	default:
		return fmt.Errorf("kafka: %w", err)
	}
}

// Close implements [events.Publisher].
func (p *Publisher) Close() error {
	p.client.Close()
	return nil
}
