package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"hospital.example/analyze-retry/internal/audit/events"
)

// kafka publishes to Apache Kafka and what speaks its protocol. It is for one goroutine at a time.
type kafka struct {
	topic  string
	client *kgo.Client
}

// openKafka makes a publisher to one topic. If it does not exist, the brokers may create it.
func openKafka(p *place) (events.Publisher, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(p.hosts...),
		kgo.ClientID("analyze-retry"),
		kgo.DialTimeout(3 * time.Second), // less than a Publish has, so that its error says why
		kgo.DefaultProduceTopic(p.query["topic"]),
		kgo.RequiredAcks(kgo.AllISRAcks()), // the producer is idempotent by default
		kgo.ProducerLinger(0),              // events come in batches already
		// The relay sends again what was given up, and a consumer recognizes a repeat by its ID.
		kgo.AllowIdempotentProduceCancellation(),
	}
	if p.tls != nil {
		options = append(options, kgo.DialTLSConfig(p.tls))
	}
	if p.user != "" {
		login := scram.Auth{User: p.user, Pass: p.password}
		options = append(options, kgo.SASL(map[string]sasl.Mechanism{
			"scram-sha-512": login.AsSha512Mechanism(),
			"scram-sha-256": login.AsSha256Mechanism(),
			"plain":         plain.Auth{User: p.user, Pass: p.password}.AsMechanism(),
		}[p.query["sasl"]]))
	}
	if p.query["create"] == "true" {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("set up Kafka: %w", err)
	}
	return &kafka{p.query["topic"], client}, nil
}

func (k *kafka) Publish(ctx context.Context, batch []events.Event) []error {
	if err := k.client.Ping(ctx); err != nil { // it fails soon, and with the reason
		return slices.Repeat([]error{fmt.Errorf("connect to Kafka: %w", err)}, len(batch))
	}
	records := make([]*kgo.Record, len(batch))
	header := kgo.RecordHeader{Key: "content-type", Value: []byte(events.ContentType)}
	for i, e := range batch {
		records[i] = &kgo.Record{Key: []byte(e.Key), Value: e.JSON, Headers: []kgo.RecordHeader{header}}
	}
	errs := make([]error, len(batch))
	for _, result := range k.client.ProduceSync(ctx, records...) { // in no order
		if result.Err != nil {
			err := fmt.Errorf("kafka, topic %s: %w", k.topic, result.Err)
			errs[slices.Index(records, result.Record)] = err
		}
	}
	return errs
}

func (k *kafka) Close() error {
	k.client.Close()
	return nil
}
