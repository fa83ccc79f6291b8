package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// box is an engine with the worker on it.
type box struct {
	dir     string // of logs and data
	program suite.Program
	engine  *cluster.Cluster
	worker  *suite.Worker
}

// run starts both anew on free addresses, with the bundled models on the engine, and ends them after their use. The worker's
// store stays until the next time. The context of use ends when the worker does: without it nothing goes on, and its end is
// the error.
func (b *box) run(ctx context.Context, use func(context.Context) error) (err error) {
	if err = errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o750)); err != nil {
		return err
	}
	if b.engine, err = cluster.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.engine.Stop()) }()
	b.program = suite.NewProgram(b.program.Path, b.engine.Address(),
		"RETRY_MAX_CLOCK_SKEW=87600h", // the engine's clock is moved on purpose, by days too
		b.store())
	if out, err := b.program.Command(ctx, "deploy").CombinedOutput(); err != nil {
		return fmt.Errorf("deploy the models: %w:\n%s", err, bytes.TrimSpace(out))
	}
	if b.worker, err = b.program.Start(ctx, filepath.Join(b.dir, "worker.log")); err != nil {
		return err
	}
	ctx, cancel := b.worker.While(ctx)
	defer cancel()
	err = use(ctx)
	if ended := context.Cause(ctx); errors.Is(ended, process.ErrEnded) {
		return fmt.Errorf("the worker is gone: %w; its log %s ends with:\n%s\nmend what it names, if anything, and run this again",
			ended, b.worker.Log, process.LogTail(b.worker.Log))
	}
	return errors.Join(err, b.worker.Stop())
}

func (b *box) store() string {
	return "RETRY_DATABASE_URL=sqlite://" + filepath.Join(b.dir, "store.db")
}

// up runs an engine, the worker and the insurer until ctx ends.
func up(ctx context.Context, b *box, out io.Writer) error {
	return b.run(ctx, func(ctx context.Context) error {
		fmt.Fprintf(out, `The worker runs on an engine of this project with the bundled models; the insurer is
played here. Ctrl-C stops all. In another terminal:

  export ZEEBE_ADDRESS=%s ZEEBE_INSECURE_CONNECTION=true
  export %s
  # a claim, and what the insurer answers before it accepts it
  %s claim CLM-001-1 TIMEOUT INSURANCE_EXPIRED
  # seven minutes of a wait pass
  curl %s/actuator/clock/add -d '{"offsetMilli":420000}'
  # what was decided, and a person who sends it again
  %[5]s history CLM-001-1
  %[5]s redrive --claim CLM-001-1 --force --checked --operator ana --reason 'the insurance was renewed'

  REST API       %[6]s/v2
  metrics        http://%[7]s/metrics
  logs and data  %[8]s

`, b.engine.Address(), b.store(), os.Args[0], b.engine.MonitoringURL(), b.program.Path, b.engine.RESTURL(), b.worker.HTTP, b.dir)
		return newInsurer(b.engine, out).serve(ctx)
	})
}
