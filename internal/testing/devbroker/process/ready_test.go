package process

import (
	"context"
	"errors"
	"testing"
)

func TestAwaitEndsWithItsProcess(t *testing.T) {
	s := start(t, "echo started")
	err := s.Await(t.Context(), func(ctx context.Context) bool {
		<-ctx.Done()
		return false
	})
	if !errors.Is(err, ErrEnded) {
		t.Errorf("got %v", err)
	}
}

func TestAwaitAsksUntilTheProcessIsReady(t *testing.T) {
	s := start(t, "echo started; exec sleep 1000")
	asked := 0
	err := s.Await(t.Context(), func(context.Context) bool {
		asked++
		return asked == 3
	})
	if err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
