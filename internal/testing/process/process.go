// Package process starts a program and ends it. It belongs to the development tools: servers and workers that a test or the
// sandbox runs.
package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// pollInterval is how often a server is asked while waiting until it is ready.
const pollInterval = 50 * time.Millisecond

// Process is a program that was started by [Start].
type Process struct {
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // to be read once done is closed
}

// Start runs cmd, which a Ctrl-C in our terminal does not reach. It dies with this process where the system can see to that
// (Linux; not its children). Of the command's own system attributes only the user (Credential) counts.
func Start(cmd *exec.Cmd) (*Process, error) {
	attr := attributes()
	if cmd.SysProcAttr != nil {
		attr.Credential = cmd.SysProcAttr.Credential
	}
	cmd.SysProcAttr = attr
	p := &Process{done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// Linux ties "dies with its parent" to the thread that forked, so that thread has to live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.pid }

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Err returns how the process has ended: nil while it runs or when it exited with 0.
func (p *Process) Err() error {
	if p.Alive() {
		return nil
	}
	return p.err
}

// Wait returns when the process has ended, or with the context's error.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Signal sends sig to the process. One that has already ended is not an error.
func (p *Process) Signal(sig syscall.Signal) error {
	if !p.Alive() {
		return nil
	}
	if err := syscall.Kill(p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %v to process %d: %w", sig, p.pid, err)
	}
	return nil
}

// Kill ends the process at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return p.Wait(context.Background())
}

// Stop asks the process to end (SIGTERM). One that has not ended when grace is over is killed, which is an error.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("process %d did not end within %v of SIGTERM and was killed", p.pid, grace), p.Kill())
	}
}
