package queue_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit/events/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cret"

func TestAbsentQueueIsNoFault(t *testing.T) {
	for _, url := range []string{
		"amqp://worker:" + secret + "@127.0.0.1:1",
		"amqp://worker:" + secret + "@[::1]:1/hospital%2Fbilling?exchange=e&queue=q",
		"amqp://worker:" + secret + "@rabbitmq.example/?insecure=true",
		"amqps://worker:p%40ss%2Fword@rabbitmq.example?create=false",
		"kafka://127.0.0.1:1,127.0.0.1:2?topic=t",
		"kafka+tls://worker:" + secret + "@kafka.example?sasl=plain",
	} {
		p, err := queue.Open(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: close: %v", url, err)
		}
	}
}

func TestAFaultNamesWhatIsAllowedAndNeverThePassword(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"", "is not scheme://"},
		{"127.0.0.1:9092", "is not scheme://"},
		{"redis://worker:" + secret + "@127.0.0.1", "kafka+tls://"},
		{"kafka://worker:" + secret + "@", "name a host"},
		{"kafka://worker:" + secret + "/x@127.0.0.1", "is not scheme://"},
		{"kafka://worker:" + secret, "is not scheme://"},
		{"kafka://worker:" + secret + "@kafka.example", "a password in plaintext goes to loopback only"},
		{"kafka://worker:" + secret + "@127.0.0.1,kafka.example", "a password in plaintext goes to loopback only"},
		{"kafka://127.0.0.1/path", "a path is for amqp:// only"},
		{"kafka://127.0.0.1?stream=s", "allowed: create, insecure, topic, sasl"},
		{"kafka://127.0.0.1?create=maybe", "create must be true or false"},
		{"kafka://127.0.0.1?ca=x", "not known"},
		{"kafka+tls://127.0.0.1?ca=/does/not/exist", "readable PEM file"},
		{"amqp://worker:" + secret + "@127.0.0.1,127.0.0.2", "one host only"},
		{"kafka://127.0.0.1?sasl=md5", "sasl must be scram-sha-512 or scram-sha-256 or plain"},
	} {
		p, err := queue.Open(c.url)
		if err == nil {
			_ = p.Close()
			t.Errorf("%s: no fault, want %q", c.url, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "worker") {
			t.Errorf("%s: %v; want %q and no credentials", c.url, err, c.want)
		}
	}
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	_, err := queue.Open("kafka://a:b@kafka.example/x?sasl=1&create=1")
	if err == nil || len(strings.Split(err.Error(), "\n")) != 4 {
		t.Errorf("faults: %v; want four", err)
	}
}
