package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// ErrEnded is returned by [Process.Await] and [Serve] when the process has ended.
var ErrEnded = errors.New("it has ended")

// Serve starts a server, as [Start] does, and returns once ready reports that it answers. What it prints is appended to the
// log, the end of which is part of an error.
func Serve(ctx context.Context, cmd *exec.Cmd, logFile string, ready func(context.Context) bool) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open its log: %w", err)
	}
	defer log.Close() // the server has its own handle on it
	cmd.Stdout, cmd.Stderr = log, log
	p, err := Start(cmd)
	if err != nil {
		return nil, err
	}
	if err := p.Await(ctx, ready); err != nil {
		if ended := p.Err(); ended != nil {
			err = fmt.Errorf("%w before it was ready, with %w", err, ended)
		}
		return nil, errors.Join(fmt.Errorf("%w; its log %s ends with:\n%s", err, logFile, LogTail(logFile)), p.Kill())
	}
	return p, nil
}

// Await calls ready until it returns true, and returns [ErrEnded] or the context's error if the process or the context ends
// first. The context of ready ends with the process: where a stranger has the port, an attempt hangs.
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

// LogTail returns the end of a log, which says why a program does not start, or the reason why it cannot be read.
func LogTail(path string) string {
	const most = 2000
	raw, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-most):])
}
