package queue_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/events/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cret"

func TestAbsentQueueIsNoFault(t *testing.T) {
	for _, url := range []string{
		"nats://127.0.0.1:1",
		"nats://token@127.0.0.1:1,localhost:2?stream=S&subject=a.b",
		"tls://worker:" + secret + "@nats.example:4222/?create=false",
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
		{"", "must begin with nats://"},
		{"127.0.0.1:4222", "must begin with nats://"},
		{"redis://worker:" + secret + "@127.0.0.1", "kafka+tls://"},
		{"nats://worker:" + secret + "@", "names no host"},
		{"nats://worker:" + secret + "/x@127.0.0.1", "before the @"},
		{"nats://worker:" + secret + "@127.0.0.1:port", "has a host or a port that is none"},
		{"nats://worker:" + secret + "@nats.example", "a password in plaintext goes to loopback only"},
		{"kafka://worker:" + secret + "@127.0.0.1,kafka.example", "a password in plaintext goes to loopback only"},
		{"nats://127.0.0.1/path", "a path is for amqp:// only"},
		{"nats://127.0.0.1?stream=a.b", "stream must match"},
		{"nats://127.0.0.1?subject=a.*", "subject must match"},
		{"nats://127.0.0.1?topic=t", "allowed: ca, create, insecure, stream, subject"},
		{"nats://127.0.0.1?create=maybe", "create must be true or false"},
		{"nats://127.0.0.1?stream=a&stream=b", "names a parameter more than once"},
		{"nats://127.0.0.1?ca=x", "ca is for TLS only"},
		{"tls://127.0.0.1?ca=/does/not/exist", "readable PEM file"},
		{"amqp://127.0.0.1", "a user and a password are needed"},
		{"amqp://worker:" + secret + "@127.0.0.1,127.0.0.2", "one host only"},
		{"amqp://worker:" + secret + "@127.0.0.1?exchange=a,b", "exchange must match"},
		{"kafka://127.0.0.1?sasl=md5", "sasl must be plain, scram-sha-256 or scram-sha-512"},
		{"kafka://127.0.0.1?topic=a/b", "topic must match"},
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
	_, err := queue.Open("nats://a:b@nats.example/x?stream=*&create=1")
	if err == nil || len(strings.Split(err.Error(), "\n")) != 4 {
		t.Errorf("faults: %v; want four", err)
	}
}
