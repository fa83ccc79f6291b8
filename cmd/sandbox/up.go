package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/engine/gateway"
)

// upOptions are the flags of `up`.
type upOptions struct {
	dir, httpAddress string
	at               gateway.Addresses
}

func newUp(dir *string) *cobra.Command {
	var o upOptions
	command := &cobra.Command{
		Use:   "up",
		Short: "Run an engine of this project with the worker until you interrupt it",
		Args:  cobra.NoArgs,
		Long: `Runs an engine of this project with the bundled models and the worker, and shows the
user tasks as they come. Ctrl-C stops both. The engine's data and the worker's
decisions stay from one time to the next.`,
		RunE: func(command *cobra.Command, _ []string) error {
			o.dir = filepath.Join(*dir, "sandbox")
			return o.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.at.GRPC, "grpc-address", "127.0.0.1:26500", "where the engine's gRPC gateway is")
	flags.StringVar(&o.at.REST, "rest-address", "127.0.0.1:8088", "where its REST API is")
	flags.StringVar(&o.at.Monitoring, "monitoring-address", "127.0.0.1:9600", "where its clock and its metrics are")
	flags.StringVar(&o.httpAddress, "http-address", "127.0.0.1:8080", "where the worker's metrics are")
	return command
}

func (o upOptions) run(ctx context.Context, out io.Writer) (err error) {
	if err := os.MkdirAll(o.dir, 0o750); err != nil {
		return err
	}
	c, err := cluster.Start(cluster.Options{Dir: filepath.Join(o.dir, "engine"), At: o.at})
	if err != nil {
		return fmt.Errorf("%w (sandbox up --help shows how to choose other addresses)", err)
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	w, err := newWorker(c.Address(), o.dir)
	if err != nil {
		return err
	}
	if err := w.deploy(ctx); err != nil {
		return err
	}
	running, err := w.run(ctx, o.httpAddress)
	if err != nil {
		return fmt.Errorf("%w (sandbox up --help shows how to choose other addresses)", err)
	}
	// The worker first, so that it can release its jobs.
	defer func() {
		_, stopped := running.Stop(context.WithoutCancel(ctx), stopGrace)
		err = errors.Join(err, stopped)
	}()
	o.describe(out, w)
	return showTasks(ctx, c, running.Alive, out)
}

func (o upOptions) describe(out io.Writer, w worker) {
	rest := o.at.REST + "/v2"
	fmt.Fprintf(out, `
  gRPC gateway        %s   plaintext; for a worker of yours: ZEEBE_INSECURE_CONNECTION=true
                      RETRY_MAX_CLOCK_SKEW=87600h, for the clock is moved
  REST API            http://%s
  clock               http://%s/actuator/clock
  worker's metrics    http://%s/metrics
  logs and data       %s

  A claim by hand; you are the insurer:

  curl %s/process-instances -d '{"processDefinitionId":"SUB_06","variables":{"claimId":"CLM-001-1"}}'
  curl %s/jobs/activation -d '{"type":"submit-claim","timeout":600000,"maxJobsToActivate":1}'
  curl %s/jobs/KEY/error -d '{"errorCode":"FAILED","variables":{"submissionError":"TIMEOUT"}}'
  curl http://%s/actuator/clock/add -d '{"offsetMilli":600000}'
      # the wait is over: activate submit-claim again
  curl %s/user-tasks/KEY/completion -d '{"variables":{"manualDecision":"ABANDON","justification":"..."}}'
  %s

Ctrl-C stops both. User tasks that wait for a person:

`, o.at.GRPC, o.at.REST, o.at.Monitoring, o.httpAddress, o.dir,
		rest, rest, rest, o.at.Monitoring, rest, w.ask("history CLM-001-1"))
}

// userTask is a user task that waits for a person.
type userTask struct {
	ElementID           string
	CandidateGroupsList []string
	ProcessInstanceKey  int64
}

// showTasks prints the user tasks that wait, and then each new one, until ctx ends or the worker does.
func showTasks(ctx context.Context, c *cluster.Cluster, alive func() bool, out io.Writer) error {
	tick := time.NewTicker(time.Second / 5)
	defer tick.Stop()
	open := map[int64]userTask{} // and not shown yet
	for seen := 0; alive(); {
		records, err := c.Records()
		if err != nil {
			return err
		}
		for _, r := range records[seen:] {
			if r.RecordType != "EVENT" || r.ValueType != "USER_TASK" {
				continue
			}
			switch r.Intent {
			case "CREATED":
				var task userTask
				if err := json.Unmarshal(r.Value, &task); err != nil {
					return fmt.Errorf("read the record at position %d: %w", r.Position, err)
				}
				open[r.Key] = task
			case "COMPLETED", "CANCELED":
				delete(open, r.Key)
			}
		}
		seen = len(records)
		for _, key := range slices.Sorted(maps.Keys(open)) {
			task := open[key]
			fmt.Fprintf(out, "  %d  %s for %s, process instance %d\n",
				key, task.ElementID, strings.Join(task.CandidateGroupsList, ", "), task.ProcessInstanceKey)
		}
		clear(open)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return errors.New("the worker has ended")
}
