// Package demo plays a file of claims on a real broker with a real worker: it starts a process instance for each claim,
// takes the parts of the insurer and of the people, and moves the broker's clock through the waits.
//
// What happens is seen in the broker's records only, and it is one loop: look at what is new, do what is to be done, and
// where nothing is, jump to the next timer. So no job is active while the clock jumps, other than the worker's own.
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
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

const (
	// lookInterval is how often the records are looked at.
	lookInterval = 10 * time.Millisecond
	// patience is how long the demo waits for something to move before it gives up on the claims that are left.
	patience = 30 * time.Second
)

// Status is how far the play is.
type Status struct {
	// Passed is the time that has passed on the broker's clock.
	Passed time.Duration
	// Claims is the number of all claims; Waiting of those that wait for their next submission, Settled of those that
	// need nothing more.
	Claims, Waiting, Settled int
}

// Play is one performance.
type Play struct {
	// Broker keeps records.
	Broker *devbroker.Broker
	// Check reports whether something that the play needs has broken down; it is called again and again.
	Check func() error
	// Progress gets how far it is, again and again.
	Progress func(Status)

	gateway pb.GatewayClient
	ledger  *history.Ledger
	cast    *cast
	// read is the number of the broker's records that the ledger has.
	read int
	// taken are the jobs, user tasks and incidents that have been dealt with, though the ledger may not know yet.
	taken map[int64]bool
	// jumpedTo is where the clock was moved last.
	jumpedTo time.Time
}

// Run plays all claims to their ends and compares each with what the file says. An error means that the play itself
// broke off.
func (p *Play) Run(ctx context.Context, claims []script.Claim) ([]Result, error) {
	conn, err := grpc.NewClient(p.Broker.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(serviceConfig))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	p.gateway = pb.NewGatewayClient(conn)
	p.ledger, p.cast, p.taken = history.NewLedger(), newCast(claims), map[int64]bool{}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for moved := time.Now(); time.Since(moved) < patience; {
		changed, err := p.look(ctx)
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
		if err := p.act(ctx, status); err != nil {
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

// Passed is the time that has passed on the broker's clock since the first claim was started.
func (p *Play) Passed() time.Duration { return p.ledger.Passed() }

// start creates a process instance for each claim.
func (p *Play) start(ctx context.Context) error {
	for _, r := range p.cast.roles {
		created, err := p.gateway.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
			BpmnProcessId: history.Process, Version: -1, Variables: object(map[string]any{"claimId": r.claim.ID}),
		})
		if err != nil {
			return fmt.Errorf("start the process for the claim %s: %w", r.claim.ID, err)
		}
		r.instance = created.ProcessInstanceKey
	}
	return nil
}

// look reads what is new at the broker.
func (p *Play) look(ctx context.Context) (changed bool, err error) {
	all, err := p.Broker.Records(ctx)
	if err != nil {
		return false, err
	}
	news := all[p.read:]
	p.read = len(all)
	return len(news) > 0, p.ledger.Add(news...)
}

func (p *Play) status() Status {
	s := Status{Passed: p.ledger.Passed(), Claims: len(p.cast.roles)}
	for _, r := range p.cast.roles {
		switch c := p.ledger.Claim(r.instance); {
		case c == nil:
		case p.settled(r, c):
			s.Settled++
		case !c.At.Due.IsZero():
			s.Waiting++
		}
	}
	return s
}

// settled says that nothing more will happen to a claim.
func (p *Play) settled(r *role, c *history.Claim) bool {
	if open := c.At.Incident; open != nil {
		return !p.taken[open.Key] && !r.nextIs(script.Operator)
	}
	return c.End != "" || r.stuck != ""
}

// act does what is to be done now. Where that is nothing because all claims wait, it moves the clock to the next timer.
func (p *Play) act(ctx context.Context, s Status) error {
	if s.Waiting+s.Settled == s.Claims {
		return p.jump(ctx)
	}
	for _, r := range p.cast.roles {
		switch c := p.ledger.Claim(r.instance); {
		case c == nil:
		case c.At.Incident != nil:
			if err := p.operate(ctx, r, *c.At.Incident); err != nil {
				return fmt.Errorf("correct the claim %s: %w", r.claim.ID, err)
			}
		case c.At.UserTask != nil:
			if err := p.team(ctx, r, *c.At.UserTask); err != nil {
				return fmt.Errorf("decide about the claim %s: %w", r.claim.ID, err)
			}
		}
	}
	for jobType := range players {
		if p.isThere(jobType) {
			if err := p.work(ctx, jobType); err != nil {
				return fmt.Errorf("work the %s jobs: %w", jobType, err)
			}
		}
	}
	return nil
}

func (p *Play) isThere(jobType string) bool {
	for _, c := range p.ledger.Claims() {
		if j := c.At.Job; j != nil && j.Type == jobType && c.At.Incident == nil && !p.taken[j.Key] {
			return true
		}
	}
	return false
}

// jump moves the broker's clock to the next timer. Until the ledger knows that the timer has fired, it does nothing.
func (p *Play) jump(ctx context.Context) error {
	due, ok := p.ledger.NextDue()
	if !ok || !due.After(p.jumpedTo) {
		return nil
	}
	now, err := p.Broker.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the broker's clock: %w", err)
	}
	p.jumpedTo = due
	if ahead := due.Sub(now); ahead >= time.Millisecond {
		_, err = p.Broker.Advance(ctx, ahead)
	}
	return err
}

func (p *Play) results() []Result {
	var results []Result
	for _, r := range p.cast.roles {
		c := p.ledger.Claim(r.instance)
		if c == nil {
			c = &history.Claim{Instance: r.instance}
		}
		result := Result{Claim: r.claim, History: *c, End: c.End}
		if c.At.Incident != nil {
			result.End = script.Incident
		}
		result.Faults = faults(r, result)
		results = append(results, result)
	}
	return results
}
