package natsjs

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Read implements [events.Reader]. It gets one message after the other, so that it leaves no consumer behind.
func (p *Publisher) Read(ctx context.Context, kind string, visit func(event []byte)) error {
	if err := p.connected(ctx); err != nil {
		return err
	}
	subject := p.config.Prefix + "." + kind
	name, err := p.stream.StreamNameBySubject(ctx, subject)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil // nothing was ever published
	}
	if err != nil {
		return fmt.Errorf("NATS: find the stream of %s: %w", subject, err)
	}
	stream, err := p.stream.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("NATS: stream %s: %w", name, err)
	}
	for seq := uint64(1); ; seq++ {
		message, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject)) // that one, or the first after it
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("NATS: read the stream %s: %w", name, err)
		}
		visit(message.Data)
		seq = message.Sequence
	}
}

// connected waits until there is a connection.
func (p *Publisher) connected(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	changed := p.conn.StatusChanged(nats.CONNECTED)
	defer p.conn.RemoveStatusListener(changed)
	if p.conn.IsConnected() {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return p.notConnected(ctx.Err())
	}
}
