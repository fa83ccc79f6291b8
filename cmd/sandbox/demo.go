package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

//go:embed claims.yaml
var claimsFile []byte

// claim is a claim that is played, and what has become of it.
type claim struct {
	// Of the file: what the insurer answers and what people do, in their order.
	Claim, Shows    string
	Answers, People []string

	outcome string // the last one of which the worker was told
}

// next is what a person does next, "" where the file has no more.
func (c *claim) next() (step string) {
	if len(c.People) > 0 {
		step, c.People = c.People[0], c.People[1:]
	}
	return step
}

// play is one performance: it starts a process instance for each claim, takes the parts of the people, and moves the
// engine's clock through the waits, while the insurer answers.
//
// It is one loop: do what the engine's new records ask for, and where only timers are open, jump to the next.
type play struct {
	*box
	*insurer
	claims    []*claim
	instances map[int64]*claim    // by process instance, also by that of the processes that they called
	open      map[int64]time.Time // when a timer is due; the zero time for a job, a user task, an incident
	read      int                 // records that were read
}

// demo plays the claims in a new box, and prints what became of each and what the worker says of one. The worker's store
// stays, to be asked.
func demo(ctx context.Context, b *box, out io.Writer) error {
	p := &play{box: b, instances: map[int64]*claim{}, open: map[int64]time.Time{}}
	if err := yaml.Unmarshal(claimsFile, &p.claims); err != nil {
		return err
	}
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute) // a second is usual
	defer cancel()
	return b.run(ctx, func(ctx context.Context) error {
		p.insurer = newInsurer(b.engine, io.Discard)
		playing, end := context.WithCancel(ctx)
		defer end()
		both, playing := errgroup.WithContext(playing)
		both.Go(func() error { return p.serve(playing) })
		both.Go(func() error {
			defer end()
			return p.play(playing)
		})
		if err := both.Wait(); err != nil {
			return fmt.Errorf("the demo broke off: %w (the worker's log is %s)", err, b.worker.Log)
		}
		return p.show(ctx, out, started)
	})
}

// show prints what became of each claim, and what the worker says of one.
func (p *play) show(ctx context.Context, out io.Writer, started time.Time) error {
	ended := map[string]int{}
	for _, c := range p.claims {
		ended[c.outcome]++
		fmt.Fprintf(out, "%-16s  %-52s %9s\n", c.Claim, c.Shows, c.outcome)
	}
	_, history, err := p.program.Says(ctx, "history", "CLM-2026-004214")
	if err != nil {
		return err
	}
	now, err := p.engine.Now(ctx)
	worker := p.store() + " " + p.program.Path
	fmt.Fprintf(out, `
%d claims: %d submitted, %d abandoned, %d incident.
%s on the engine's clock, %.1f s on yours, by which the worker keeps its records.

%s
Ask the store that the worker has left behind:

%s history CLM-2026-004217
%[8]s claims
%[8]s kpi
`, len(p.claims), ended["SUBMITTED"], ended["ABANDONED"], ended["INCIDENT"],
		text.In(text.English).About(now.Sub(started)), time.Since(started).Seconds(), history, worker)
	return err
}

// play plays all claims to their ends.
func (p *play) play(ctx context.Context) error {
	for _, c := range p.claims {
		instance, err := p.start(ctx, c.Claim, c.Answers)
		if err != nil {
			return err
		}
		p.instances[instance] = c
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := p.look(ctx)
		if err != nil || len(p.open) == 0 {
			return err
		}
		if err := p.jump(ctx); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look reads what is new, and does what it asks for.
func (p *play) look(ctx context.Context) error {
	all, err := p.engine.Records()
	if err != nil {
		return err
	}
	for _, r := range all[p.read:] {
		if r.RecordType != "EVENT" {
			continue
		}
		if caller := p.instances[r.ParentProcessInstanceKey]; caller != nil {
			p.instances[r.ProcessInstanceKey] = caller
		}
		if c := p.instances[r.ProcessInstanceKey]; c != nil {
			if err := p.take(ctx, c, r); err != nil {
				return fmt.Errorf("claim %s, %s %s: %w", c.Claim, r.ValueType, r.Intent, err)
			}
		}
	}
	p.read = len(all)
	return nil
}

// take notes what happened to a claim, and takes the part of a person in it.
func (p *play) take(ctx context.Context, c *claim, r cluster.Record) error {
	switch r.ValueType + " " + r.Intent {
	case "VARIABLE CREATED", "VARIABLE UPDATED":
		if r.Name == contract.Outcome {
			return json.Unmarshal([]byte(r.VariableValue), &c.outcome)
		}
	case "TIMER CREATED":
		p.open[r.Key] = r.Due()
	case "JOB CREATED":
		p.open[r.Key] = time.Time{}
	case "USER_TASK CREATED":
		p.open[r.Key] = time.Time{}
		return p.decide(ctx, c, r.Key, strings.Join(r.CandidateGroupsList, ", "))
	case "INCIDENT CREATED":
		p.open[r.Key] = time.Time{}
		return p.resolve(ctx, c, r)
	case "JOB COMPLETED", "JOB ERROR_THROWN", "JOB CANCELED", "TIMER TRIGGERED", "TIMER CANCELED", "USER_TASK COMPLETED",
		"INCIDENT RESOLVED":
		delete(p.open, r.Key)
	}
	return nil
}

// decide completes a user task, as a person of its team does.
func (p *play) decide(ctx context.Context, c *claim, key int64, team string) error {
	decision, why, _ := strings.Cut(c.next(), " ")
	return p.engine.CompleteUserTask(ctx, key, map[string]any{
		"manualDecision": decision, "justification": why, "decidedBy": team,
	})
}

// resolve corrects a variable and resolves the incident, as an operator does, or leaves both alone.
func (p *play) resolve(ctx context.Context, c *claim, incident cluster.Record) error {
	name, value, found := strings.Cut(c.next(), "=")
	if !found {
		c.outcome = "INCIDENT"
		delete(p.open, incident.Key)
		delete(p.open, incident.JobKey)
		return nil
	}
	_, err := p.gateway.SetVariables(ctx, &pb.SetVariablesRequest{
		ElementInstanceKey: incident.ProcessInstanceKey, Local: true, Variables: object(map[string]any{name: value}),
	})
	if err == nil {
		_, err = p.gateway.UpdateJobRetries(ctx, &pb.UpdateJobRetriesRequest{JobKey: incident.JobKey, Retries: 1})
	}
	if err == nil {
		_, err = p.gateway.ResolveIncident(ctx, &pb.ResolveIncidentRequest{IncidentKey: incident.Key})
	}
	return err
}

// jump moves the clock to the next timer, unless something is to be done first: a timer next to a job bounds how long
// that may take.
func (p *play) jump(ctx context.Context) error {
	due := slices.MinFunc(slices.Collect(maps.Values(p.open)), time.Time.Compare)
	if due.IsZero() {
		return nil
	}
	now, err := p.engine.Now(ctx)
	if err == nil && due.Sub(now) >= time.Millisecond { // else we hear in a moment that the timer has fired
		err = p.engine.Advance(ctx, due.Sub(now))
	}
	return err
}
