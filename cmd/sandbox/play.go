package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/worker/contract"
)

const (
	// patience is how long the demo waits for something to move before it gives up on the claims that are left.
	patience = 30 * time.Second
	// mostJobs is how many jobs of one claim are played, which is more than a claim that ends has.
	mostJobs = 200
	// submissionFailed is the BPMN error of a submission that the insurer did not take; the bundled model catches any code.
	submissionFailed = "SUBMISSION_FAILED"
)

// play is one performance: it starts a process instance for each claim, takes the parts of the insurer and of the people,
// and moves the engine's clock through the waits.
//
// It is one loop: look at what the engine has recorded, do what is to be done, and where nothing is, jump to the next timer.
// So no job is active while the clock jumps.
type play struct {
	cluster *cluster.Cluster
	gateway pb.GatewayClient
	models  models
	claims  []*claim
	// instances are the claims by process instance, also by that of the processes that they called.
	instances map[int64]*claim
	// read is how many records were read, now the time of the last one, jumpedTo where the clock was moved last.
	read          int
	now, jumpedTo time.Time
}

// claim is a claim that is played: where it is, and what has become of it.
type claim struct {
	scripted
	began     time.Time
	jobs      map[int64]record
	tasks     map[int64]record
	incidents map[int64]record
	timers    map[int64]time.Time
	taken     map[int64]bool // jobs, tasks and incidents that have been dealt with
	acted     int            // how many acts of people are used up
	outcome   string         // the last one of which the worker was told
	end       string         // how it ended; "" if it did not
	tries     []*try
}

// try is one submission and what followed until the next.
type try struct {
	at         time.Duration // since the claim began, as all times here
	answer     string
	decision   *contract.Facts
	code       string // the BPMN error with which the worker stopped the claim
	decided    time.Duration
	notes      []note
	notified   string // the team that was told last
	hasStopped bool   // by an incident
}

// note is what else happened: an incident, a correction, a person's decision.
type note struct {
	at   time.Duration
	text string
}

// record is what is read of the value of an engine's record.
type record struct {
	BpmnProcessID, BpmnElementType, ElementID    string
	ProcessInstanceKey, ParentProcessInstanceKey int64
	Type, ErrorCode, ErrorMessage, Name, Value   string
	CandidateGroupsList                          []string
	JobKey                                       int64
	DueDate                                      any // a number of a timer, a text of a user task
	Variables                                    json.RawMessage
}

