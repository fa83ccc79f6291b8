package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// tap is a gateway between a worker and the broker that lets everything through but the completions of jobs: those it
// keeps, so that the worker's answer never gets to the broker and can be looked at.
type tap struct {
	pb.UnimplementedGatewayServer
	broker pb.GatewayClient
	kept   chan *pb.CompleteJobRequest
}

// tapped serves a tap in front of the scene's broker until the test ends.
func (s *scene) tapped() (t *tap, address string) {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	t = &tap{broker: s.broker, kept: make(chan *pb.CompleteJobRequest, 100)}
	server := grpc.NewServer()
	pb.RegisterGatewayServer(server, t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.Cleanup(func() {
		server.Stop()
		s.must(<-served)
	})
	return t, listener.Addr().String()
}

// answerTo returns the answer to a job that was kept from the broker. Answers to others are passed over: where the test
// takes longer than a lock, the worker gets jobs again and answers them once more.
func (t *tap) answerTo(s *scene, jobKey int64) *pb.CompleteJobRequest {
	s.Helper()
	late := time.After(patience)
	for {
		select {
		case kept := <-t.kept:
			if kept.JobKey == jobKey {
				return kept
			}
		case <-late:
			s.Fatalf("the worker did not answer job %d within %v", jobKey, patience)
		}
	}
}

// CompleteJob keeps what it gets and never answers.
func (t *tap) CompleteJob(ctx context.Context, r *pb.CompleteJobRequest) (*pb.CompleteJobResponse, error) {
	t.kept <- r
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

// The other calls that a worker makes go through.

func (t *tap) Topology(ctx context.Context, r *pb.TopologyRequest) (*pb.TopologyResponse, error) {
	return t.broker.Topology(ctx, r)
}

func (t *tap) ThrowError(ctx context.Context, r *pb.ThrowErrorRequest) (*pb.ThrowErrorResponse, error) {
	return t.broker.ThrowError(ctx, r)
}

func (t *tap) FailJob(ctx context.Context, r *pb.FailJobRequest) (*pb.FailJobResponse, error) {
	return t.broker.FailJob(ctx, r)
}

func (t *tap) ActivateJobs(r *pb.ActivateJobsRequest, worker pb.Gateway_ActivateJobsServer) error {
	jobs, err := t.broker.ActivateJobs(worker.Context(), r)
	for err == nil {
		var response *pb.ActivateJobsResponse
		if response, err = jobs.Recv(); err == nil {
			err = worker.Send(response)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
