package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// pollTimeout is how long a poll for jobs waits, and so how long a job waits while those of the other type are polled.
const pollTimeout = time.Second

func newInsurer() *cobra.Command {
	return onCluster(&cobra.Command{
		Use:   "insurer",
		Short: "Play the insurer on any cluster without TLS until you interrupt it",
		Long: `Works the jobs that the bundled models leave to the hospital: submit-claim, with the
answers that "sandbox claim" gave the claim, and notify-team. A claim without answers
is accepted.`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, gateway pb.GatewayClient, _ []string, out io.Writer) error {
		i := insurer{gateway, out, map[string]int{}}
		return i.work(ctx)
	})
}

func newClaim() *cobra.Command {
	return onCluster(&cobra.Command{
		Use:   "claim NUMBER [ANSWER...]",
		Short: "Start the process of a claim on a cluster without TLS",
		Long: `The answers are those of "sandbox insurer" to the claim's submissions, in their order.
After them it accepts the claim.`,
		Example: "  sandbox claim CLM-001-1 TIMEOUT 'HTTP 503'",
		Args:    cobra.MinimumNArgs(1),
	}, func(ctx context.Context, gateway pb.GatewayClient, args []string, out io.Writer) error {
		created, err := gateway.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
			BpmnProcessId: "SUB_06",
			Version:       -1,
			Variables:     object(map[string]any{"claimId": args[0], "answers": args[1:]}),
		})
		if err != nil {
			return fmt.Errorf("start the process of the claim %s: %w", args[0], err)
		}
		fmt.Fprintf(out, "%s: process instance %d\n", args[0], created.GetProcessInstanceKey())
		return nil
	})
}

// onCluster lets a command run on the cluster that its flag names.
func onCluster(
	command *cobra.Command, run func(context.Context, pb.GatewayClient, []string, io.Writer) error,
) *cobra.Command {
	address := command.Flags().String("address", "127.0.0.1:26500", "the cluster's gRPC gateway")
	command.RunE = func(command *cobra.Command, args []string) error {
		conn, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		defer conn.Close()
		return run(command.Context(), pb.NewGatewayClient(conn), args, command.OutOrStdout())
	}
	return command
}

// insurer works the jobs of others than the worker.
type insurer struct {
	gateway pb.GatewayClient
	out     io.Writer
	// submitted counts the submissions of each claim.
	submitted map[string]int
}

// work answers jobs until ctx ends, which is no error.
func (i *insurer) work(ctx context.Context) error {
	for ctx.Err() == nil {
		for _, jobType := range []string{"submit-claim", "notify-team"} {
			if err := i.poll(ctx, jobType); err != nil && ctx.Err() == nil {
				return fmt.Errorf("work the jobs of the type %s: %w", jobType, err)
			}
		}
	}
	return nil
}

// poll answers the jobs of one type that are there, or come within pollTimeout.
func (i *insurer) poll(ctx context.Context, jobType string) error {
	stream, err := i.gateway.ActivateJobs(ctx, &pb.ActivateJobsRequest{
		Type:              jobType,
		Worker:            "sandbox",
		Timeout:           time.Minute.Milliseconds(),
		MaxJobsToActivate: 32,
		RequestTimeout:    pollTimeout.Milliseconds(),
	})
	if err != nil {
		return err
	}
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, job := range page.GetJobs() {
			if err := i.answer(ctx, job); err != nil {
				return err
			}
		}
	}
}

// answer answers one job: a submission with the claim's next answer, a notice well.
func (i *insurer) answer(ctx context.Context, job *pb.ActivatedJob) error {
	var claim struct {
		ID      string   `json:"claimId"`
		Answers []string `json:"answers"`
	}
	// What others have started may have no such variables: it is accepted.
	_ = json.Unmarshal([]byte(job.GetVariables()), &claim)
	answer := accepted
	if job.GetType() == "submit-claim" {
		if n := i.submitted[claim.ID]; n < len(claim.Answers) {
			answer = claim.Answers[n]
		}
		i.submitted[claim.ID]++
	}
	fmt.Fprintf(i.out, "%s %s: %s\n", claim.ID, job.GetElementId(), answer)
	if answer == accepted {
		_, err := i.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: job.GetKey(), Variables: "{}"})
		return err
	}
	_, err := i.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
		JobKey:       job.GetKey(),
		ErrorCode:    submissionFailed,
		ErrorMessage: "the insurer did not take the claim",
		Variables:    object(map[string]any{"submissionError": answer}),
	})
	return err
}
