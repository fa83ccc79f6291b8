package zeebe

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff spreads tries that follow a failure: each pause is about twice the one before, between least and most, and
// at random within its upper half, so that workers that failed together do not come back together.
type backoff struct {
	least, most time.Duration
	bound       time.Duration // of the pause before
}

// next is how long to pause now.
func (b *backoff) next() time.Duration {
	b.bound = min(max(2*b.bound, 2*b.least), b.most)
	return b.bound/2 + rand.N(b.bound/2+1)
}

// reset makes the next pause a short one.
func (b *backoff) reset() { b.bound = 0 }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
