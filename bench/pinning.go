package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// pinning keeps this process and the worker on a core each, so that neither takes time from the other. The zero value
// pins nothing.
type pinning struct {
	taskset     string
	ours, other uint64
}

// pin moves this process to one core and finds another one for the workers. Where that cannot be had, it says why.
func pin() (pinning, string) {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return pinning{}, "no pinning: there is no taskset (Linux, util-linux)"
	}
	self, _ := procfs.Self() // Linux has it
	status, _ := self.NewStatus()
	if len(status.CpusAllowedList) < 2 {
		return pinning{}, "no pinning: there is one core only"
	}
	p := pinning{taskset, status.CpusAllowedList[0], status.CpusAllowedList[1]}
	if err := p.move(p.ours); err != nil {
		return pinning{}, "no pinning: " + err.Error()
	}
	runtime.GOMAXPROCS(1)
	return p, fmt.Sprintf("the gateway on core %d, the workers on core %d", p.ours, p.other)
}

// move moves all threads of this process.
func (p pinning) move(core uint64) error {
	out, err := exec.Command(p.taskset, "-a", "-c", "-p", fmt.Sprint(core), strconv.Itoa(os.Getpid())).CombinedOutput()
	if err != nil {
		return fmt.Errorf("taskset to %d: %w: %s", core, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// prefix goes before a command that is to run on the workers' core.
func (p pinning) prefix() []string {
	if p.taskset == "" {
		return nil
	}
	return []string{p.taskset, "-c", strconv.FormatUint(p.other, 10)}
}
