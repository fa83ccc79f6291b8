package audit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestStoreIsLostAfterFourTriesUntilItIsBack(t *testing.T) {
	t.Parallel()
	record(t, &disk{dead: true}, func(r *recording) {
		if _, err := r.within(5*time.Second, 1); !errors.Is(err, errDisk) || !errors.Is(r.Err(), errDisk) || r.failed.Load() != 4 {
			r.Fatalf("got %v, store %v, %d tries, want four", err, r.Err(), r.failed.Load())
		}
		waited := make(chan error, 1)
		go func() { waited <- r.Wait(r.Context()) }()
		<-time.After(time.Hour)
		if len(waited) != 0 {
			r.Fatal("the wait is over, the store is not back")
		}
		r.disk.set(func(d *disk) { d.dead = false })
		back := time.Now()
		if err := <-waited; err != nil || time.Since(back) > 5*time.Second || r.Err() != nil {
			r.Errorf("waited %v more, %v, store %v", time.Since(back), err, r.Err())
		}
		if n := r.logs.FilterMessage("store_lost").Len() + r.logs.FilterMessage("store_back").Len(); n != 2 {
			r.Errorf("%d log lines in an hour, want one when it was lost and one when it was back", n)
		}
	})
}

// A probe fits on a disk that is full. Seen without the store's staying lost: it was lost and back once a second, ready most of the
// time, and no alert on it came.
func TestAStoreThatTakesProbesOnlyStaysLostAndIsTriedUntilItTakesRecords(t *testing.T) {
	t.Parallel()
	record(t, &disk{full: true}, func(r *recording) {
		_, _ = r.within(5*time.Second, 1)
		for lost := time.Now(); time.Since(lost) < time.Hour; {
			if r.Wait(r.Context()) != nil || r.Err() == nil {
				r.Fatalf("after %v the store is %v", time.Since(lost), r.Err())
			}
			_, _ = r.within(5*time.Second, 1) // the job has come again
		}
		r.disk.set(func(d *disk) { d.full = false })
		if _, err := r.within(5*time.Second, 1); err != nil || r.Err() != nil {
			r.Errorf("back: %v, store %v", err, r.Err())
		}
		if n := r.logs.FilterMessage("store_lost").Len() + r.logs.FilterMessage("store_back").Len(); n != 2 {
			r.Errorf("%d log lines in an hour, want one when it was lost and one when it was back", n)
		}
	})
}

func TestAStoreThatHangsWhenItIsTriedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	record(t, &disk{failing: 4, hold: make(chan struct{})}, func(r *recording) {
		hold := r.disk.hold
		r.disk.hold = nil
		_, _ = r.within(5*time.Second, 1)
		_ = r.Wait(r.Context()) // for the probe, which comes through
		r.disk.hold, r.disk.deaf = hold, true
		ctx, stop := context.WithTimeout(r.Context(), 10*time.Minute)
		defer stop()
		tries := 0
		for ; r.Wait(ctx) == nil; tries++ {
			_, _ = r.within(5*time.Second, 1)
		}
		if r.Err() == nil || tries > 2 {
			r.Errorf("%d batches taken in ten minutes, store %v", tries, r.Err())
		}
		close(hold)
		<-time.After(housekeeping) // the append ends
	})
}

func TestAStoreWithoutJobsIsBackByItsProbe(t *testing.T) {
	t.Parallel()
	record(t, &disk{failing: 4}, func(r *recording) {
		_, _ = r.within(5*time.Second, 1)
		<-time.After(12 * time.Second)
		if r.Err() != nil {
			r.Errorf("nothing was refused for 12 s, and the store is %v", r.Err())
		}
	})
}

// A database that was stopped may come back with another password.
func TestTheReasonOfALossIsThatOfTheLastTry(t *testing.T) {
	t.Parallel()
	record(t, &disk{dead: true}, func(r *recording) {
		_, _ = r.within(5*time.Second, 1)
		errPassword := errors.New("password")
		r.disk.set(func(d *disk) { d.why = errPassword })
		<-time.After(housekeeping)
		if !errors.Is(r.Err(), errPassword) {
			r.Errorf("the store is lost for %v, want what it says now", r.Err())
		}
	})
}

// housekeeping is within which time the recorder looks after everything once.
const housekeeping = 1100 * time.Millisecond

// A handler waits for nine tenths of its five seconds.
func TestHungStoreIsGivenUpWithinTheHandlersBound(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		record(t, &disk{hold: make(chan struct{}), deaf: deaf}, func(r *recording) {
			started := time.Now()
			if _, err := r.within(4500*time.Millisecond, 1); err == nil || time.Since(started) > 4500*time.Millisecond {
				r.Errorf("got %v after %v", err, time.Since(started))
			}
			if !deaf && r.Err() == nil {
				r.Error("the batch is released, and the store is not lost yet: the same jobs would be taken at once")
			}
			<-time.After(housekeeping) // who is not waited for is looked after once a second
			if r.Err() == nil {
				r.Error("the store hangs, and it is not lost")
			}
			close(r.disk.hold)
			<-time.After(housekeeping)
			if _, err := r.within(time.Second, 2); errors.Join(err, r.Wait(r.Context()), r.Err()) != nil {
				r.Errorf("after the hang: %v, store %v", err, r.Err())
			}
		})
	}
}

// A handler may time out only because another append is under way. If that counted as a hang, the store would be marked as lost
// although it works, and all handlers would start again together and time out again.
func TestAStoreThatIsSlowAndWorksIsNotLost(t *testing.T) {
	t.Parallel()
	record(t, &disk{slow: 3 * time.Second}, func(r *recording) {
		var handlers sync.WaitGroup
		var stored atomic.Int32
		for n := range 3 {
			handlers.Go(func() {
				for range 20 {
					if _, err := r.within(4500*time.Millisecond, int64(n+1)); err == nil {
						stored.Add(1)
					}
				}
			})
		}
		handlers.Wait()
		<-time.After(time.Minute) // until the last append has ended, whose handler has given up
		if lost := r.logs.FilterMessage("store_lost").Len(); lost > 0 || stored.Load() == 0 {
			r.Errorf("%d of 60 batches are stored, and the store was lost %d times", stored.Load(), lost)
		}
	})
}

func TestLossOfAnIdleStoreIsNoticed(t *testing.T) {
	t.Parallel()
	record(t, &disk{}, func(r *recording) {
		r.disk.set(func(d *disk) { d.dead = true })
		<-time.After(12 * time.Second)
		if r.Err() == nil {
			r.Error("the store is away, and it is not lost")
		}
		r.disk.set(func(d *disk) { d.dead = false })
		if err := r.Wait(r.Context()); err != nil || r.Err() != nil {
			r.Errorf("back: %v, store %v", err, r.Err())
		}
	})
}

func TestCallersCancellationIsNoLossOfTheStore(t *testing.T) {
	t.Parallel()
	record(t, &disk{hold: make(chan struct{})}, func(r *recording) {
		ctx, cancel := context.WithCancel(r.Context())
		var call sync.WaitGroup
		call.Go(func() { _, _ = r.Record(ctx, batch(1)) })
		synctest.Wait()
		cancel()
		call.Wait()
		if r.Err() != nil {
			r.Errorf("the store counts as lost: %v", r.Err())
		}
		close(r.disk.hold)
	})
}
