package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	// accepted is the answer to a claim that the insurer takes.
	accepted = "OK"
	// The jobs that the bundled models leave to the hospital.
	submitClaim, notifyTeam = "submit-claim", "notify-team"
)

// insurer works the jobs of others than the worker, on any cluster without TLS.
type insurer struct {
	gateway pb.GatewayClient
	out     io.Writer
	// submitted counts the submissions of each claim, which come one after the other. An insurer that is started again begins
	// anew.
	submitted map[string]int
}

func newInsurer(gateway pb.GatewayClient, out io.Writer) *insurer {
	return &insurer{gateway, out, map[string]int{}}
}

// onCluster dials a cluster for one use.
func onCluster(address string, out io.Writer, use func(*insurer) error) error {
	if address == "" {
		return errors.New("set ZEEBE_ADDRESS to the cluster's gRPC gateway, host:port")
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	return use(newInsurer(pb.NewGatewayClient(conn), out))
}

// start starts the process of a claim, to whose submissions the insurer gives these answers.
func (i *insurer) start(ctx context.Context, claim string, answers []string) (instance int64, err error) {
	created, err := i.gateway.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
		BpmnProcessId: "SUB_06", Version: -1, Variables: object(map[string]any{"claimId": claim, "answers": answers}),
	})
	if err != nil {
		return 0, fmt.Errorf("start the process of the claim %s: %w", claim, err)
	}
	fmt.Fprintf(i.out, "%s: process instance %d\n", claim, created.GetProcessInstanceKey())
	return created.GetProcessInstanceKey(), nil
}

// serve answers jobs until ctx ends, which is no error.
func (i *insurer) serve(ctx context.Context) error {
	types, ctx := errgroup.WithContext(ctx)
	for _, jobType := range []string{submitClaim, notifyTeam} {
		types.Go(func() error {
			for ctx.Err() == nil {
				if err := i.poll(ctx, jobType); err != nil && ctx.Err() == nil {
					return fmt.Errorf("work the jobs of the type %s: %w", jobType, err)
				}
			}
			return nil
		})
	}
	return types.Wait()
}

// poll answers the jobs of one type that are there, or come while the gateway lets it wait.
func (i *insurer) poll(ctx context.Context, jobType string) error {
	stream, err := i.gateway.ActivateJobs(ctx, &pb.ActivateJobsRequest{
		Type: jobType, Worker: "sandbox", MaxJobsToActivate: 32,
		Timeout: time.Minute.Milliseconds(),
	})
	for err == nil {
		var page *pb.ActivateJobsResponse
		page, err = stream.Recv()
		for _, job := range page.GetJobs() {
			if err := i.work(ctx, job); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// work answers one job: a submission with the claim's next answer, a notice well.
func (i *insurer) work(ctx context.Context, job *pb.ActivatedJob) error {
	var claim struct {
		ID      string   `json:"claimId"`
		Answers []string `json:"answers"`
	}
	// What others have started may have no such variables: it is accepted.
	_ = json.Unmarshal([]byte(job.GetVariables()), &claim)
	answer := accepted
	if job.GetType() == submitClaim {
		if n := i.submitted[claim.ID]; n < len(claim.Answers) {
			answer = claim.Answers[n]
		}
		i.submitted[claim.ID]++
	}
	if err := i.answer(ctx, job.GetKey(), answer); err != nil {
		return err
	}
	fmt.Fprintf(i.out, "%s %s: %s\n", claim.ID, job.GetElementId(), answer)
	return nil
}

// answer completes a job, or throws the error of a submission that failed.
func (i *insurer) answer(ctx context.Context, job int64, answer string) error {
	if answer == accepted {
		_, err := i.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: job, Variables: "{}"})
		return err
	}
	_, err := i.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
		JobKey:       job,
		ErrorCode:    "SUBMISSION_FAILED", // the model catches any
		ErrorMessage: "the insurer did not take the claim",
		Variables:    object(map[string]any{"submissionError": answer}),
	})
	return err
}

// object words variables as the gateway takes them.
func object(variables map[string]any) string {
	text, _ := json.Marshal(variables) // texts
	return string(text)
}
