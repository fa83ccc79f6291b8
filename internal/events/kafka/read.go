package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
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
	admin := kadm.NewClient(p.client)
	begins, err := admin.ListStartOffsets(ctx, p.config.Topic)
	if err = errors.Join(err, begins.Error()); err != nil {
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			err = nil
		}
		return nil, err
	}
	ends, err := admin.ListEndOffsets(ctx, p.config.Topic)
	left := map[int32]int64{}
	for partition, end := range ends[p.config.Topic] {
		if end.Offset > begins[p.config.Topic][partition].Offset {
			left[partition] = end.Offset
		}
	}
	return left, errors.Join(err, ends.Error())
}
