package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Read implements [events.Reader]. It reads the whole topic, as Kafka knows no types, and without a consumer group.
func (p *Publisher) Read(ctx context.Context, kind string, visit func(event []byte)) error {
	if err := p.ping(ctx); err != nil { // without it, the client would try an absent broker until ctx ends
		return err
	}
	left, err := p.ends(ctx)
	if err != nil {
		return fmt.Errorf("kafka: topic %s: %w", p.config.Topic, err)
	}
	if len(left) == 0 {
		return nil
	}
	from := map[int32]kgo.Offset{}
	for partition := range left {
		from[partition] = kgo.NewOffset().AtStart()
	}
	reader, err := kgo.NewClient(append(connection(p.config), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.config.Topic: from}),
		kgo.KeepControlRecords(), // the last one of a partition may be one, of another producer's transaction
	)...)
	if err != nil {
		return fmt.Errorf("set up Kafka: %w", err)
	}
	defer reader.Close()
	wanted := []byte(`"` + kind + `"`)
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("kafka: topic %s was not read to its end: %w", p.config.Topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() && bytes.Contains(r.Value, wanted) {
				visit(r.Value)
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return nil
}

// ends returns the offset behind the last record of each partition that holds any. An absent topic has none.
func (p *Publisher) ends(ctx context.Context) (map[int32]int64, error) {
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &p.config.Topic
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, p.client)
	if err != nil {
		return nil, err
	}
	var partitions []int32
	for _, t := range response.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); errors.Is(err, kerr.UnknownTopicOrPartition) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		for _, partition := range t.Partitions {
			partitions = append(partitions, partition.Partition)
		}
	}
	const beginning, end = -2, -1 // Kafka's names of these times
	begins, err := p.offsets(ctx, partitions, beginning)
	if err != nil {
		return nil, err
	}
	ends, err := p.offsets(ctx, partitions, end)
	maps.DeleteFunc(ends, func(partition int32, offset int64) bool { return offset <= begins[partition] })
	return ends, err
}

// offsets returns the offset of each partition at a time.
func (p *Publisher) offsets(ctx context.Context, partitions []int32, at int64) (map[int32]int64, error) {
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = p.config.Topic
	for _, partition := range partitions {
		query := kmsg.NewListOffsetsRequestTopicPartition()
		query.Partition, query.Timestamp = partition, at
		topic.Partitions = append(topic.Partitions, query)
	}
	request := kmsg.NewPtrListOffsetsRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, p.client)
	if err != nil {
		return nil, err
	}
	all := map[int32]int64{}
	for _, t := range response.Topics {
		for _, partition := range t.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return nil, err
			}
			all[partition.Partition] = partition.Offset
		}
	}
	return all, nil
}
