package outage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/ops/outage"
	"hospital.example/analyze-retry/internal/testing/check"
)

var errDown = errors.New("connection refused")

func TestLossAndReturnAreAwaitedAndLoggedOnceWithTheirDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		tracker := &outage.Tracker{
			Log: zap.New(core), Lost: "store_lost", Back: "store_back", Level: zapcore.ErrorLevel, Detail: "jobs wait", Tolerance: time.Second,
			Backoff: outage.Backoff{Min: 50 * time.Millisecond, Max: 3 * time.Second},
		}
		for began := time.Now(); time.Since(began) < time.Hour; {
			outage.Sleep(t.Context(), tracker.Failed(time.Now(), errDown))
			if lost := tracker.Err() != nil; lost && time.Since(began) < time.Second {
				t.Fatalf("lost after %v, want a second's tolerance", time.Since(began))
			}
		}
		if !errors.Is(tracker.Err(), errDown) {
			t.Errorf("lost for %v, want the last failure", tracker.Err())
		}
		ended, end := context.WithCancel(t.Context())
		end()
		check.Fails(t, tracker.Wait(ended), context.Canceled.Error())
		waited := make(chan error)
		go func() { waited <- tracker.Wait(t.Context()) }()
		synctest.Wait()
		if !tracker.Succeeded() || tracker.Succeeded() || tracker.Err() != nil || <-waited != nil || tracker.Wait(t.Context()) != nil {
			t.Errorf("after the return it is lost for %v", tracker.Err())
		}
		all := logs.All()
		if len(all) != 2 || all[0].Message != "store_lost" || all[0].Level != zapcore.ErrorLevel || all[1].Message != "store_back" {
			t.Fatalf("logged %v, want one loss and one return", all)
		}
		if lost := all[0].ContextMap(); lost["error"] != errDown.Error() || lost["detail"] != "jobs wait" {
			t.Errorf("loss is logged with %v", lost)
		}
		if pause := tracker.Failed(time.Now(), errDown); pause > 100*time.Millisecond {
			t.Errorf("the first pause of the next outage is %v", pause)
		}
		check.Same(t, time.Hour, all[1].ContextMap()["awayFor"].(time.Duration).Round(time.Minute), "awayFor")
	})
}

func TestPausesGrowToTheirMaximumAndDiffer(t *testing.T) {
	first := map[time.Duration]bool{}
	for range 100 {
		b := outage.Backoff{Min: 50 * time.Millisecond, Max: 3 * time.Second}
		for bound := 100 * time.Millisecond; bound < 3*time.Second; bound *= 2 {
			pause := b.Next()
			if pause < bound/2 || pause > bound {
				t.Fatalf("pause %v, want %v to %v", pause, bound/2, bound)
			}
			first[pause] = true
		}
		if pause := b.Next(); pause < 1500*time.Millisecond || pause > 3*time.Second {
			t.Errorf("last pause %v, want 1.5 s to 3 s", pause)
		}
	}
	if len(first) < 400 {
		t.Errorf("%d different pauses among 500", len(first))
	}
}
