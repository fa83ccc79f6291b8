package ops

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestConcurrentReadinessRequestsCostOneCheckOfLessThanASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		p := &probes{Options: Options{Ready: func(ctx context.Context) error {
			checks.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}}}
		answers, began := make(chan error), time.Now()
		for range 20 {
			go func() { answers <- p.ready(t.Context()) }()
		}
		for range 20 {
			if err := <-answers; !errors.Is(err, context.DeadlineExceeded) || time.Since(began) >= time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
		check.Same(t, 1, checks.Load(), "checks")
	})
}
