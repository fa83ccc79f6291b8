package audit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

func TestStoreIsLostAfterThreeTriesUntilItIsBack(t *testing.T) {
	t.Parallel()
	record(t, &disk{dead: true}, func(r *recording) {
		if _, err := r.within(5*time.Second, 1); !errors.Is(err, errDisk) || !errors.Is(r.Err(), errDisk) || r.failed.Load() != 3 {
			r.Fatalf("got %v, store %v, %d tries, want three", err, r.Err(), r.failed.Load())
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
			if err := r.Wait(r.Context()); err != nil || r.Err() != nil {
				r.Errorf("after the hang: %v, store %v", err, r.Err())
			}
		})
	}
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

func TestHungStoreIsNoticedWhileMarksWait(t *testing.T) {
	t.Parallel()
	record(t, &disk{hold: make(chan struct{}), deaf: true}, func(r *recording) {
		_, _ = r.within(time.Second, 1)
		r.Answered(7)
		<-time.After(10 * time.Second)
		if r.Err() == nil {
			r.Error("the store hangs, and it is not lost")
		}
		close(r.disk.hold)
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

func TestAcceptedAnswerIsNotUndeliveredAfterAnOutage(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} { // whether this recorder has the mark of the worker that was first
		record(t, &disk{marked: []int64{7}, dead: true}, func(r *recording) {
			_, _ = r.within(5*time.Second, 1)
			r.Gone(audit.Record{ID: 7, Key: audit.Key{JobKey: 7}})
			if own {
				r.Answered(7)
			}
			<-time.After(10 * time.Second)
			r.disk.set(func(d *disk) { d.dead = false })
			<-time.After(4 * time.Second)
			r.disk.set(func(d *disk) { d.marked = nil }) // another worker's mark, which it could not clear before
			<-time.After(10 * time.Second)
			for _, keys := range r.appends() {
				if slices.Contains(keys, 7) {
					r.Errorf("own mark %v: recorded %v", own, r.appends())
				}
			}
		})
	}
}

// The record that says so settles the answer, and its mark must stay until the record is stored.
func TestUndeliveredAnswerIsRecordedAfterAnOutage(t *testing.T) {
	t.Parallel()
	record(t, &disk{marked: []int64{7}, full: true}, func(r *recording) {
		r.Gone(audit.Record{ID: 7, Key: audit.Key{JobKey: 7}})
		<-time.After(10 * time.Second)
		r.disk.set(func(d *disk) { d.full = false })
		<-time.After(time.Minute)
		if n := len(slices.Concat(r.appends()...)); n != 1 {
			r.Errorf("%d records, want the one of what was not delivered", n)
		}
	})
}
