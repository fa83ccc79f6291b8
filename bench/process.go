package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a worker may take to end by itself.
const stopTimeout = 10 * time.Second

// child is a worker that runs.
type child struct {
	name    string
	cmd     *exec.Cmd
	started time.Time
	ended   chan struct{} // closed when the process has ended
	end     context.CancelFunc
	stderr  bytes.Buffer // to be read when it has ended
}

// startChild starts a worker against a gateway, on one core where there is a pinning. Its log goes to the null device,
// as real lines that are really written.
func startChild(ctx context.Context, w contender, address string, kept storage, pin pinning) (*child, error) {
	argv, environment := w.command(address)
	environment = append(environment, kept.environment()...)
	argv = append(pin.prefix(), argv...)
	ctx, end := context.WithCancel(ctx)
	c := &child{name: w.name, ended: make(chan struct{}), end: end}
	c.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	// Nothing of the caller's environment: a GOGC or a GOMAXPROCS there would be measured.
	c.cmd.Env = append(environment, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
	c.cmd.Stderr = &c.stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = stopTimeout
	c.started = time.Now()
	if err := c.cmd.Start(); err != nil {
		end()
		return nil, fmt.Errorf("start the %s: %w", w.name, err)
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // the process's state says all
	}()
	return c, nil
}

// stop ends the worker with SIGTERM and returns the CPU time, user and system, of its whole life.
func (c *child) stop() (time.Duration, error) {
	c.end()
	<-c.ended
	state := c.cmd.ProcessState
	if state == nil || !state.Success() {
		return 0, fmt.Errorf("the %s ended with %v: %s", c.name, state, lastWords(c.stderr.String()))
	}
	return state.UserTime() + state.SystemTime(), nil
}

func lastWords(text string) string { return text[max(0, len(text)-2000):] }

// errNoProc is returned where the system has no /proc.
var errNoProc = errors.New("no /proc on " + runtime.GOOS)

// cpu is the CPU time of the worker's threads so far, exact to a scheduler's tick. It is known on Linux only.
func (c *child) cpu() (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", c.cmd.Process.Pid))
	if err != nil || len(files) == 0 {
		return 0, errNoProc
	}
	var total time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		nanoseconds, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(nanoseconds, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", file, err)
		}
		total += time.Duration(n)
	}
	return total, nil
}

// familyCPU is the CPU time so far of a process and of its children, those that it has seen end included. It is known on
// Linux only.
func familyCPU(pid int) (time.Duration, error) {
	for range 100 {
		before := childrenOf(pid)
		total := ticks(pid, 4)
		for _, child := range before {
			total += ticks(child, 2)
		}
		// A child that ended meanwhile was counted once more, or not at all.
		if total > 0 && slices.Equal(before, childrenOf(pid)) {
			return time.Duration(total) * time.Second / ticksPerSecond, nil
		}
	}
	return 0, errNoProc
}

// ticksPerSecond is the unit of the CPU times in /proc, the same on all of Linux.
const ticksPerSecond = 100

// ticks sums up the CPU times of a process: user and system, and those of the children that have ended.
func ticks(pid, fields int) (total int64) {
	values := stat(pid)
	if len(values) < 15 {
		return 0
	}
	for _, value := range values[11 : 11+fields] {
		n, _ := strconv.ParseInt(value, 10, 64) // the kernel's own
		total += n
	}
	return total
}

// childrenOf are the processes whose parent is pid, in a fixed order.
func childrenOf(pid int) (children []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, entry := range entries {
		child, err := strconv.Atoi(filepath.Base(entry))
		if values := stat(child); err == nil && len(values) > 1 && values[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children
}

// stat is what /proc says about a process, from its state on; nil where it is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name, in parentheses, may hold anything.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// memory is the most memory in bytes that the worker ever held at a time; where there is no /proc, what it holds now.
// (The figure of getrusage will not do: it counts what this program held when it started the worker.)
func (c *child) memory() (int64, error) {
	pid := strconv.Itoa(c.cmd.Process.Pid)
	text, err := os.ReadFile("/proc/" + pid + "/status")
	kilobytes := field(string(text), "VmHWM:")
	if err != nil {
		if text, err = exec.Command("ps", "-o", "rss=", "-p", pid).Output(); err != nil {
			return 0, fmt.Errorf("ask ps for the memory of the %s: %w", c.name, err)
		}
		kilobytes = strings.TrimSpace(string(text))
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(kilobytes, " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of the %s: %w", c.name, err)
	}
	return n << 10, nil
}

// field is the value of the line of a text in /proc that starts with the name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
