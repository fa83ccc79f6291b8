// Package suite is what the sandbox and the suites on a cluster share: the worker that they build and start, and the frame of
// a suite's TestMain.
package suite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
)

// Run runs a suite of this name, so many of its tests at a time, with a worker that is built for it in a directory that goes
// with the suite. It returns the exit code: the one that run returns, or 1 where it fails, which is printed.
func Run(name string, parallel int, run func(worker string) (code int, err error)) (code int) {
	dir, err := os.MkdirTemp("", name+"-")
	defer os.RemoveAll(dir)
	worker := filepath.Join(dir, "worker")
	if err = errors.Join(err, flag.Set("test.parallel", strconv.Itoa(parallel)), BuildWorker(worker)); err == nil {
		code, err = run(worker)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return code
}

// BuildWorker builds the worker with the flags of the test that calls it: so it shares what is in Go's cache, and has the race
// detector if the test has it.
func BuildWorker(binary string) error {
	args, cgo := []string{"build", "-buildvcs=false", "-o", binary}, "CGO_ENABLED=0"
	info, _ := debug.ReadBuildInfo() // a test has it
	for _, s := range info.Settings {
		switch {
		case s.Key == "-tags":
			args = append(args, "-tags="+s.Value)
		case s.Value != "true":
		case s.Key == "-race":
			args, cgo = append(args, s.Key), "CGO_ENABLED=1"
		case s.Key == "-trimpath":
			args = append(args, s.Key)
		}
	}
	build := exec.Command("go", append(args, "hospital.example/analyze-retry/cmd/worker")...)
	build.Env = append(os.Environ(), cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return nil
}
