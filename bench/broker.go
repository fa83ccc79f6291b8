package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

//go:embed one-task.bpmn
var oneTask []byte

const (
	processID    = "bench-one-task"
	answeredType = "bench-answered"
	// creators is how many instances are created at a time.
	creators = 16
	// brokerWatchInterval is the pause between two looks at how far the worker is. A look at the broker's metrics costs it a
	// few milliseconds.
	brokerWatchInterval = 200 * time.Millisecond
)

// broker is a real broker and a connection to it.
type broker struct {
	*devbroker.Broker
	gateway pb.GatewayClient
}

// brokerRounds lets the workers take turns on a real broker. All processes share all cores, as in production.
func brokerRounds(ctx context.Context, workers lineup, s settings, progress io.Writer) (all series, err error) {
	started, err := devbroker.Start(ctx, devbroker.Options{
		Version:  devbroker.VersionFromEnv(),
		Progress: func(line string) { fmt.Fprintln(progress, line) },
	})
	if err != nil {
		return series{}, err
	}
	defer func() { err = errors.Join(err, started.Stop(context.WithoutCancel(ctx))) }()
	conn, err := grpc.NewClient(started.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return series{}, err
	}
	defer conn.Close()
	all = series{
		where:      fmt.Sprintf("Real broker, %d rounds of %d jobs, %s", s.brokerRounds, s.brokerJobs, workers.ratio),
		contenders: workers.broker,
	}
	b := broker{started, pb.NewGatewayClient(conn)}
	if _, err := b.gateway.DeployResource(ctx, &pb.DeployResourceRequest{
		Resources: []*pb.Resource{{Name: "one-task.bpmn", Content: oneTask}},
	}); err != nil {
		return series{}, fmt.Errorf("deploy the benchmark's model: %w", err)
	}
	// The first round warms the broker up.
	return all, all.takeTurns("broker", s.brokerRounds, 1, progress, func(number int, w contender) (sample, error) {
		return b.run(ctx, w, retries(number*s.brokerJobs, s.brokerJobs))
	})
}

// run lets one worker work fresh instances, one for each claim, and checks every answer.
func (b broker) run(ctx context.Context, w contender, claims []claim) (s sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	kept, err := w.newStore(ctx)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, kept.free()) }()
	before, err := b.progress(ctx)
	if err != nil {
		return sample{}, err
	}
	if err := b.create(ctx, claims); err != nil {
		return sample{}, err
	}
	if _, err := b.watch(ctx, nil, func(p progress) bool { return p.created >= before.created+len(claims) }); err != nil {
		return sample{}, err
	}
	var seen []progress
	s, err = measured(w, surroundings{address: b.Address(), kept: kept}, len(claims), func(c *child) (err error) {
		seen, err = b.watch(ctx, c, func(p progress) bool { return p.answered >= before.answered+len(claims) })
		return err
	})
	if err != nil {
		return sample{}, err
	}
	s.throughput = steady(seen, before.answered, len(claims))
	return s, b.check(ctx, w, claims)
}

// create starts an instance for every claim.
func (b broker) create(ctx context.Context, claims []claim) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for _, c := range claims {
		group.Go(func() error {
			request := &pb.CreateProcessInstanceRequest{BpmnProcessId: processID, Version: -1, Variables: c.variables()}
			for {
				_, err := b.gateway.CreateProcessInstance(ctx, request)
				if status.Code(err) != codes.ResourceExhausted {
					return err
				}
				select {
				case <-time.After(20 * time.Millisecond): // the broker is at its limit
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("create instances: %w", err)
	}
	return nil
}

// progress is how many jobs of analyze-retry there were and how many were answered, by the broker's own count.
type progress struct {
	at                time.Time
	created, answered int
}

func (b broker) progress(ctx context.Context) (progress, error) {
	m, err := b.Metrics(ctx)
	if err != nil {
		return progress{}, err
	}
	count := func(action string) int {
		return int(m.Sum("zeebe_job_events_total", map[string]string{"type": jobType, "action": action}))
	}
	return progress{time.Now(), count("created"), count("completed")}, nil
}

// watch looks at the progress until it is far enough, and returns all that it saw.
func (b broker) watch(ctx context.Context, c *child, enough func(progress) bool) ([]progress, error) {
	tick := time.NewTicker(brokerWatchInterval)
	defer tick.Stop()
	var seen []progress
	for {
		p, err := b.progress(ctx)
		if err != nil {
			return nil, err
		}
		seen = append(seen, p)
		if enough(p) {
			return seen, nil
		}
		if c != nil && !c.Alive() {
			return nil, errors.New("ended by itself")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("not done in time, at %+v: %w", p, ctx.Err())
		}
	}
}

// steady returns the throughput between the first look with a tenth of the jobs answered and the last with not more than
// nine tenths: a look has an exact time and an exact count, the beginning and the end have not. Where a fast worker
// leaves no two looks between them, it is the throughput between the first look and the last of all.
func steady(seen []progress, before, jobs int) float64 {
	var first, last progress
	for _, p := range seen {
		done := p.answered - before
		if first.at.IsZero() && done >= jobs/10 {
			first = p
		}
		if done <= jobs*9/10 {
			last = p
		}
	}
	if !last.at.After(first.at) {
		first, last = seen[0], seen[len(seen)-1]
	}
	return float64(last.answered-first.answered) / last.at.Sub(first.at).Seconds()
}

// check takes the job that follows each answer and checks what the broker holds then. The jobs are left locked: to
// complete them would take as long as the measurement.
func (b broker) check(ctx context.Context, w contender, claims []claim) error {
	open := make(map[string]claim, len(claims))
	for _, c := range claims {
		open[c.id] = c
	}
	for len(open) > 0 {
		jobs, err := b.activate(ctx)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return fmt.Errorf("the broker holds no answer to %d claims", len(open))
		}
		for _, j := range jobs {
			var v struct{ ClaimID string }
			if err := json.Unmarshal([]byte(j.Variables), &v); err != nil {
				return fmt.Errorf("read the variables of job %d: %w", j.Key, err)
			}
			c, found := open[v.ClaimID]
			if !found {
				return fmt.Errorf("claim %s was answered once more", v.ClaimID)
			}
			delete(open, c.id)
			if err := w.check(c, answer{variables: j.Variables, at: time.Now(), tolerance: roundTimeout}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b broker) activate(ctx context.Context) ([]*pb.ActivatedJob, error) {
	stream, err := b.gateway.ActivateJobs(ctx, &pb.ActivateJobsRequest{
		Type: answeredType, Worker: "bench", Timeout: time.Hour.Milliseconds(), MaxJobsToActivate: 500, RequestTimeout: 5000,
	})
	var jobs []*pb.ActivatedJob
	for err == nil {
		var r *pb.ActivateJobsResponse
		if r, err = stream.Recv(); err == nil {
			jobs = append(jobs, r.Jobs...)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("take the jobs that follow the answers: %w", err)
	}
	return jobs, nil
}
