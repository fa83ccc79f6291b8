package zeebe

import (
	"context"
	"sync"
)

// slots counts the active jobs: received and not yet settled. One goroutine at a time may wait.
type slots struct {
	max   int
	freed chan struct{} // holds one signal, sent when as many are free as are waited for

	mu           sync.Mutex
	used, wanted int
}

func newSlots(n int) *slots { return &slots{max: n, freed: make(chan struct{}, 1)} }

// acquire takes n slots, more than are free if need be.
func (s *slots) acquire(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += n
}

// release frees one slot.
func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	if s.max-s.used == s.wanted {
		select {
		case s.freed <- struct{}{}:
		default:
		}
	}
}

func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// wait waits until n slots or more are free and returns how many are. It fails when ctx ends, or has ended.
func (s *slots) wait(ctx context.Context, n int) (free int, err error) {
	for ctx.Err() == nil {
		s.mu.Lock()
		free, s.wanted = s.max-s.used, n
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
