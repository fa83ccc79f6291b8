// Command bench compares the worker with two others: the client library's own worker (zbc.NewJobWorker), which completes
// every job at once and decides nothing, and the first worker that a team writes on it, with one INSERT a job. All are
// processes of their own and take turns within one run, so that only ratios are compared and a slow machine, or a busy one,
// slows all.
//
// It measures and does not judge: it exits 0 whatever the figures are, and 1 where a worker gave a wrong answer, where no
// figure would mean anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 3 && others[os.Args[1]] != nil {
		exit(os.Args[1], others[os.Args[1]](ctx, os.Args[2]))
		return
	}
	rounds := flag.Int("rounds", 7, "rounds; every worker runs once in each")
	jobs := flag.Int("jobs", 20_000, "jobs of each worker in each of them, 100 or more")
	past := flag.Int("past", 60_000, "claims that every store has seen fail before, most of them accepted since; 0 for an empty store")
	against := flag.String("against", "", "another build of the worker, which takes part with both stores in place of the first worker")
	flag.Parse()
	if *rounds < 1 || *jobs < 100 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	exit("bench", run(ctx, *rounds, *jobs, *past, *against))
}

func exit(name string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// bench is what the workers run on: a directory for stores, a key, and a PostgreSQL server.
type bench struct {
	dir, program string
	secret       *audit.Secret
	server       *devpostgres.Server
	pinned       pinning
	past         int // jobs that every store has seen before
}

// run lets the workers take turns, each round beginning with another one, and prints how they compare.
func run(ctx context.Context, rounds, jobs, past int, against string) (err error) {
	b := &bench{past: past}
	if b.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.secret, err = audit.NewSecret(); err != nil {
		return err
	}
	b.program = filepath.Join(b.dir, "worker")
	if err := build(ctx, b.program); err != nil {
		return err
	}
	// Before this process is pinned to a core, which a server would inherit.
	if b.server, err = devpostgres.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.Close()) }()
	contenders, err := b.contenders(against)
	if err != nil {
		return err
	}
	var how string
	b.pinned, how = pin()
	// The engine is in this process and must not be what is measured: it collects its garbage between the runs.
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	results := make([][]sample, len(contenders))
	for i := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", i+1, rounds)
		for n := range contenders {
			which := (i + n) % len(contenders)
			runtime.GC()
			s, err := b.measure(ctx, contenders[which], jobs)
			if err != nil {
				return fmt.Errorf("round %d: %s: %w", i+1, contenders[which].name, err)
			}
			results[which] = append(results[which], s)
		}
	}
	fmt.Fprintf(os.Stdout, "%d rounds of %d jobs behind %d, engine in this process (%s), load %s\n\n", rounds, jobs, past, how, load())
	return report(os.Stdout, contenders, results)
}

// build builds the worker as `make build` does.
func build(ctx context.Context, program string) error {
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, //nolint:gosec // our own path
		"hospital.example/analyze-retry/cmd/worker")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return nil
}
