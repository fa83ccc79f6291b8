package queue_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestKafka(t *testing.T) { eventstest.Suite(t, eventstest.StartKafka(t)) }

func TestATopicOfOthersIsNeverMade(t *testing.T) {
	c := eventstest.StartKafka(t)
	p := eventstest.Open(t, "kafka://"+c.Address()+"?create=false")
	for _, err := range p.Publish(t.Context(), eventstest.Batch(t, 3)) {
		if err == nil || !strings.Contains(err.Error(), "topic analyze-retry.events: UNKNOWN_TOPIC") {
			t.Errorf("error %v", err)
		}
	}
}

func TestAnEventThatIsTooLargeFailsAlone(t *testing.T) {
	batch := eventstest.Batch(t, 5)
	batch[2].JSON = []byte(`"` + strings.Repeat("x", 2<<20) + `"`)
	for i, err := range eventstest.StartKafka(t).Open(t, "large").Publish(t.Context(), batch) {
		if (err != nil) != (i == 2) {
			t.Errorf("event %d: %v", i, err)
		}
	}
}

// A producer that is not idempotent has no number (-1), and what it sends again may overtake or double. One that is waits for every
// replica's acknowledgement: franz-go takes no other together with it.
func TestThePublisherIsIdempotent(t *testing.T) {
	c := eventstest.StartKafka(t)
	p := c.Open(t, "idempotent")
	for _, err := range p.Publish(t.Context(), eventstest.Batch(t, 3)) {
		check.Must(t, err)
	}
	records, err := c.Records(t.Context(), "idempotent")
	check.Must(t, err)
	check.Same(t, 3, len(records), "records")
	for _, record := range records {
		if record.ProducerID < 0 {
			t.Errorf("a record is of producer %d, want a number", record.ProducerID)
		}
	}
}

// A broker may take a request and never answer it.
func TestPublishEndsWithItsContextThoughTheBrokerHangs(t *testing.T) {
	c, hangs := eventstest.StartKafka(t), make(chan struct{})
	defer close(hangs)
	p := c.Open(t, "hangs")
	check.Must(t, p.Publish(t.Context(), eventstest.Batch(t, 1))[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cancel() // only now, for a slow machine takes its time over the connection
		c.SleepControl(func() { <-hangs })
		return nil, nil, false
	})
	for _, err := range p.Publish(ctx, eventstest.Batch(t, 3)) {
		check.Fails(t, err, "topic hangs: context canceled")
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
