package main

import (
	"context"
	"fmt"
	"os"

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
)

const (
	decisionJob   = "analyze-retry"
	outcomeJob    = "record-retry-outcome"
	maxJobsActive = 50
	noDecision    = "no-decision"
	firstWorker   = "first-worker"
	// firstStore is the setting that names the first worker's store.
	firstStore = "FIRST_STORE"
	// libraryConcurrency is how many handlers the library's worker runs by itself.
	libraryConcurrency = 4
)

// contender is a worker to measure.
type contender struct {
	name string
	argv []string // the gateway's address follows, but for our worker, which has it from its settings
	// processes is how many of it share the jobs, of which there are so many; 0 for the usual number.
	processes, jobs int
	// store makes the store of one run, with its past, and returns the settings that name it; nil where there is none, as nothing is decided.
	store func(context.Context) (settings []string, err error)
}

// contenders are the workers that take turns. The first is the one that the others are compared with.
func (b *bench) contenders(ctx context.Context, against string) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, others := []string{b.program, "run"}, []string{against, "run"}
	all := []contender{
		{name: "SQLite", argv: ours, processes: 1, store: b.files(ours)},
		{name: "PostgreSQL", argv: ours, processes: 1, store: b.databases(ours)},
	}
	if against != "" {
		all = append(all,
			contender{name: "other SQLite", argv: others, processes: 1, store: b.files(others)},
			contender{name: "other PostgreSQL", argv: others, processes: 1, store: b.databases(others)})
	} else {
		first := []string{self, firstWorker}
		all = append(all,
			contender{name: "first worker, SQLite", argv: first, processes: 1, store: b.emptyFile},
			contender{name: "first worker, PostgreSQL", argv: first, processes: 1, store: b.emptyDatabase},
			contender{name: "PostgreSQL far away", argv: ours, processes: 1, jobs: someJobs, store: far(all[1].store)},
			contender{name: "the same, two replicas", argv: ours, processes: 2, jobs: someJobs, store: far(all[1].store)})
	}
	for i := range all {
		fmt.Fprintf(os.Stderr, "store %d of %d\n", i+1, len(all))
		if _, err := all[i].store(ctx); err != nil { // the first one makes the past
			return nil, fmt.Errorf("the past of %s: %w", all[i].name, err)
		}
	}
	return append([]contender{{name: "no decision", argv: []string{self, noDecision}, processes: 1}}, all...), nil
}

// others are the workers of this program, by the argument that makes it one.
var others = map[string]func(ctx context.Context, address string) error{
	noDecision: func(ctx context.Context, address string) error {
		return work(ctx, address, libraryConcurrency, func(client worker.JobClient, j entities.Job) error {
			_, err := client.NewCompleteJobCommand().JobKey(j.Key).Send(ctx)
			return err
		})
	},
	firstWorker: workFirst,
}

// work works jobs until ctx ends, with the client library's worker as it comes but for the number of active jobs. It does
// not close the worker, which would wait for the poll that is open.
func work(ctx context.Context, address string, concurrency int, handle func(worker.JobClient, entities.Job) error) error {
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: address, UsePlaintextConnection: true})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	client.NewJobWorker().JobType(decisionJob).Handler(func(c worker.JobClient, j entities.Job) {
		if err := handle(c, j); err != nil && ctx.Err() == nil {
			select {
			case failed <- err:
			default:
			}
		}
	}).MaxJobsActive(maxJobsActive).Concurrency(concurrency).Open()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}
