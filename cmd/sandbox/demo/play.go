// Package demo plays a file of claims on an engine with a real worker: it starts a process instance for each
// claim, takes the parts of the insurer and of the people, and moves the engine's clock through the waits.
//
// What happens is seen in the engine's records only, and it is one loop: look at what is new, do what is to
// be done, and where nothing is, jump to the next timer. So no job is active while the clock jumps, other
// than the worker's own.
package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

const (
	// lookInterval is how often the records are looked at.
	lookInterval = 5 * time.Millisecond
	// patience is how long the demo waits for something to move before it gives up on the claims that are
	// left.
	patience = 30 * time.Second
)

// Status is how far the play is.
type Status struct {
	// Passed is the time that has passed on the engine's clock.
	Passed time.Duration
	// Claims is the number of all claims; Waiting of those that wait for a timer, Settled of those that need
	// nothing more.
	Claims, Waiting, Settled int
}

// Play is one performance.
type Play struct {
	// Cluster has the models and the worker.
	Cluster *cluster.Cluster
	Models  Models
	// Check reports whether something that the play needs has broken down; it is called again and again.
	Check func() error
	// Progress gets how far it is, again and again.
	Progress func(Status)

	gateway pb.GatewayClient
	ledger  *history.Ledger
	roles   []*role
	// read is the number of the records that the ledger has.
	read int
	// held are the jobs that were activated and not played yet.
	held map[int64]*pb.ActivatedJob
	// taken are the jobs, user tasks and incidents that have been dealt with, though the ledger may not know
	// yet.
	taken map[int64]bool
	// jumpedTo is where the clock was moved last.
	jumpedTo time.Time
}

// Run plays all claims to their ends and compares each with what the file says. An error means that the play
// itself broke off.
func (p *Play) Run(ctx context.Context, claims []script.Claim) ([]Result, error) {
	conn, err := grpc.NewClient(p.Cluster.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(serviceConfig))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	p.gateway = pb.NewGatewayClient(conn)
	p.ledger = history.NewLedger(p.Models.Models)
	p.held, p.taken = map[int64]*pb.ActivatedJob{}, map[int64]bool{}
	defer p.release(context.WithoutCancel(ctx))
	if err := p.start(ctx, claims); err != nil {
		return nil, err
	}
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for moved := time.Now(); time.Since(moved) < patience; {
		changed, err := p.look()
		if err != nil {
			return nil, err
		}
		if changed {
			moved = time.Now()
		}
		status := p.status()
		p.Progress(status)
		if status.Settled == status.Claims {
			break
		}
		if waits := status.Waiting + status.Settled; waits < status.Claims {
			err = p.act(ctx)
		} else if !changed { // more may come: the job that a timer bounds is recorded after the timer
			err = p.jump(ctx)
		}
		if err != nil {
			return nil, err
		}
		if err := p.Check(); err != nil {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return p.results(), nil
}

// Passed is the time that has passed on the engine's clock since the first claim was started.
func (p *Play) Passed() time.Duration {
	if first := p.ledger.Claim(p.roles[0].instance); first != nil {
		return p.ledger.Now().Sub(first.Started)
	}
	return 0
}

// start creates a process instance for each claim.
func (p *Play) start(ctx context.Context, claims []script.Claim) error {
	for _, claim := range claims {
		created, err := p.gateway.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
			BpmnProcessId: p.Models.Process, Version: -1, Variables: object(map[string]any{"claimId": claim.ID}),
		})
		if err != nil {
			return fmt.Errorf("start the process for the claim %s: %w", claim.ID, err)
		}
		p.roles = append(p.roles, &role{claim: claim, instance: created.ProcessInstanceKey, free: p.Models.Own})
	}
	return nil
}

// look reads what is new.
func (p *Play) look() (changed bool, err error) {
	all, err := p.Cluster.Records()
	if err != nil {
		return false, err
	}
	news := all[p.read:]
	p.read = len(all)
	return len(news) > 0, p.ledger.Add(news...)
}

func (p *Play) status() Status {
	s := Status{Passed: p.Passed(), Claims: len(p.roles)}
	for _, r := range p.roles {
		c := p.ledger.Claim(r.instance)
		if c == nil {
			continue
		}
		if _, waits := c.At.Due(); p.settled(r, c) {
			s.Settled++
		} else if waits {
			s.Waiting++
		}
	}
	return s
}

// settled says that nothing more will happen to a claim.
func (p *Play) settled(r *role, c *history.History) bool {
	for key := range c.At.Incidents {
		return !p.taken[key] && !r.nextIs(script.Operator)
	}
	for key := range c.At.UserTasks {
		if r.free && !p.taken[key] && !r.nextIsTeam() {
			return true
		}
	}
	return c.End != "" || r.stuck != ""
}

// act does what is to be done now.
func (p *Play) act(ctx context.Context) error {
	wanted := map[string]bool{}
	for _, r := range p.roles {
		c := p.ledger.Claim(r.instance)
		if c == nil || p.settled(r, c) {
			continue
		}
		if err := p.people(ctx, r, c.At); err != nil {
			return fmt.Errorf("act for the people of the claim %s: %w", r.claim.ID, err)
		}
		for key, j := range c.At.Jobs {
			switch {
			case len(c.At.Incidents) > 0 || p.taken[key] || p.Models.isWorkers(j.Type):
			case p.held[key] == nil:
				wanted[j.Type] = true
			default:
				if err := p.work(ctx, r, key, j); err != nil {
					return fmt.Errorf("work the job of %s: %w", j.Task.Element, err)
				}
			}
		}
	}
	for jobType := range wanted {
		if err := p.activate(ctx, jobType); err != nil {
			return fmt.Errorf("activate the %s jobs: %w", jobType, err)
		}
	}
	return nil
}

// jump moves the clock to the next timer. Until the ledger knows that the timer has fired, it does nothing.
func (p *Play) jump(ctx context.Context) error {
	var due time.Time
	for _, r := range p.roles {
		c := p.ledger.Claim(r.instance)
		if at, waits := c.At.Due(); waits && !p.settled(r, c) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	if !due.After(p.jumpedTo) {
		return nil
	}
	now, err := p.Cluster.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the engine's clock: %w", err)
	}
	p.jumpedTo = due
	if ahead := due.Sub(now); ahead >= time.Millisecond {
		_, err = p.Cluster.Advance(ctx, ahead)
	}
	return err
}

func (p *Play) results() []Result {
	var results []Result
	for _, r := range p.roles {
		c := p.ledger.Claim(r.instance)
		if c == nil {
			c = &history.History{Instance: r.instance}
		}
		result := Result{Claim: r.claim, History: *c, End: c.End}
		for _, task := range c.At.UserTasks {
			if r.free && r.stuck == "" {
				result.End = "with " + task.Team
			}
		}
		if len(c.At.Incidents) > 0 {
			result.End = script.Incident
		}
		result.Faults = faults(r, result)
		results = append(results, result)
	}
	return results
}
