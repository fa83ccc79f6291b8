package e2e

import (
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// analyzeRetry is the job that the worker decides.
const analyzeRetry = "analyze-retry"

// The jobs that other workers do.
const (
	submitClaim = "submit-claim"
	notifyTeam  = "notify-team"
)

// recordOutcome is the job by which a model reports how a claim ended.
const recordOutcome = "record-retry-outcome"

// task is a job that the test does in the place of another worker, or a Camunda user task in the place of a person.
type task struct {
	scene     *scene
	key       int64
	instance  int64
	variables vars
	person    *event // the user task's record; nil for a job
}

// take waits for the next job of a type and activates it.
func (s *scene) take(jobType string) *task {
	s.Helper()
	poll := &pb.ActivateJobsRequest{
		Type: jobType, Worker: "e2e", MaxJobsToActivate: 1,
		Timeout: time.Hour.Milliseconds(), RequestTimeout: (2 * time.Second).Milliseconds(),
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		jobs := s.activate(poll)
		if len(jobs) == 1 {
			j := jobs[0]
			return &task{s, j.Key, j.ProcessInstanceKey, readVars(s.T, j.Variables), nil}
		}
	}
	s.Fatalf("no %s job came within %v", jobType, patience)
	return nil
}

// activate polls once. A poll that is cut short, for example because the clock jumped, has brought nothing.
func (s *scene) activate(request *pb.ActivateJobsRequest) []*pb.ActivatedJob {
	s.Helper()
	ctx, cancel := s.within(time.Duration(request.RequestTimeout)*time.Millisecond + 5*time.Second)
	defer cancel()
	stream, err := s.broker.ActivateJobs(ctx, request)
	s.must(err)
	var jobs []*pb.ActivatedJob
	for {
		response, err := stream.Recv()
		if err != nil {
			return jobs
		}
		jobs = append(jobs, response.Jobs...)
	}
}

// complete finishes the task.
func (t *task) complete(result vars) {
	t.scene.Helper()
	if t.person != nil {
		t.scene.must(t.scene.broker.CompleteUserTask(t.scene.Context(), t.key, result))
		return
	}
	_, err := t.scene.broker.CompleteJob(t.scene.Context(), &pb.CompleteJobRequest{
		JobKey: t.key, Variables: result.json(t.scene.T),
	})
	t.scene.must(err)
}

// throw ends the task with a BPMN error.
func (t *task) throw(code string, result vars) {
	t.scene.Helper()
	_, err := t.scene.broker.ThrowError(t.scene.Context(), &pb.ThrowErrorRequest{
		JobKey: t.key, ErrorCode: code, ErrorMessage: "from the test", Variables: result.json(t.scene.T),
	})
	t.scene.must(err)
}

// fails ends a submission with what the insurer said.
func (t *task) fails(text string) {
	t.scene.Helper()
	t.throw("SUBMISSION_FAILED", vars{"submissionError": text})
}

// holds fails the test where the task does not see these variables.
func (t *task) holds(want vars) *task {
	t.scene.Helper()
	t.variables.hold(t.scene.T, want)
	return t
}

// asks takes the claim's next user task, which waits for a person.
func (c *claim) asks(element string) *task {
	c.Helper()
	e := c.await("a user task", "USER_TASK", "CREATED", func(e event) bool {
		return e.Position > c.asked && c.has(e.ProcessInstanceKey)
	})
	c.asked = e.Position
	if e.ElementID != element {
		c.Fatalf("a person is asked to do %s, want %s", e.ElementID, element)
	}
	return &task{c.scene, e.Key, e.ProcessInstanceKey, c.variablesOf(e.ProcessInstanceKey), &e}
}

// isTakenBack fails the test where the task has not ended without a person.
func (t *task) isTakenBack() {
	t.scene.Helper()
	if n := len(t.scene.events("USER_TASK", "CANCELED", func(e event) bool { return e.Key == t.key })); n != 1 {
		t.scene.Errorf("the person's task was taken back %d times, want once", n)
	}
}
