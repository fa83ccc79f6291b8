// Package outage tracks a dependency that goes away and comes back: it logs each change once and paces the
// tries in between.
package outage

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Tracker tracks whether a dependency is available. Its fields are set before its first use; its methods are
// safe for concurrent use.
type Tracker struct {
	// Log receives the events Lost and Back, each with how long the dependency has been away.
	Log        *zap.Logger
	Lost, Back string
	// Level is that of Lost. Detail is logged with it: what the loss means for the operator.
	Level  zapcore.Level
	Detail string
	// Tolerance is how long tries may fail before the dependency counts as lost; with zero it is at the first
	// failure.
	Tolerance time.Duration
	// Memory is how long after its last failed try the dependency counts as lost; with zero it is until a try
	// succeeds.
	Memory time.Duration
	// Backoff paces the tries that follow a failure.
	Backoff Backoff

	mu      sync.Mutex
	failing time.Time     // when the first try of those that failed in a row began; zero after a success
	failed  time.Time     // when the last of them failed
	cause   error         // why it is lost
	back    chan struct{} // closed when waits end; nil where none is to wait
}

// Failed notes a failed try that began at this time, and returns how long to pause before the next one. The
// error is logged.
func (t *Tracker) Failed(began time.Time, err error) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failing.IsZero() {
		t.failing = began
	}
	t.failed = time.Now()
	away := time.Since(t.failing)
	if away < t.Tolerance {
		return t.Backoff.Next()
	}
	if t.cause == nil {
		t.Log.Log(t.Level, t.Lost,
			zap.Error(err), zap.Duration("awayFor", away), zap.String("detail", t.Detail))
	}
	if t.cause = err; t.back == nil {
		t.back = make(chan struct{})
	}
	return t.Backoff.Next()
}

// Try ends the waits of a dependency that may be back. It counts as lost until a try succeeds; the next
// failure has others wait again.
func (t *Tracker) Try() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open()
}

func (t *Tracker) open() {
	if t.back != nil {
		close(t.back)
		t.back = nil
	}
}

// Succeeded notes a successful try and reports whether it ended an outage.
func (t *Tracker) Succeeded() (ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ended = t.cause != nil; ended {
		t.Log.Info(t.Back, zap.Duration("awayFor", time.Since(t.failing)))
	}
	t.open()
	t.failing, t.cause = time.Time{}, nil
	t.Backoff.bound = 0 // the first pause of the next outage is a short one
	return ended
}

// Err returns the error of the last failed try while the dependency is lost, and otherwise nil.
func (t *Tracker) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Memory > 0 && time.Since(t.failed) > t.Memory {
		return nil
	}
	return t.cause
}

// Wait waits while the dependency is lost, until Try at most. It fails when ctx ends.
func (t *Tracker) Wait(ctx context.Context) error {
	t.mu.Lock()
	back := t.back
	t.mu.Unlock()
	if back != nil {
		select {
		case <-back:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// Backoff paces tries that follow a failure. Each pause is about twice the one before, and drawn from the
// upper half of its bound, so that workers that failed together do not come back together.
type Backoff struct {
	// Min and Max bound the pauses.
	Min, Max time.Duration
	bound    time.Duration // of the last pause
}

// Next returns how long to pause now.
func (b *Backoff) Next() time.Duration {
	b.bound = min(max(2*b.bound, 2*b.Min), b.Max)
	return b.bound/2 + rand.N(b.bound/2+1)
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
