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
	command func(address string) (argv, environment []string)
	// store makes the store of one run; nil where nothing is kept.
	store func(context.Context) (storage, error)
	check func(claim, answer) error

	// product says that it is our worker, of which more is shown.
	product bool
	// to is which of the contenders it is compared with, none if it is itself; the targets are for the ratios.
	to              int
	cpu, throughput target
}

// newStore makes the store of one run.
func (c contender) newStore(ctx context.Context) (storage, error) {
	if c.store == nil {
		return storage{}, nil
	}
	return c.store(ctx)
}

// against says with whom the contender is compared, and what is wanted.
func (c contender) against(to int, cpu, throughput target) contender {
	c.to, c.cpu, c.throughput = to, cpu, throughput
	return c
}

// build builds the worker as `make build` does, unless it is told which binary to take. It returns the binary and what
// removes it.
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

// product is the worker of this repository, as it runs in production.
func product(name, binary string, store func(context.Context) (storage, error)) contender {
	return contender{
		name:    name,
		store:   store,
		product: true,
		command: func(address string) (argv, environment []string) {
			return []string{binary, "run"}, workerSettings(address)
		},
		check: claim.check,
	}
}

func workerSettings(address string) []string {
	return []string{
		"ZEEBE_ADDRESS=" + address,
		"ZEEBE_INSECURE_CONNECTION=true",
		"RETRY_HTTP_ADDRESS=127.0.0.1:0",
		fmt.Sprintf("RETRY_MAX_JOBS_ACTIVE=%d", maxJobsActive),
	}
}

// The arguments that make this program a worker to compare with.
const (
	noDecisionCommand = "no-decision-worker"
	notDurableCommand = "not-durable-worker"
)

// notDurableWorker is this program, started once more, as our worker without a store.
func notDurableWorker() (contender, error) {
	self, err := os.Executable()
	if err != nil {
		return contender{}, err
	}
	return contender{
		name: "not durable",
		command: func(address string) (argv, environment []string) {
			return []string{self, notDurableCommand}, workerSettings(address)
		},
		check: claim.check,
	}, nil
}

// sameVariables is an answer like those of our worker, with which the broker has as much to write.
const sameVariables = `{"shouldRetry":true,"retryCount":2,"maxRetries":5,"backoffMinutes":10,"nextRetryTime":"2026-11-20T08:40:00Z",` +
	`"retryReason":"Transient error, retry 2 of 5","errorClassification":"TRANSIENT","originalError":"TIMEOUT - Connection timeout after 30s",` +
	`"retryDecision":{"policy":"tiss","policyVersion":"000000000000","ruleId":"transient.TIMEOUT","matchedCode":"TIMEOUT",` +
	`"delayBeforeJitter":"PT10M","backoffDuration":"PT10M","retriesLeft":3,"secondsSinceLastSubmission":600}}`

// noDecisionWorker is this program, started once more. It completes every job with the same variables, or with none.
func noDecisionWorker(name, variables string) (contender, error) {
	self, err := os.Executable()
	if err != nil {
		return contender{}, err
	}
	return contender{
		name: name,
		command: func(address string) (argv, environment []string) {
			return []string{self, noDecisionCommand, address, variables}, nil
		},
		check: func(c claim, a answer) error {
			if a.code != "" || strings.Contains(a.variables, "shouldRetry") != (variables != "") {
				return fmt.Errorf("claim %s: the %s answered %+v", c.id, name, a)
			}
			return nil
		},
	}, nil
}

// workWithoutDecision completes jobs until ctx ends, with the client library's worker as it comes but for the number
// of jobs active. It does not close the worker, which would wait for the poll that is open.
func workWithoutDecision(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want the gateway's address and variables, got %q", args)
	}
	address, variables := args[0], args[1]
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: address, UsePlaintextConnection: true})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	client.NewJobWorker().JobType(jobType).Handler(func(c worker.JobClient, j entities.Job) {
		if err := complete(c, j.Key, variables); err != nil {
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

func complete(client worker.JobClient, key int64, variables string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	command := client.NewCompleteJobCommand().JobKey(key)
	if variables == "" {
		_, err := command.Send(ctx)
		return err
	}
	withVariables, err := command.VariablesFromString(variables)
	if err != nil {
		return err
	}
	_, err = withVariables.Send(ctx)
	return err
}
