package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
)

const (
	// submissionFailed is the BPMN error of a submission that the insurer did not take; the model catches any
	// code.
	submissionFailed = "SUBMISSION_FAILED"
	maxJobs          = 32
	// lock is on the engine's clock and outlasts every jump.
	lock = 7 * 24 * time.Hour
	// noLongPoll makes the gateway answer at once, also where there is no job.
	noLongPoll = -1
)

// serviceConfig has gRPC repeat a call where the gateway was only too busy to answer.
const serviceConfig = `{"methodConfig": [{"name": [{}], "timeout": "15s", "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "1s", "backoffMultiplier": 2,
	"retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]}`

// mostJobs is how many jobs of one claim are played, which is more than a claim that ends has.
const mostJobs = 200

// work plays a job that the demo holds. One for which the file has nothing stays with it.
func (p *Play) work(ctx context.Context, r *role, key int64, j history.Job) error {
	p.taken[key] = true
	if r.jobs++; r.jobs > mostJobs {
		r.stuck = fmt.Sprintf("it goes in a circle: it had %d jobs, the last one of %s", mostJobs, j.Task.Element)
		return nil
	}
	answer := script.Accepted
	code, submits := p.Models.Submissions[j.Task]
	if submits {
		var ok bool
		if answer, ok = r.answer(); !ok {
			return nil
		}
	}
	delete(p.held, key)
	if answer == script.Accepted {
		_, err := p.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: key, Variables: "{}"})
		return err
	}
	if answer == script.Empty {
		answer = ""
	}
	_, err := p.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
		JobKey:       key,
		ErrorCode:    cmp.Or(code, submissionFailed),
		ErrorMessage: "the insurer did not take the claim",
		Variables:    object(map[string]any{"submissionError": answer}),
	})
	return err
}

// people does what people have to do about a claim.
func (p *Play) people(ctx context.Context, r *role, at history.Place) error {
	for key, open := range at.Incidents {
		if err := p.operate(ctx, r, key, open); err != nil {
			return err
		}
	}
	for key, task := range at.UserTasks {
		if err := p.team(ctx, r, key, task); err != nil {
			return err
		}
	}
	return nil
}

// team is the people of a team, in front of their task list.
func (p *Play) team(ctx context.Context, r *role, key int64, task history.UserTask) error {
	if p.taken[key] {
		return nil
	}
	p.taken[key] = true
	act, ok := r.decide(task.Team)
	if !ok {
		return nil
	}
	return p.Cluster.CompleteUserTask(ctx, key, map[string]any{
		"manualDecision": act.Decision, "justification": act.Justification, "decidedBy": task.Team,
	})
}

// operate corrects a variable and resolves the incident, where the file has an operator do that.
func (p *Play) operate(ctx context.Context, r *role, key int64, open history.Incident) error {
	if p.taken[key] || !r.nextIs(script.Operator) {
		return nil
	}
	p.taken[key] = true
	act := r.next()
	if _, err := p.gateway.SetVariables(ctx, &pb.SetVariablesRequest{
		ElementInstanceKey: open.Instance, Local: true, Variables: object(map[string]any{act.Variable: act.Value}),
	}); err != nil {
		return err
	}
	if open.Job > 0 {
		again := &pb.UpdateJobRetriesRequest{JobKey: open.Job, Retries: 1}
		if _, err := p.gateway.UpdateJobRetries(ctx, again); err != nil {
			return err
		}
	}
	_, err := p.gateway.ResolveIncident(ctx, &pb.ResolveIncidentRequest{IncidentKey: key})
	return err
}

// activate takes the jobs of a type that are there now. Whose they are shows in the records.
func (p *Play) activate(ctx context.Context, jobType string) error {
	stream, err := p.gateway.ActivateJobs(ctx, &pb.ActivateJobsRequest{
		Type: jobType, Worker: "demo", MaxJobsToActivate: maxJobs,
		Timeout: lock.Milliseconds(), RequestTimeout: noLongPoll, FetchVariable: []string{"claimId"},
	})
	for err == nil {
		var response *pb.ActivateJobsResponse
		response, err = stream.Recv()
		for _, j := range response.GetJobs() {
			p.held[j.Key] = j
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// release gives back the jobs that the demo still holds: on a cluster of the user's own they may be of
// others.
func (p *Play) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for key, j := range p.held {
		// Where this fails the lock of the job runs out.
		_, _ = p.gateway.FailJob(ctx, &pb.FailJobRequest{JobKey: key, Retries: j.Retries})
	}
}

// object words variables as the gateway takes them.
func object(variables map[string]any) string {
	text, err := json.Marshal(variables)
	if err != nil || variables == nil {
		return "{}"
	}
	return string(text)
}
