package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
)

const (
	jobType       = "analyze-retry"
	maxJobsActive = 50
)

// contender is a worker to measure: how it is started against a gateway, where it keeps what it decides, and which
// answers are right for it.
type contender struct {
	name    string
	command func(address string) (argv []string)
	// store makes the store of one run; nil where nothing is kept.
	store func(context.Context) (storage, error)
	check func(claim, answer) error

	// product says that it is our worker, of which more is shown.
	product bool
	// to is which of the contenders it is compared with, none if it is itself; the target is for the ratio of the CPU time.
	to  int
	cpu target
}

// newStore makes the store of one run.
func (c contender) newStore(ctx context.Context) (storage, error) {
	if c.store == nil {
		return storage{}, nil
	}
	return c.store(ctx)
}

// against returns the contender as one that is compared with another, with the target of the comparison.
func (c contender) against(to int, cpu target) contender {
	c.to, c.cpu = to, cpu
	return c
}

// build builds the worker as `make build` does, unless a binary is named. It returns the binary and what removes it.
func build(ctx context.Context, binary string, progress io.Writer) (path string, remove func() error, err error) {
	if binary != "" {
		path, err = filepath.Abs(binary)
		return path, func() error { return nil }, err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "worker")
	fmt.Fprintln(progress, "building the worker")
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", path, "hospital.example/analyze-retry/cmd/worker")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("build the worker: %w\n%s", err, out), remove())
	}
	return path, remove, nil
}

// lineup is which workers take turns.
type lineup struct {
	contenders []contender
	// ratio says to whom the others are compared.
	ratio string
}

// withNoDecision lines the worker up with the library's worker that decides nothing.
func withNoDecision(binary string, on *stores) (lineup, error) {
	self, err := os.Executable()
	if err != nil {
		return lineup{}, err
	}
	bench := contender{name: "not durable", check: claim.check, command: func(string) []string { return []string{self, notDurableCommand} }}
	inFile, onServer := product("SQLite", binary, on.sqlite), product("PostgreSQL", binary, on.postgres(binary))
	return lineup{
		contenders: []contender{
			noDecision(self),
			inFile.against(0, atMost(1.6)),
			onServer.against(0, atMost(2)),
			bench.against(0, atMost(1)),
		},
		ratio: "ratio to the no-decision worker",
	}, nil
}

// twoBuilds lines two builds of the worker up with each other.
func twoBuilds(binary, other string, on *stores) (lineup, error) {
	path, err := filepath.Abs(other)
	if err != nil {
		return lineup{}, err
	}
	both := []contender{
		product("SQLite, "+other, path, on.sqlite),
		product("SQLite", binary, on.sqlite).against(0, noTarget),
		product("PostgreSQL, "+other, path, on.postgres(path)).against(2, noTarget),
		product("PostgreSQL", binary, on.postgres(binary)).against(2, noTarget),
	}
	return lineup{contenders: both, ratio: "ratio to " + other}, nil
}

// product returns the worker of this repository, as it runs in production.
func product(name, binary string, store func(context.Context) (storage, error)) contender {
	return contender{
		name: name, store: store, product: true, check: claim.check,
		command: func(string) []string { return []string{binary, "run"} },
	}
}

func workerSettings(address string) []string {
	return []string{
		"ZEEBE_ADDRESS=" + address, "ZEEBE_INSECURE_CONNECTION=true", "RETRY_HTTP_ADDRESS=127.0.0.1:0",
		fmt.Sprintf("RETRY_MAX_JOBS_ACTIVE=%d", maxJobsActive),
	}
}

// The arguments that make this program a worker to compare with.
const (
	noDecisionCommand = "no-decision-worker"
	notDurableCommand = "not-durable-worker"
)

// noDecision returns this program, started once more. It completes every job without variables.
func noDecision(self string) contender {
	return contender{
		name:    "no-decision worker",
		command: func(address string) []string { return []string{self, noDecisionCommand, address} },
		check: func(c claim, a answer) error {
			if a.code != "" || strings.Contains(a.variables, "shouldRetry") {
				return fmt.Errorf("claim %s: the no-decision worker answered %+v", c.id, a)
			}
			return nil
		},
	}
}

// workWithoutDecision completes jobs until ctx ends, with the client library's worker as it comes but for the number
// of jobs active. It does not close the worker, which would wait for the poll that is open.
func workWithoutDecision(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the gateway's address, got %q", args)
	}
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: args[0], UsePlaintextConnection: true})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	client.NewJobWorker().JobType(jobType).Handler(func(c worker.JobClient, j entities.Job) {
		if err := complete(c, j.Key); err != nil {
			select {
			case failed <- err:
			default:
			}
		}
	}).MaxJobsActive(maxJobsActive).Open()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

func complete(client worker.JobClient, key int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := client.NewCompleteJobCommand().JobKey(key).Send(ctx)
	return err
}
