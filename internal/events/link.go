package events

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

// link is the way to the store or to the queue, by how it fares. It logs when that changes, not at every try, and is for
// one goroutine.
type link struct {
	log        *zap.Logger
	lost, back string // what is logged
	pause      *backoff.ExponentialBackOff
	since      time.Time // when it was lost; zero while it is there
}

// failed returns how long to pause before the next try.
func (l *link) failed(err error) time.Duration {
	if !l.isLost() {
		l.since = time.Now()
		l.log.Warn(l.lost, zap.Error(err), zap.String("detail", "events wait in the outbox and are sent when it is back"))
	}
	return l.pause.NextBackOff()
}

func (l *link) isLost() bool { return !l.since.IsZero() }

// succeeded reports whether it was lost before.
func (l *link) succeeded() bool {
	if !l.isLost() {
		return false
	}
	l.log.Info(l.back, zap.Duration("awayFor", time.Since(l.since)))
	l.since = time.Time{}
	l.pause.Reset()
	return true
}

// pause is an exponential back-off with jitter between the two.
func pause(least, most time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = least, most
	return b
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// countBacklog tells the observer what waits, until ctx ends. A store that fails is the business of others.
func (r *Relay) countBacklog(ctx context.Context) {
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, storeTimeout)
		if waiting, oldest, err := r.outbox.Backlog(asking); err == nil {
			r.observer.Backlog(waiting, oldest)
		}
		cancel()
		wait(ctx, backlogEvery)
	}
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Published(int)            {}
func (nobody) PublishFailed(int)        {}
func (nobody) Backlog(int64, time.Time) {}
