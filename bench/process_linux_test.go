package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// It is known on Linux only; the table does without it elsewhere.
func TestTheCPUTimeOfChildrenThatEndedCounts(t *testing.T) {
	before, err := familyCPU(os.Getpid())
	check.Must(t, err)
	child := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	check.Must(t, child.Run())
	used := child.ProcessState.UserTime() + child.ProcessState.SystemTime()
	after, err := familyCPU(os.Getpid())
	check.Must(t, err)
	const tick = time.Second / ticksPerSecond
	if after-before < used-2*tick || used < 5*tick {
		t.Errorf("%v more, of which the child used %v", after-before, used)
	}
	if _, err := familyCPU(1 << 30); err == nil {
		t.Error("the CPU time of nobody is known")
	}
}
