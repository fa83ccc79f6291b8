package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/process"
)

// call runs a command line with a cache of its own, so that it neither sees nor touches what the developer has up.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callWith(t, t.TempDir(), args...)
}

// callWith runs a command line with this cache.
func callWith(t *testing.T, cache string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(devbroker.EnvCache, cache)
	var out, complaints strings.Builder
	code = run(t.Context(), args, &out, &complaints)
	return code, out.String(), complaints.String()
}

func TestMistakesAreNamedWithTheirExitCode(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"frob"}, exitUsage, `unknown command "frob"`},
		{[]string{"down", "now"}, exitUsage, `unknown command "now" for "sandbox down"`},
		{[]string{"up", "--frob"}, exitUsage, "unknown flag: --frob"},
		{[]string{"skip"}, exitUsage, "accepts 1 arg(s), received 0"},
		{[]string{"skip", "10"}, exitUsage, `"10" is no time to skip`},
		{[]string{"skip", "0s"}, exitUsage, `"0s" is no time to skip`},
		{[]string{"skip", "10m"}, exitFailure, "nothing is running"},
		{[]string{"tasks"}, exitFailure, "nothing is running"},
		{[]string{"complete", "x", "{}"}, exitUsage, `"x" is no key of a user task`},
		{[]string{"complete", "7", "[]"}, exitUsage, "the variables are no JSON object"},
		{[]string{"complete", "7", "{}"}, exitFailure, "nothing is running"},
		{[]string{"demo", "--claims", "no-such.csv"}, exitFailure, "open no-such.csv"},
		{[]string{"up", "--http-address", "192.0.2.1:1"}, exitFailure, "choose another --http-address"},
	} {
		code, _, complaint := call(t, c.args...)
		if code != c.code || !strings.Contains(complaint, c.says) || strings.Contains(complaint, "How it is used") != (c.code == exitUsage) {
			t.Errorf("%v: exit %d, %q", c.args, code, complaint)
		}
	}
}

// stand starts a process that can be found by a mark in its command line.
func stand(t *testing.T, mark string) *process.Process {
	t.Helper()
	p, err := process.Start(exec.Command("sh", "-c", "sleep 1000; : "+mark), false)
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func TestUpLeavesAndDownStopsWhatRuns(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(devbroker.EnvCache, cache)
	data := filepath.Join(cache, "data")
	broker, worker := stand(t, data), stand(t, "/bin/worker")
	s := sandbox{
		Broker: devbroker.State{Version: "8.5.8", Dir: data, PID: broker.PID(), Ports: devbroker.Ports{Gateway: 26500}},
		Worker: workerState{PID: worker.PID(), Binary: "/bin/worker", HTTPAddress: "127.0.0.1:8080"},
	}
	check.Must(t, s.save())

	code, out, complaint := callWith(t, cache, "up")
	if code != exitOK || !strings.HasPrefix(out, "It is already up.\n") || !strings.Contains(out, "127.0.0.1:26500") {
		t.Errorf("up: exit %d, %q, %q", code, out, complaint)
	}
	code, out, complaint = callWith(t, cache, "down")
	if code != exitOK || !strings.Contains(out, "Stopped the worker") || !strings.Contains(out, "Stopped the broker") || !strings.Contains(out, data) {
		t.Errorf("down: exit %d, %q, %q", code, out, complaint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := errors.Join(broker.Wait(ctx), worker.Wait(ctx)); err != nil {
		t.Errorf("still there: %v", err)
	}
	if _, out, _ := callWith(t, cache, "down"); out != "Nothing is running.\n" {
		t.Errorf("down again: %q", out)
	}
}
