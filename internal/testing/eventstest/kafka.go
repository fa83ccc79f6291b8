package eventstest

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
)

// Kafka is a [Queue] in this process: franz-go's own fake, which keeps its log in a directory. Whoever needs a real Kafka's failures
// needs a real Kafka; to kill this one is to close it. Topics are made when they are first used.
type Kafka struct {
	*kfake.Cluster
	address string // that clients are told
	options []kfake.Opt
}

var _ Queue = (*Kafka)(nil)

// StartKafka starts a Kafka on a free port. It ends with the test.
func StartKafka(t *testing.T, options ...kfake.Opt) *Kafka {
	t.Helper()
	address, err := process.FreeAddress()
	check.Must(t, err)
	return StartKafkaBehind(t, address, address, options...)
}

// StartKafkaBehind starts a Kafka on an address and has it send its clients to another one, that of a proxy.
func StartKafkaBehind(t *testing.T, address, proxy string, options ...kfake.Opt) *Kafka {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	port, portErr := strconv.Atoi(text)
	check.Must(t, err, portErr)
	k := &Kafka{address: proxy, options: append(options,
		kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(t.TempDir()), kfake.DefaultNumPartitions(3), kfake.AllowAutoTopicCreation(),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			listener, err := net.Listen(network, address)
			return known{listener, proxy}, err
		}),
	)}
	check.Must(t, k.Restart(t.Context()))
	t.Cleanup(func() { check.Must(t, k.Kill()) })
	return k
}

// known is a listener that clients know by another address.
type known struct {
	net.Listener
	address string
}

func (k known) Addr() net.Addr {
	address, _ := net.ResolveTCPAddr("tcp", k.address) // it is one of net.Listen
	return address
}

// Address returns the host:port by which clients reach it; it stays the same after a restart.
func (k *Kafka) Address() string { return k.address }

// Kill implements [Queue].
func (k *Kafka) Kill() error {
	k.Cluster.Close()
	return nil
}

// Restart implements [Queue].
func (k *Kafka) Restart(context.Context) (err error) {
	k.Cluster, err = kfake.NewCluster(k.options...)
	return err
}

// Open implements [Queue].
func (k *Kafka) Open(t *testing.T, place string) events.Publisher {
	t.Helper()
	return Open(t, "kafka://"+k.address+"?topic="+place)
}

// Records returns what a topic holds, in the order of each partition.
func (k *Kafka) Records(ctx context.Context, topic string) (records []*kgo.Record, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(k.address), kgo.ConsumeTopics(topic))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	left := int64(0)
	for _, partition := range k.PartitionInfos(topic) {
		left += partition.HighWatermark
	}
	for int64(len(records)) < left {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		records = append(records, fetches.Records()...)
	}
	return records, nil
}

// Received implements [Queue].
func (k *Kafka) Received(t *testing.T, place string) (received []events.Event) {
	t.Helper()
	records, err := k.Records(t.Context(), place)
	check.Must(t, err)
	for _, r := range records {
		id, _, _ := strings.Cut(strings.SplitN(string(r.Value), `"id":"`, 2)[1], `"`)
		if len(r.Headers) != 1 || string(r.Headers[0].Value) != events.ContentType {
			t.Errorf("headers %v", r.Headers)
		}
		if key := string(r.Key); !strings.Contains(string(r.Value), `"partitionkey":"`+key+`"`) {
			t.Errorf("key %s of %s", key, r.Value)
		}
		received = append(received, events.Event{ID: id, JSON: r.Value})
	}
	return received
}
