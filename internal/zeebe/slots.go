package zeebe

import (
	"context"
	"sync"
)

// slots counts the jobs in hand: received and not yet settled. One goroutine at a time may wait.
type slots struct {
	max   int
	freed chan struct{} // holds one signal, sent when as many are free as are waited for

	mu            sync.Mutex
	taken, wanted int
}

func newSlots(n int) *slots { return &slots{max: n, freed: make(chan struct{}, 1)} }

// take marks n slots as taken.
func (s *slots) take(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken += n
}

// give gives one slot back.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.max-s.taken == s.wanted {
		select {
		case s.freed <- struct{}{}:
		default:
		}
	}
}

// inHand is how many slots are taken.
func (s *slots) inHand() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// wait waits until n slots or more are free and returns how many are. It fails when ctx ends, or has ended.
func (s *slots) wait(ctx context.Context, n int) (free int, err error) {
	for ctx.Err() == nil {
		s.mu.Lock()
		free, s.wanted = s.max-s.taken, n
		s.mu.Unlock()
		if free >= n {
			return free, nil
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
		}
	}
	return 0, ctx.Err()
}
