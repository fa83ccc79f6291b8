package process

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrEnded is returned by [Process.Await] when the process has ended.
var ErrEnded = errors.New("it has ended")

// Await asks ready again and again until it says so, and returns [ErrEnded] or the context's error where the process or
// the context ends before. The context of ready ends with the process: where a stranger has the port, an attempt hangs.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if p.Wait(ctx) == nil {
			cancel(ErrEnded)
		}
	}()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !ready(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// LogTail is the end of a log, which says why a program does not start, or the reason why it cannot be read.
func LogTail(path string) string {
	const most = 2000
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-most):])
}
