package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// ErrEnded is the cause for which the context of [Process.While] ends with the process. [Process.Await] and [Serve] return it.
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
		return nil, errors.Join(fmt.Errorf("%w; its log %s ends with:\n%s", err, logFile, LogTail(logFile)), p.Kill())
	}
	return p, nil
}

// While returns a context that ends with ctx or with the process, whichever is first. Its cause is [ErrEnded] with how the
// process has ended.
func (p *Process) While(ctx context.Context) (alive context.Context, cancel func()) {
	alive, end := context.WithCancelCause(ctx)
	go func() {
		if p.Wait(alive) == nil {
			end(fmt.Errorf("%w with %w", ErrEnded, cmp.Or(p.err, errors.New("exit status 0"))))
		}
	}()
	return alive, func() { end(nil) }
}

// Await calls ready until it returns true, and returns [ErrEnded] or the context's error if the process or the context ends
// first. The context of ready ends with the process: where a stranger has the port, an attempt hangs.
func (p *Process) Await(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := p.While(ctx)
	defer cancel()
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
	if len(raw) > most {
		raw = raw[len(raw)-most:]
		raw = raw[bytes.IndexByte(raw, '\n')+1:] // the line that was cut
	}
	return string(raw)
}
