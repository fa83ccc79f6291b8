package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

// newBox returns a box with a worker that was built for it.
func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{program: suite.Program{Path: filepath.Join(t.TempDir(), "worker")}, dir: t.TempDir()}
	check.Must(t, suite.BuildWorker(b.program.Path))
	return b
}

func TestDemoBringsEachClaimToItsEndAndLeavesAStoreToAsk(t *testing.T) {
	t.Setenv("RETRY_DATABASE_URL", "postgres://production")
	var printed strings.Builder
	check.Must(t, demo(t.Context(), newBox(t), &printed))
	out := printed.String()
	check.Contains(t, out, "17 claims: 11 submitted, 5 abandoned, 1 incident.", "recovers on the 5th and last retry",
		"Claim CLM-2026-004214: accepted", "retry 5", "MAX_RETRIES_EXCEEDED")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{"Claim CLM-2026-004217: incident", "CLM-2026-004217", "success after retry"} {
		line := lines[len(lines)-3+i]
		answer, err := exec.CommandContext(t.Context(), "sh", "-c", "LC_ALL=en "+line).CombinedOutput()
		check.Must(t, err)
		check.Contains(t, string(answer), want)
	}
}

// until reads on until each part was printed in turn.
func until(t *testing.T, lines *bufio.Scanner, parts ...string) {
	t.Helper()
	for _, part := range parts {
		for !strings.Contains(lines.Text(), part) {
			if !lines.Scan() {
				t.Fatalf("%q was not printed: %v", part, lines.Err())
			}
		}
	}
}

func TestWhatIsUpPlaysTheInsurer(t *testing.T) {
	b := newBox(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	read, write := io.Pipe()
	go func() { write.CloseWithError(up(ctx, b, write)) }()
	lines := bufio.NewScanner(read)
	until(t, lines, "logs and data")
	t.Setenv(cluster.EnvAddress, b.engine.Address())
	check.Must(t, run(t.Context(), strings.Fields("claim CLM-001-1 TIMEOUT INSURANCE_EXPIRED"), io.Discard))
	until(t, lines, "CLM-001-1 Task_SubmitClaim: TIMEOUT")
	_, err := b.engine.AwaitRecord(t.Context(), func(r cluster.Record) bool {
		return r.Is("TIMER", "CREATED") && r.TargetElementID == "Event_WaitBackoff"
	})
	check.Must(t, err)
	check.Must(t, b.engine.Advance(t.Context(), 10*time.Minute)) // the first wait is 5, and its jitter
	until(t, lines, "Task_SubmitClaim: INSURANCE_EXPIRED", "Task_NotifyRegistration: OK")
	again := "redrive --claim CLM-001-1 --force --checked --operator ana --reason renewed"
	check.Must(t, b.program.Command(t.Context(), strings.Fields(again)...).Run())
	until(t, lines, "CLM-001-1 Task_SubmitClaim: OK")
	cancel()
	_, err = io.Copy(io.Discard, read)
	check.Must(t, err)
}

func TestAWorkerThatEndsEndsWhatRunsOnIt(t *testing.T) {
	b := newBox(t)
	err := b.run(t.Context(), func(ctx context.Context) error {
		check.Must(t, b.worker.Kill())
		<-ctx.Done()
		return ctx.Err()
	})
	check.Fails(t, err, "the worker is gone", "signal: killed", "worker_started", "run this again")
}

func TestMistakesAreNamed(t *testing.T) {
	t.Setenv(cluster.EnvAddress, "")
	check.Fails(t, run(t.Context(), []string{"up", "now"}, io.Discard), "how it is used")
	check.Fails(t, run(t.Context(), []string{"claim", "CLM-001-1"}, io.Discard), "set ZEEBE_ADDRESS")
}
