// Command sandbox runs an engine of this project with the worker on it, for the demo and for play. It is a
// development program: what it starts is bound to loopback, without TLS and without authentication.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

const usage = `how it is used:

  sandbox demo                      play sample claims on an engine of this project with the worker
  sandbox up                        run both, and the insurer, until Ctrl-C
  sandbox insurer                   play the insurer on the cluster at ZEEBE_ADDRESS, without TLS
  sandbox claim NUMBER [ANSWER...]  start a claim there, which the insurer answers so, and then accepts

demo and up run the worker of the same folder (make build), and keep logs and data in .cache`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once we are stopping, the usual handling is back: a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	worker := filepath.Join(filepath.Dir(os.Args[0]), "worker")
	address := os.Getenv(cluster.EnvAddress) //nolint:forbidigo // no setting of the worker
	switch {
	case len(args) == 1 && args[0] == "demo":
		return demo(ctx, &box{program: suite.Program{Path: worker}, dir: ".cache/demo"}, out)
	case len(args) == 1 && args[0] == "up":
		return up(ctx, &box{program: suite.Program{Path: worker}, dir: ".cache/sandbox"}, out)
	case len(args) == 1 && args[0] == "insurer":
		return onCluster(address, out, func(i *insurer) error { return i.serve(ctx) })
	case len(args) > 1 && args[0] == "claim":
		return onCluster(address, out, func(i *insurer) error {
			_, err := i.start(ctx, args[1], args[2:])
			return err
		})
	}
	return errors.New(usage)
}
