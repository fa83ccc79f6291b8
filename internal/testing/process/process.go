// Package process starts a program in a process group of its own, finds it again from another process, and ends it.
// It belongs to the development tools: brokers and workers that a test or the sandbox runs.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pollInterval is how often a process that is not our child is looked at while waiting for its end.
const pollInterval = 50 * time.Millisecond

// Process is a running program, either started here ([Start]) or by an earlier process ([Attach]).
type Process struct {
	pid    int
	marker string
	// done and err belong to processes started here: err may be read once done is closed. done is nil for the others.
	done chan struct{}
	err  error
}

// Start runs cmd as the leader of a new process group. It dies with this process where the system can see to that
// (Linux; not its children), unless detach is set: then it gets a session of its own and outlives us. Of the command's
// own system attributes only the user (Credential) counts.
func Start(cmd *exec.Cmd, detach bool) (*Process, error) {
	attr := attributes(detach)
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

// Attach refers to a process that another one started. marker is a text in its command line, which distinguishes it from
// a stranger that got the same number later. A process without it counts as ended, as does any if marker is empty.
func Attach(pid int, marker string) *Process {
	return &Process{pid: pid, marker: marker}
}

// PID returns the number of the process, which is also that of its group.
func (p *Process) PID() int { return p.pid }

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	if p.done == nil {
		return p.marker != "" && strings.Contains(commandLine(p.pid), p.marker)
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Err returns how a process that was started here has ended: nil while it runs or when it exited with 0.
func (p *Process) Err() error {
	if p.done == nil || p.Alive() {
		return nil
	}
	return p.err
}

// Wait returns when the process has ended, or with the context's error.
func (p *Process) Wait(ctx context.Context) error {
	if p.done != nil {
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for p.Alive() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Signal sends sig to the process group. A process that has already ended is not an error.
func (p *Process) Signal(sig syscall.Signal) error {
	if !p.Alive() {
		return nil
	}
	if err := syscall.Kill(-p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %v to process group %d: %w", sig, p.pid, err)
	}
	return nil
}

// Kill ends the process group at once (SIGKILL) and waits until it is gone.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	return p.Wait(context.Background())
}

// Stop asks the process to end (SIGTERM) and kills it when grace is over or the context ends. It reports true when the
// process ended by itself.
func (p *Process) Stop(ctx context.Context, grace time.Duration) (bool, error) {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return false, err
	}
	bounded, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if p.Wait(bounded) == nil {
		return true, nil
	}
	return false, p.Kill()
}

// commandLine returns the arguments of a process, or "" where it is gone. A zombie has none either.
func commandLine(pid int) string {
	if raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil {
		return strings.ReplaceAll(string(raw), "\x00", " ")
	}
	out, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(out)
}
