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
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	name := "bench"
	if len(os.Args) == 3 && others[os.Args[1]] != nil {
		name = os.Args[1]
		err = others[name](ctx, os.Args[2])
	} else {
		against := flag.String("against", "", "another build of the worker, which takes part with both stores in place of the first worker")
		flag.Parse()
		err = run(ctx, *against)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

const (
	// rounds is how often each worker takes its turn, jobs how many it gets in each.
	rounds, jobs = 7, 20_000
	// someJobs are enough where each takes longer.
	someJobs = jobs / 10
	// before are the claims that every store has seen fail before.
	before = 60_000
)

// bench is what the workers run on: a directory for stores, a key, and a PostgreSQL server.
type bench struct {
	dir, program, key string
	server            *devpostgres.Server
	pinned            pinning
	paths             int // made in dir so far
}

// run lets the workers take turns, each round beginning with another one, and prints how they compare.
func run(ctx context.Context, against string) (err error) {
	b := &bench{}
	if b.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	secret, err := audit.NewSecret()
	if err != nil {
		return err
	}
	b.key = b.path("key")
	if err := secret.Save(b.key); err != nil {
		return err
	}
	b.program = filepath.Join(b.dir, "worker")
	if err := suite.BuildWorker(b.program); err != nil {
		return err
	}
	// Before this process is pinned to a core, which a server would inherit.
	if b.server, err = devpostgres.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.Close()) }()
	var how string
	b.pinned, how = pin()
	// The engine is in this process and must not be what is measured: it collects its garbage between the runs.
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	contenders, err := b.contenders(ctx, against)
	if err != nil {
		return err
	}
	results := make([][]sample, len(contenders))
	for i := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", i+1, rounds)
		for n := range contenders {
			which := (i + n) % len(contenders)
			runtime.GC()
			s, err := b.measure(ctx, contenders[which])
			if err != nil {
				return fmt.Errorf("round %d: %s: %w", i+1, contenders[which].name, err)
			}
			results[which] = append(results[which], s)
		}
	}
	fmt.Fprintf(os.Stdout, "%d rounds of %d jobs behind %d, engine in this process (%s), load %s\n\n", rounds, jobs, before, how, load())
	return report(os.Stdout, contenders, results)
}
