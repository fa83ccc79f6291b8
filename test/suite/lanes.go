package suite

import (
	"errors"
	"sync"
	"testing"
)

// Lanes run as many tests next to each other as there are lanes. Of those that keep the machine busy one runs
// at a time, and they go first. The tests of a lane follow one another and can share a broker.
type Lanes struct {
	mu      sync.Mutex
	changed *sync.Cond
	free    []*Lane
	waiting int // tests that keep the machine busy
	busy    bool
}

// Lane is where one test runs at a time.
type Lane struct {
	start  func() (*Broker, error)
	broker *Broker
}

// NewLanes returns n lanes whose brokers are made by start; nil makes none. The suite has to close them.
func NewLanes(n int, start func() (*Broker, error)) *Lanes {
	l := &Lanes{}
	l.changed = sync.NewCond(&l.mu)
	for range n {
		l.free = append(l.free, &Lane{start: start})
	}
	return l
}

// Take makes the test a parallel one, waits for a free lane and keeps it until the test is over. A test that
// is busy keeps the machine busy.
func (l *Lanes) Take(t *testing.T, busy bool) *Lane {
	t.Helper()
	t.Parallel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if busy {
		l.waiting++
	}
	for len(l.free) == 0 || l.busy && busy || !l.busy && !busy && l.waiting > 0 {
		l.changed.Wait()
	}
	if busy {
		l.waiting--
		l.busy = true
	}
	lane := l.free[0]
	l.free = l.free[1:]
	t.Cleanup(func() {
		if t.Failed() {
			lane.drop(t)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free = append(l.free, lane)
		if busy {
			l.busy = false
		}
		l.changed.Broadcast()
	})
	l.changed.Broadcast() // others may go on now that a busy one has
	return lane
}

// Broker returns the lane's broker. The first test that asks for it starts it.
func (l *Lane) Broker(t *testing.T) *Broker {
	t.Helper()
	if l.broker == nil {
		var err error
		if l.broker, err = l.start(); err != nil {
			t.Fatal(err)
		}
	}
	return l.broker
}

// drop stops the lane's broker: what a test that failed has left on it would spoil the next one.
func (l *Lane) drop(t *testing.T) {
	t.Helper()
	if l.broker == nil {
		return
	}
	if err := l.broker.Close(); err != nil {
		t.Error(err)
	}
	l.broker = nil
}

// Close stops the brokers, when all tests are over.
func (l *Lanes) Close() (err error) {
	for _, lane := range l.free {
		if lane.broker != nil {
			err = errors.Join(err, lane.broker.Close())
		}
	}
	return err
}
