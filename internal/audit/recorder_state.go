package audit

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
)

// Err is why the store takes no writes, nil while it does.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// Wait waits until the store takes writes. It fails when ctx ends.
func (r *Recorder) Wait(ctx context.Context) error {
	r.mu.Lock()
	back := r.back
	r.mu.Unlock()
	if back == nil {
		return ctx.Err()
	}
	select {
	case <-back:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run looks whether a lost store is back, and writes down what has no decision to go along with, until ctx ends. Then it
// writes once more what there is, within a second, and logs which answers it leaves open.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(housekeepingEvery)
	defer tick.Stop()
	probing := pause(50*time.Millisecond, 2*time.Second)
	for {
		r.mu.Lock()
		lost := r.back != nil
		r.mu.Unlock()
		next := tick.C
		if lost {
			next = time.After(probing.NextBackOff())
		} else {
			probing.Reset()
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			r.housekeep(last)
			select { // for an append that nobody waits for any more
			case r.writing <- struct{}{}:
				<-r.writing
			case <-last.Done():
			}
			r.tellOpen(last)
			return
		case <-next:
		}
		switch {
		case !lost:
			r.watch(ctx)
			r.housekeep(ctx)
		case r.probe(ctx) == nil:
			r.setBack()
		}
	}
}

func (r *Recorder) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return r.store.Probe(ctx)
}

// watch counts a store as lost in which an append hangs, and one that takes no write while nobody has any.
func (r *Recorder) watch(ctx context.Context) {
	if r.busy() || ctx.Err() != nil {
		return
	}
	if err := r.probe(ctx); err != nil {
		r.setLost(err)
		return
	}
	r.setBack()
}

// busy reports whether the store is or was just written to; if it hangs over that, it is lost.
func (r *Recorder) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.since.IsZero() {
		if time.Since(r.since) > appendTries*appendTimeout {
			r.lose(errors.New("audit store: an append hangs"))
		}
		return true
	}
	return time.Since(r.last) < idleProbe
}

// Lost notes that the store has failed somebody who does not write: it is taken for lost until it takes a write.
func (r *Recorder) Lost(err error) {
	r.failed()
	r.setLost(err)
}

func (r *Recorder) setLost(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose(err)
}

// lose is setLost for who has the lock.
func (r *Recorder) lose(err error) {
	r.lost = err
	if r.back == nil {
		r.back = make(chan struct{})
		r.log.Error("store_lost", zap.Error(err), zap.String("detail", "jobs go back to the broker with their retries unchanged until the store is back"))
	}
}

func (r *Recorder) setBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	if r.back != nil {
		close(r.back)
		r.back, r.lost = nil, nil
		for i := range r.gone { // other workers could not clear their marks either
			r.gone[i].since = r.last
		}
		r.log.Info("store_back")
	}
}
