// Package faults makes the system calls of a running process fail, and disks that are full, for tests of what a program
// does then. Both are real: the process and its file system are the ones of production, nothing in them is replaced.
package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
)

// detachTimeout is how long strace may take to let go of all threads.
const detachTimeout = 30 * time.Second

// Fault is an error that some system calls return instead of being carried out, or a delay before they are.
type Fault struct {
	calls string // as strace names them, with commas
	does  string // as strace takes it
}

// The faults of a disk. SQLite in Go (modernc.org/sqlite) writes with pwrite64 and ftruncate and flushes with fsync; the
// log of a process goes through write, which stays whole.
var (
	// SyncFails is a disk that cannot flush: EIO.
	SyncFails = Fault{calls: "fsync,fdatasync", does: "error=EIO"}
	// SyncHangs is a disk that takes three seconds to flush, each time.
	SyncHangs = Fault{calls: "fsync,fdatasync", does: "delay_enter=3000000"}
	// NoSpace is a disk that is full: ENOSPC.
	NoSpace = Fault{calls: "pwrite64,ftruncate,fallocate", does: "error=ENOSPC"}
	// ReadOnly is a file system that became read-only under a running process: EROFS.
	ReadOnly = Fault{calls: "pwrite64,ftruncate,fallocate,unlink,unlinkat", does: "error=EROFS"}
)

// Injection is a fault that a process has, from [Attach] to [Injection.Detach].
type Injection struct {
	strace *process.Process
	output string
}

// Attach gives a running process, with all its threads, a fault, and returns once it has it. It needs strace and the
// right to trace the process: being root, or its parent's user where the system allows that. A process can have one
// fault at a time.
func Attach(ctx context.Context, pid int, f Fault) (*Injection, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return nil, errors.New("strace is missing: install it (Debian: apt-get install strace)")
	}
	output, err := os.CreateTemp("", "strace-")
	if err != nil {
		return nil, err
	}
	defer output.Close() // strace has its own handle on it
	cmd := exec.Command(strace, "-f", "-p", strconv.Itoa(pid),
		"-e", "trace="+f.calls, "-e", "inject="+f.calls+":"+f.does, "-e", "signal=none")
	cmd.Stderr = output
	i := &Injection{output: output.Name()}
	if i.strace, err = process.Start(cmd, false); err != nil {
		return nil, errors.Join(err, os.Remove(i.output))
	}
	if err := i.strace.Await(ctx, func(context.Context) bool { return i.printed(" attached") > 0 }); err != nil {
		text := process.LogTail(i.output)
		_, detachErr := i.Detach()
		return nil, errors.Join(fmt.Errorf("attach strace to process %d: %w\n%s", pid, err, text), detachErr)
	}
	return i, nil
}

// Count is how many system calls the fault has hit so far.
func (i *Injection) Count() int { return i.printed("(INJECTED)") + i.printed("(DELAYED)") }

// printed counts a text in what strace has written; 0 after Detach.
func (i *Injection) printed(text string) int {
	raw, err := os.ReadFile(i.output)
	if err != nil {
		return 0
	}
	return strings.Count(string(raw), text)
}

// Detach ends the fault and returns how many system calls it has hit. The process goes on. To be called once.
func (i *Injection) Detach() (failed int, err error) {
	// SIGTERM and SIGKILL would leave it to the kernel to let the threads go, wherever they stand.
	if err := i.strace.Signal(syscall.SIGINT); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), detachTimeout)
	defer cancel()
	if err := i.strace.Wait(ctx); err != nil {
		return 0, errors.Join(fmt.Errorf("strace does not detach: %w", err), i.strace.Kill())
	}
	failed = i.Count()
	return failed, os.Remove(i.output)
}
