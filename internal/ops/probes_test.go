package ops

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestConcurrentReadinessRequestsCostOneCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		release := make(chan struct{})
		p := &probes{Options: Options{Ready: func(context.Context) error {
			checks.Add(1)
			<-release
			return nil
		}}}
		answers := make(chan error)
		for range 20 {
			go func() { answers <- p.ready(t.Context()) }()
		}
		synctest.Wait()
		close(release)
		for range 20 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if n := checks.Load(); n != 1 {
			t.Errorf("%d checks", n)
		}
	})
}
