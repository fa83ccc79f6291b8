package devqueue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"hospital.example/analyze-retry/internal/testing/process"
)

// Kafka speaks Kafka's protocol in this process: franz-go's own fake, which keeps its log in a directory. Whoever needs a real
// Kafka's failures needs a real Kafka; to kill this one is to close it. Topics are made when they are first used.
type Kafka struct {
	*kfake.Cluster
	address string // that clients are told
	dir     string
	options []kfake.Opt
}

// StartKafka starts a Kafka on a free port.
func StartKafka(options ...kfake.Opt) (*Kafka, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	return StartKafkaBehind(address, address, options...)
}

// StartKafkaBehind starts a Kafka on an address and has it send its clients to another one, that of a proxy.
func StartKafkaBehind(address, proxy string, options ...kfake.Opt) (*Kafka, error) {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kafka-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for Kafka: %w", err)
	}
	k := &Kafka{address: proxy, dir: dir, options: append(options,
		kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(dir), kfake.DefaultNumPartitions(3), kfake.AllowAutoTopicCreation(),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			listener, err := net.Listen(network, address)
			return known{listener, proxy}, err
		}),
	)}
	if err := k.Restart(context.Background()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return k, nil
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

// URL returns where publishers connect.
func (k *Kafka) URL() string { return "kafka://" + k.address }

// Kill ends the server. The data stay for Restart.
func (k *Kafka) Kill() error {
	k.Cluster.Close()
	return nil
}

// Restart starts the server on its data after a Kill.
func (k *Kafka) Restart(context.Context) (err error) {
	if k.Cluster, err = kfake.NewCluster(k.options...); err != nil {
		return fmt.Errorf("start Kafka: %w", err)
	}
	return nil
}

// Close ends the server and removes its data.
func (k *Kafka) Close() error {
	k.Cluster.Close()
	return os.RemoveAll(k.dir)
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
