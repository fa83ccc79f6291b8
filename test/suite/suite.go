// Package suite is what the suites on a cluster share: the frame of their TestMain, the worker that they
// build, a broker with a connection to its gateway, and a look at a worker's HTTP server.
package suite

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
)

// SetupTimeout bounds what a suite makes before its tests: a first run compiles everything.
const SetupTimeout = 15 * time.Minute

// Run runs a suite of this name, so many of its tests at a time, in a directory that goes with it. It returns the exit
// code: the one that run returns, or 1 where it fails, which is printed.
func Run(name string, parallel int, run func(dir string) (code int, err error)) (code int) {
	err := flag.Set("test.parallel", strconv.Itoa(parallel))
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp("", name+"-")
	}
	if err == nil {
		defer os.RemoveAll(dir)
		code, err = run(dir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return code
}

// Get asks an HTTP server at host:port once. The status is 0 where it does not answer, and the text says why.
func Get(ctx context.Context, address, path string) (status int, text string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	request.Close = true // a connection that is kept would outlive the test
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

// BuildWorker builds the worker under test. It has the race detector if the tests have it.
func BuildWorker(binary string) error {
	ctx, cancel := context.WithTimeout(context.Background(), SetupTimeout)
	defer cancel()
	own := ownFlags()
	args := append([]string{"build", "-buildvcs=false", "-o", binary}, own...)
	build := exec.CommandContext(ctx, "go", append(args, "hospital.example/analyze-retry/cmd/worker")...)
	if !slices.Contains(own, "-race") {
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return nil
}

// ownFlags returns the flags with which the tests were compiled. With the same ones the worker shares what is
// in Go's cache.
func ownFlags() (flags []string) {
	info, _ := debug.ReadBuildInfo() // a test has it
	for _, s := range info.Settings {
		if (s.Key == "-race" || s.Key == "-trimpath") && s.Value == "true" {
			flags = append(flags, s.Key)
		}
	}
	return flags
}

// AfterTest returns the context of what is done when a test is over and its own context has ended.
func AfterTest() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}
