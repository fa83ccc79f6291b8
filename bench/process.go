package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
)

// stopTimeout is how long a worker may take to end by itself.
const stopTimeout = 10 * time.Second

// child is a worker that runs.
type child struct {
	*process.Process
	name    string
	cmd     *exec.Cmd
	started time.Time
	stderr  bytes.Buffer // to be read when it has ended
}

// surroundings are what a worker runs in: a gateway, its store, and one core if there is a pinning.
type surroundings struct {
	address string
	kept    storage
	pinned  pinning
}

// startChild starts a worker. Its log goes to the null device, as real lines that are really written.
func startChild(w contender, in surroundings) (*child, error) {
	argv := append(in.pinned.prefix(), w.command(in.address)...)
	c := &child{name: w.name, cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Env = environment(append(workerSettings(in.address), in.kept.environment()...)...)
	c.cmd.Stderr = &c.stderr
	c.started = time.Now()
	var err error
	if c.Process, err = process.Start(c.cmd, false); err != nil {
		return nil, fmt.Errorf("start the %s: %w", w.name, err)
	}
	return c, nil
}

// environment returns these settings and nothing else of the caller's: a GOGC or a GOMAXPROCS there would be measured.
func environment(settings ...string) []string {
	return append(settings, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
}

// measured runs a worker for as long as watch takes, and returns what it used for so many jobs. The caller has to add what
// it saw itself.
func measured(w contender, in surroundings, jobs int, watch func(*child) error) (sample, error) {
	used := in.kept.used()
	c, err := startChild(w, in)
	if err != nil {
		return sample{}, err
	}
	err = watch(c)
	var memory int64
	if err == nil {
		memory, err = c.memory()
	}
	cpu, stopped := c.stop()
	if err := errors.Join(err, stopped); err != nil {
		return sample{}, err
	}
	return sample{cpuPerJob: micros(cpu) / float64(jobs), serverCPUPerJob: used() / float64(jobs), memory: memory}, nil
}

// stop ends the worker with SIGTERM and returns the CPU time, user and system, of its whole life.
func (c *child) stop() (time.Duration, error) {
	_, err := c.Stop(context.Background(), stopTimeout)
	if state := c.cmd.ProcessState; err == nil && state.Success() {
		return state.UserTime() + state.SystemTime(), nil
	}
	return 0, fmt.Errorf("the %s ended with %v (%w): %s", c.name, c.cmd.ProcessState, err, lastWords(c.stderr.String()))
}

func lastWords(text string) string { return text[max(0, len(text)-2000):] }

// errNoProc is returned where the system has no /proc.
var errNoProc = errors.New("no /proc on " + runtime.GOOS)

// familyCPU returns the CPU time so far of a process and of its children, those that it has seen end included. It is known on
// Linux only.
func familyCPU(pid int) (time.Duration, error) {
	for range 100 {
		before := process.Children(pid)
		total := ticks(pid, 4)
		for _, child := range before {
			total += ticks(child, 2)
		}
		// A child that ended meanwhile was counted once more, or not at all.
		if total > 0 && slices.Equal(before, process.Children(pid)) {
			return time.Duration(total) * time.Second / ticksPerSecond, nil
		}
	}
	return 0, errNoProc
}

// ticksPerSecond is the unit of the CPU times in /proc, the same on all of Linux.
const ticksPerSecond = 100

// ticks returns the sum of the CPU times of a process: user and system, and those of the children that have ended.
func ticks(pid, fields int) (total int64) {
	values := process.Stat(pid)
	if len(values) < 15 {
		return 0
	}
	for _, value := range values[11 : 11+fields] {
		n, _ := strconv.ParseInt(value, 10, 64) // the kernel's own
		total += n
	}
	return total
}

// memory returns the most memory in bytes that the worker ever held at a time; 0 where there is no /proc. (The figure of
// getrusage will not do: it counts what this program held when it started the worker.)
func (c *child) memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.PID()))
	if err != nil {
		return 0, nil //nolint:nilerr // the table does without it
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(field(string(text), "VmHWM:"), " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of the %s: %w", c.name, err)
	}
	return n << 10, nil
}

// field returns the value of the line of a text in /proc that starts with the name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
