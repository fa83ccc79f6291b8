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
	next        time.Duration
}

// pause is how long to wait now.
func (b *backoff) pause() time.Duration {
	d := min(max(b.next, 2*b.least), b.most)
	b.next = 2 * d
	return d/2 + rand.N(d/2)
}

// reset makes the next pause a short one.
func (b *backoff) reset() { b.next = 0 }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