// run plays all claims to their ends. alive reports whether the worker is.
func (p *play) run(ctx context.Context, script []scripted, alive func() bool) error {
	p.instances = map[int64]*claim{}
	for _, s := range script {
		created, err := p.gateway.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
			BpmnProcessId: p.models.process, Version: -1, Variables: object(map[string]any{"claimId": s.Claim}),
		})
		if err != nil {
			return fmt.Errorf("start the process for the claim %s: %w", s.Claim, err)
		}
		c := &claim{
			scripted: s, jobs: map[int64]record{}, tasks: map[int64]record{}, incidents: map[int64]record{},
			timers: map[int64]time.Time{}, taken: map[int64]bool{},
		}
		p.claims, p.instances[created.ProcessInstanceKey] = append(p.claims, c), c
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for moved := time.Now(); time.Since(moved) < patience; {
		news, err := p.look()
		if err != nil {
			return err
		}
		if news {
			moved = time.Now()
		}
		done, waiting := 0, 0
		for _, c := range p.claims {
			if c.rests() {
				done++
			} else if _, waits := c.due(); waits {
				waiting++
			}
		}
		switch {
		case done == len(p.claims):
			return nil
		case !alive():
			return fmt.Errorf("the worker has ended")
		case done+waiting < len(p.claims):
			err = p.act(ctx)
		case !news: // more may come: the job that a timer bounds is recorded after the timer
			err = p.jump(ctx)
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// passed is the time that has passed on the engine's clock.
func (p *play) passed() time.Duration {
	if p.claims[0].began.IsZero() {
		return 0
	}
	return p.now.Sub(p.claims[0].began)
}

// look reads what is new.
func (p *play) look() (news bool, err error) {
	all, err := p.cluster.Records()
	if err != nil {
		return false, err
	}
	for _, r := range all[p.read:] {
		var v record
		if r.RecordType != "EVENT" || !slices.Contains(read, r.ValueType) {
			continue
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			return false, fmt.Errorf("read the %s record at position %d: %w", r.ValueType, r.Position, err)
		}
		p.now = time.UnixMilli(r.Timestamp)
		if err := p.take(r, v); err != nil {
			return false, err
		}
	}
	news = len(all) > p.read
	p.read = len(all)
	return news, nil
}

// read are the types of the records that take knows.
var read = []string{"PROCESS_INSTANCE", "JOB", "USER_TASK", "TIMER", "INCIDENT", "VARIABLE"}

func (p *play) take(r cluster.Record, v record) error {
	if caller := p.instances[v.ParentProcessInstanceKey]; caller != nil {
		p.instances[v.ProcessInstanceKey] = caller
	}
	c := p.instances[v.ProcessInstanceKey]
	if c == nil {
		return nil // of another process
	}
	if c.began.IsZero() {
		c.began = p.now
	}
	gone := r.Intent != "CREATED"
	switch r.ValueType {
	case "PROCESS_INSTANCE":
		if v.BpmnProcessID == p.models.process && r.Intent == "ELEMENT_COMPLETED" {
			switch v.BpmnElementType {
			case "END_EVENT":
				c.end = v.ElementID
			case "PROCESS":
				c.end = cmp.Or(c.outcome, c.end)
				clear(c.timers)
			}
		}
	case "JOB":
		keep(c.jobs, r.Key, v, gone && (r.Intent == "COMPLETED" || r.Intent == "ERROR_THROWN" || r.Intent == "CANCELED"))
		if (r.Intent == "COMPLETED" || r.Intent == "ERROR_THROWN") && slices.Contains(p.models.analyses, v.Type) {
			return c.analyzed(v, p.now)
		}
	case "USER_TASK":
		keep(c.tasks, r.Key, v, r.Intent == "COMPLETED" || r.Intent == "CANCELED")
	case "INCIDENT":
		keep(c.incidents, r.Key, v, gone)
		if !gone {
			c.last().hasStopped = true
			c.notes(p.now, v.ErrorMessage)
		}
	case "TIMER":
		millis, _ := v.DueDate.(float64)
		keep(c.timers, r.Key, time.UnixMilli(int64(millis)), gone)
	case "VARIABLE":
		switch v.Name {
		case contract.Outcome:
			return json.Unmarshal([]byte(v.Value), &c.outcome)
		case "team": // of a job notify-team
			return json.Unmarshal([]byte(v.Value), &c.last().notified)
		}
	}
	return nil
}

// keep holds what is open, until it is gone.
func keep[V any](open map[int64]V, key int64, v V, gone bool) {
	if gone {
		delete(open, key)
		return
	}
	open[key] = v
}

// last is the submission that is being dealt with.
func (c *claim) last() *try {
	if len(c.tries) == 0 {
		return &try{}
	}
	return c.tries[len(c.tries)-1]
}

func (c *claim) notes(at time.Time, text string) {
	c.last().notes = append(c.last().notes, note{at.Sub(c.began), text})
}

// analyzed notes what the worker decided.
func (c *claim) analyzed(v record, at time.Time) error {
	answer, err := contract.Read(string(v.Variables), "")
	if err != nil {
		return err
	}
	t := c.last()
	t.decision, t.code, t.decided = &answer, v.ErrorCode, at.Sub(c.began)
	return nil
}

// due returns when the next timer fires; ok is false unless the claim waits for nothing but timers. Those next to a job bound
// how long it may take.
func (c *claim) due() (due time.Time, ok bool) {
	if len(c.jobs)+len(c.tasks)+len(c.incidents) > 0 || len(c.timers) == 0 {
		return time.Time{}, false
	}
	return slices.MinFunc(slices.Collect(maps.Values(c.timers)), time.Time.Compare), true
}

// next is what people do next, the zero value where the file has no more.
func (c *claim) next() (a act) {
	if c.acted < len(c.People) {
		a, _ = readAct(c.People[c.acted]) // the file was checked
	}
	return a
}

// rests reports whether nothing more will happen to a claim: it has ended, or people have no more to do with it.
func (c *claim) rests() bool {
	for key := range c.incidents {
		return !c.taken[key] && c.next().variable == ""
	}
	for key := range c.tasks {
		return !c.taken[key] && c.next().decision == ""
	}
	return c.end != "" && len(c.jobs) == 0 && len(c.timers) == 0 || len(c.taken) > mostJobs
}

// act does what is to be done now.
func (p *play) act(ctx context.Context) error {
	for _, c := range p.claims {
		for key, open := range c.incidents {
			if correction := c.next(); !c.taken[key] && correction.variable != "" {
				if err := p.resolve(ctx, c, key, open, correction); err != nil {
					return fmt.Errorf("resolve the incident of the claim %s: %w", c.Claim, err)
				}
			}
		}
		for key, open := range c.tasks {
			if decision := c.next(); !c.taken[key] && decision.decision != "" {
				if err := p.decide(ctx, c, key, open, decision); err != nil {
					return fmt.Errorf("decide about the claim %s: %w", c.Claim, err)
				}
			}
		}
		for key, open := range c.jobs {
			if len(c.incidents) == 0 && !c.taken[key] && !p.models.isWorkers(open.Type) && len(c.taken) <= mostJobs {
				if err := p.work(ctx, c, key, open); err != nil {
					return fmt.Errorf("work the job of %s: %w", open.ElementID, err)
				}
			}
		}
	}
	return nil
}

// resolve corrects a variable and resolves the incident, as an operator does.
func (p *play) resolve(ctx context.Context, c *claim, key int64, open record, with act) error {
	c.taken[key], c.acted = true, c.acted+1
	variables := object(map[string]any{with.variable: with.value})
	_, err := p.gateway.SetVariables(ctx,
		&pb.SetVariablesRequest{ElementInstanceKey: open.ProcessInstanceKey, Local: true, Variables: variables})
	if err == nil && open.JobKey > 0 {
		_, err = p.gateway.UpdateJobRetries(ctx, &pb.UpdateJobRetriesRequest{JobKey: open.JobKey, Retries: 1})
	}
	if err == nil {
		_, err = p.gateway.ResolveIncident(ctx, &pb.ResolveIncidentRequest{IncidentKey: key})
	}
	c.notes(p.now, fmt.Sprintf("operator: %s = %q, incident resolved", with.variable, with.value))
	return err
}

// decide completes a user task, as a person of its team does.
func (p *play) decide(ctx context.Context, c *claim, key int64, open record, with act) error {
	c.taken[key], c.acted = true, c.acted+1
	team := strings.Join(open.CandidateGroupsList, ", ")
	told := " "
	if c.last().notified == team {
		told = " notified, "
	}
	c.notes(p.now, team+told+"decides "+with.decision+": "+with.justification)
	return p.cluster.CompleteUserTask(ctx, key, map[string]any{
		"manualDecision": with.decision, "justification": with.justification, "decidedBy": team,
	})
}

// work answers a job that is not the worker's: a submission as the insurer does, any other well. The engine takes the answer
// to a job that nobody has activated.
func (p *play) work(ctx context.Context, c *claim, key int64, open record) error {
	c.taken[key] = true
	code, submits := p.models.submissions[[2]string{open.BpmnProcessID, open.ElementID}]
	answer := accepted
	if submits {
		if n := len(c.tries); n < len(c.Answers) {
			answer = c.Answers[n]
		}
		c.tries = append(c.tries, &try{at: p.now.Sub(c.began), answer: answer})
	}
	if answer == accepted {
		_, err := p.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: key, Variables: "{}"})
		return err
	}
	_, err := p.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
		JobKey: key, ErrorCode: cmp.Or(code, submissionFailed), ErrorMessage: "the insurer did not take the claim",
		Variables: object(map[string]any{"submissionError": answer}),
	})
	return err
}

