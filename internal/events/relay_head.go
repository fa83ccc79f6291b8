package events

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

const (
	// headEvery is how often the heads of the trail are published by the process that leads. Each new leader begins with it.
	headEvery = 24 * time.Hour
	// headTimeout bounds one try, because the events of claims wait for it.
	headTimeout = 3 * time.Second
)

// headTeller says when the heads are published next.
type headTeller struct {
	ask     func(context.Context) (Event, error)
	due     time.Time
	failing bool
	// again are the pauses after a failure, or while there are no heads.
	again *backoff.ExponentialBackOff
}

// tellHeads publishes the heads where they are due. What fails is tried again later, and is logged once.
func (r *Relay) tellHeads(ctx context.Context) {
	h := &r.heads
	if h.ask == nil || ctx.Err() != nil || r.queue.isLost() || time.Now().Before(h.due) {
		return
	}
	told, err := r.publishHeads(ctx)
	if err != nil && !h.failing && ctx.Err() == nil {
		r.queue.log.Warn("audit_heads_not_published", zap.Error(err), zap.String("detail", "tried again every few minutes; other events do not wait for it"))
	}
	if h.failing = err != nil; !told {
		h.due = time.Now().Add(h.again.NextBackOff())
		return
	}
	h.again.Reset()
	h.due = time.Now().Add(headEvery)
}

// publishHeads reports whether the queue has acknowledged the heads. Where there are none yet it has not.
func (r *Relay) publishHeads(ctx context.Context) (told bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, headTimeout)
	defer cancel()
	event, err := r.heads.ask(ctx)
	if err != nil || event.ID == "" {
		return false, err
	}
	if err := r.publisher.Publish(ctx, []Event{event})[0]; err != nil {
		return false, err
	}
	r.queue.log.Info("audit_heads_published", zap.String("id", event.ID))
	return true, nil
}
