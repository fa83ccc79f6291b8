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
func startChild(ctx context.Context, w contender, address string, pin pinning) (*child, error) {
	argv, environment := w.command(address)
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