// jump moves the clock to the next timer. Until it is known that the timer has fired, it does nothing.
func (p *play) jump(ctx context.Context) error {
	var due time.Time
	for _, c := range p.claims {
		if at, waits := c.due(); waits && !c.rests() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	if !due.After(p.jumpedTo) {
		return nil
	}
	now, err := p.cluster.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the engine's clock: %w", err)
	}
	p.jumpedTo = due
	if ahead := due.Sub(now); ahead >= time.Millisecond {
		_, err = p.cluster.Advance(ctx, ahead)
	}
	return err
}

// object words variables as the gateway takes them.
func object(variables map[string]any) string {
	text, _ := json.Marshal(variables) // texts
	return string(text)
}

// whereabouts says where a claim has come to rest.
func (c *claim) whereabouts() string {
	switch {
	case len(c.incidents) > 0:
		return incident
	case len(c.tasks) > 0:
		for _, task := range c.tasks {
			return "WITH " + strings.Join(task.CandidateGroupsList, ", ")
		}
	}
	return cmp.Or(c.end, "NOT ENDED")
}

// faults says in what a claim did not go as the file says.
func (p *play) faults(c *claim) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	switch {
	case len(c.taken) > mostJobs:
		fault("it goes in a circle: it had %d jobs", len(c.taken))
	case !c.rests():
		fault("it did not end, and nothing moved for %v", patience)
	case p.models.own:
	default:
		if got := c.whereabouts(); got != c.End {
			fault("it ended %s, the file says %s", got, c.End)
		}
		if len(c.tries) != len(c.Answers) {
			fault("it was submitted %d times, the file has %d answers", len(c.tries), len(c.Answers))
		}
		if left := len(c.People) - c.acted; left > 0 {
			fault("people had nothing to do for %d of the acts in the file", left)
		}
	}
	return faults
}
