package kafka_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKafka(t *testing.T) { eventstest.Suite(t, eventstest.StartKafka(t)) }

func TestATopicOfOthersIsNeverMade(t *testing.T) {
	c := eventstest.StartKafka(t)
	p := eventstest.Open(t, "kafka://"+c.Address()+"?create=false")
	for _, err := range p.Publish(t.Context(), eventstest.Batch(t, 3)) {
		if err == nil || errors.Is(err, events.ErrRefused) || !strings.Contains(err.Error(), "the topic analyze-retry.events is not there") {
			t.Errorf("error %v", err)
		}
	}
}

// A producer that is not idempotent has no number (-1), and what it sends again may overtake or double.
func TestThePublisherIsIdempotentAndAsksForEveryReplicasAcknowledgement(t *testing.T) {
	c := eventstest.StartKafka(t)
	produced := make(chan *kmsg.ProduceRequest, 1)
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		select {
		case produced <- r.(*kmsg.ProduceRequest):
		default:
		}
		return nil, nil, false
	})
	p := c.Open(t, "acks")
	for _, err := range p.Publish(t.Context(), eventstest.Batch(t, 3)) {
		if err != nil {
			t.Error(err)
		}
	}
	request := <-produced
	check.Same(t, -1, request.Acks, "acks")
	var batch kmsg.RecordBatch
	check.Must(t, batch.ReadFrom(request.Topics[0].Partitions[0].Records))
	if batch.NumRecords == 0 || batch.ProducerID < 0 || batch.FirstSequence < 0 {
		t.Errorf("%d records of producer %d from sequence %d, want a producer and a sequence", batch.NumRecords, batch.ProducerID, batch.FirstSequence)
	}
}

func TestLoginWorksAndAWrongPasswordIsNotShown(t *testing.T) {
	c := eventstest.StartKafka(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "worker", "right"), kfake.Superuser("PLAIN", "plain", "right"))
	for _, login := range []struct{ user, query, want string }{
		{"worker:right", "", ""},
		{"plain:right", "&sasl=plain", ""},
		{"worker:not-the-password", "", "connect to Kafka"}, // the fake hangs up without a word
	} {
		p := eventstest.Open(t, "kafka://"+login.user+"@"+c.Address()+"?topic=login"+login.query)
		var got string
		check.Await(t, "an answer", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err := p.Publish(ctx, eventstest.Batch(t, 3))[0]
			got = ""
			if err != nil {
				got = err.Error()
			}
			return err == nil || login.want != "" && strings.Contains(got, login.want)
		})
		if (got == "") != (login.want == "") || strings.Contains(got, "not-the-password") {
			t.Errorf("%s: %s", login.user, got)
		}
	}
}

// A fetch takes about a megabyte of a partition.
func TestLongTopicIsReadToItsEnd(t *testing.T) {
	c := eventstest.StartKafka(t)
	secret, err := audit.NewSecret()
	check.Must(t, err)
	head := secret.Head(audit.ChainAt(1, 5, audit.Hash{}), eventstest.Began)
	event, err := events.FromHeads("production", secret.Public(), []audit.Head{head})
	check.Must(t, err)
	p := c.Open(t, "long")
	for range 30 { // of the same partition, one after the other
		noise := make([]byte, 100_000) // which no compression makes shorter
		_, _ = rand.Read(noise)
		long := events.Event{ID: "long", Type: events.TypeScheduled, Key: event.Key, JSON: noise}
		check.Await(t, "it is acknowledged", func() bool { return p.Publish(t.Context(), []events.Event{long})[0] == nil })
	}
	check.Await(t, "the heads are acknowledged", func() bool { return p.Publish(t.Context(), []events.Event{event})[0] == nil })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	check.Must(t, p.(events.Reader).Read(ctx, events.TypeAuditHead, func(event []byte) { got = append(got, string(event)) }))
	if len(got) == 0 || got[0] != string(event.JSON) {
		t.Errorf("read %d events, want that of the heads at the end", len(got))
	}
}
