package demo

import (
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
	// submissionFailed is the BPMN error of a submission that the insurer did not take; the model catches any code.
	submissionFailed = "SUBMISSION_FAILED"
	maxJobs          = 32
	// lock is on the broker's clock and outlasts every jump.
	lock = 7 * 24 * time.Hour
	// noLongPoll makes the gateway answer at once, also where there is no job.
	noLongPoll = -1
)

// serviceConfig has gRPC repeat a call where the broker was only too busy to answer.
const serviceConfig = `{"methodConfig": [{"name": [{}], "timeout": "15s", "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "1s", "backoffMultiplier": 2,
	"retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]}`

// players work the jobs that are not the worker's: analyze-retry and record-retry-outcome are.
var players = map[string]func(*Play, context.Context, *pb.ActivatedJob) error{
	history.SubmitClaim: (*Play).insurer,
	history.NotifyTeam:  (*Play).notifier,
}

// work takes the jobs of a type and plays them. A job for which the file has nothing stays with us.
func (p *Play) work(ctx context.Context, jobType string) error {
	jobs, err := p.activate(ctx, jobType)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		p.taken[j.Key] = true
		if err := players[jobType](p, ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// insurer stands in for the submission to the insurer's TISS service.
func (p *Play) insurer(ctx context.Context, j *pb.ActivatedJob) error {
	id, err := claimID(j)
	if err != nil {
		return err
	}
	answer, ok := p.cast.answer(id)
	switch {
	case !ok:
		return nil
	case answer == script.Accepted:
		return p.complete(ctx, j.Key, nil)
	case answer == script.Empty:
		answer = ""
		fallthrough
	default:
		_, err := p.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
			JobKey: j.Key, ErrorCode: submissionFailed, ErrorMessage: "the insurer did not take the claim",
			Variables: object(map[string]any{"submissionError": answer}),
		})
		return err
	}
}

// notifier stands in for the message to a team that a claim waits for it.
func (p *Play) notifier(ctx context.Context, j *pb.ActivatedJob) error {
	return p.complete(ctx, j.Key, nil)
}

// team is the people of a team, in front of their task list.
func (p *Play) team(ctx context.Context, r *role, task history.UserTask) error {
	if p.taken[task.Key] {
		return nil
	}
	p.taken[task.Key] = true
	act, ok := r.decide(task.Team)
	if !ok {
		return nil
	}
	return p.Broker.CompleteUserTask(ctx, task.Key, map[string]any{
		"manualDecision": act.Decision, "justification": act.Justification, "decidedBy": task.Team,
	})
}

// operate corrects a variable and resolves the incident, where the file has an operator do that.
func (p *Play) operate(ctx context.Context, r *role, open history.OpenIncident) error {
	if p.taken[open.Key] || !r.nextIs(script.Operator) {
		return nil
	}
	p.taken[open.Key] = true
	act := r.next()
	if _, err := p.gateway.SetVariables(ctx, &pb.SetVariablesRequest{
		ElementInstanceKey: open.Instance, Local: true, Variables: object(map[string]any{act.Variable: act.Value}),
	}); err != nil {
		return err
	}
	if _, err := p.gateway.UpdateJobRetries(ctx, &pb.UpdateJobRetriesRequest{JobKey: open.JobKey, Retries: 1}); err != nil {
		return err
	}
	_, err := p.gateway.ResolveIncident(ctx, &pb.ResolveIncidentRequest{IncidentKey: open.Key})
	return err
}

func (p *Play) complete(ctx context.Context, key int64, variables map[string]any) error {
	_, err := p.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: key, Variables: object(variables)})
	return err
}

// activate takes the jobs that are there now.
func (p *Play) activate(ctx context.Context, jobType string) (jobs []*pb.ActivatedJob, err error) {
	stream, err := p.gateway.ActivateJobs(ctx, &pb.ActivateJobsRequest{
		Type: jobType, Worker: "demo", MaxJobsToActivate: maxJobs,
		Timeout: lock.Milliseconds(), RequestTimeout: noLongPoll, FetchVariable: []string{"claimId"},
	})
	for err == nil {
		var response *pb.ActivateJobsResponse
		response, err = stream.Recv()
		jobs = append(jobs, response.GetJobs()...)
	}
	if errors.Is(err, io.EOF) {
		return jobs, nil
	}
	return nil, err
}

func claimID(j *pb.ActivatedJob) (string, error) {
	var with struct{ ClaimID string }
	if err := json.Unmarshal([]byte(j.Variables), &with); err != nil {
		return "", fmt.Errorf("read the variables of %s: %w", j.ElementId, err)
	}
	return with.ClaimID, nil
}

// object words variables as the gateway takes them.
func object(variables map[string]any) string {
	text, err := json.Marshal(variables)
	if err != nil || variables == nil {
		return "{}"
	}
	return string(text)
}
