package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// pinning keeps this process and the worker on a core each, so that neither takes time from the other. The zero value
// pins nothing.
type pinning struct {
	taskset              string
	allowed, ours, other string
}

// pin moves this process to one core and finds another one for the workers. Where that cannot be had, it says why.
func pin() (pinning, string) {
	if runtime.GOOS != "linux" {
		return pinning{}, "no pinning on " + runtime.GOOS
	}
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return pinning{}, "no pinning: there is no taskset (util-linux)"
	}
	status, _ := os.ReadFile("/proc/self/status")
	allowed := field(string(status), "Cpus_allowed_list:")
	cores := parseCores(allowed)
	if len(cores) < 2 {
		return pinning{}, "no pinning: there is one core only"
	}
	p := pinning{taskset: taskset, allowed: allowed, ours: cores[0], other: cores[1]}
	if err := p.move(p.ours); err != nil {
		return pinning{}, "no pinning: " + err.Error()
	}
	runtime.GOMAXPROCS(1)
	return p, fmt.Sprintf("the gateway on core %s, the workers on core %s", p.ours, p.other)
}

// release gives this process back the cores that it had.
func (p pinning) release() error {
	if p.taskset == "" {
		return nil
	}
	runtime.SetDefaultGOMAXPROCS()
	return p.move(p.allowed)
}

// move moves all threads of this process.
func (p pinning) move(cores string) error {
	out, err := exec.Command(p.taskset, "-a", "-c", "-p", cores, strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset to %s: %w: %s", cores, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// prefix goes before a command that is to run on the workers' core.
func (p pinning) prefix() []string {
	if p.taskset == "" {
		return nil
	}
	return []string{p.taskset, "-c", p.other}
}

// parseCores reads a list such as "0-3,6".
func parseCores(list string) []string {
	var cores []string
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(high); err != nil {
				return nil
			}
		}
		for n := first; n <= last; n++ {
			cores = append(cores, strconv.Itoa(n))
		}
	}
	return cores
}
