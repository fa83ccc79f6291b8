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
	// User is empty if the brokers require none. SASL, a name of [Mechanisms], is then ignored.
	User, Password, SASL string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// Topic takes all events. If it does not exist, the brokers may create it, unless KeepOut is set.
	Topic   string
	KeepOut bool
}

// Mechanisms are the SASL mechanisms by their names in URLs, the usual one first. PLAIN shows the password to
// the broker, SCRAM does not.
func Mechanisms() []string { return []string{"scram-sha-512", "scram-sha-256", "plain"} }

// pingTimeout bounds a ping, which shows why no broker can be reached.
const pingTimeout = 3 * time.Second

var errUnanswered = errors.New("kafka did not acknowledge in time")

// publisher is for one goroutine at a time.
type publisher struct {
	topic  string
	client *kgo.Client
}

// Open makes a publisher. It does not wait for the brokers, which may come later.
func Open(c Config) (events.Publisher, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...), kgo.ClientID("analyze-retry"), kgo.DialTimeout(pingTimeout),
		kgo.DefaultProduceTopic(c.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()), // the producer is idempotent by default
		kgo.ProducerLinger(0),              // events come in batches already
		// The relay sends again what was given up, and a consumer recognizes a repeat by its ID.
		kgo.AllowIdempotentProduceCancellation(),
	}
	if c.TLS != nil {
		options = append(options, kgo.DialTLSConfig(c.TLS))
	}
	if c.User != "" {
		options = append(options, kgo.SASL(mechanism(c)))
	}
	if !c.KeepOut {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("set up Kafka: %w", err)
	}
	return &publisher{topic: c.Topic, client: client}, nil
}

func mechanism(c Config) sasl.Mechanism {
	login := scram.Auth{User: c.User, Pass: c.Password}
	switch c.SASL {
	case "plain":
		return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism()
	case "scram-sha-256":
		return login.AsSha256Mechanism()
	default:
		return login.AsSha512Mechanism()
	}
}

// Publish implements [events.Publisher].
func (p *publisher) Publish(ctx context.Context, batch []events.Event) []error {
	if err := p.ping(ctx); err != nil { // it fails soon, and with the reason
		return slices.Repeat([]error{err}, len(batch))
	}
	type result struct {
		event int
		err   error
	}
	results := make(chan result, len(batch)) // some may come when Publish has returned
	for i := range batch {
		p.client.Produce(ctx, record(&batch[i]), func(_ *kgo.Record, err error) { results <- result{i, err} })
	}
	errs := slices.Repeat([]error{errUnanswered}, len(batch))
	for range batch {
		select {
		case r := <-results:
			errs[r.event] = p.explain(r.err)
		case <-ctx.Done():
			return errs
		}
	}
	return errs
}

func (p *publisher) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := p.client.Ping(ctx); err != nil {
		return fmt.Errorf("connect to Kafka: %w", err)
	}
	return nil
}

func record(e *events.Event) *kgo.Record {
	contentType := kgo.RecordHeader{Key: "content-type", Value: []byte(events.ContentType)}
	return &kgo.Record{Key: []byte(e.Key), Value: e.JSON, Headers: []kgo.RecordHeader{contentType}}
}

// explain returns the error for a result of producing.
func (p *publisher) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.InvalidRecord):
		return fmt.Errorf("kafka: %w: %w", err, events.ErrRefused)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("kafka: the topic %s is not there; make it: %w", p.topic, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errUnanswered
	default:
		return fmt.Errorf("kafka: %w", err)
	}
}

// Close implements [events.Publisher].
func (p *publisher) Close() error {
	p.client.Close()
	return nil
}
