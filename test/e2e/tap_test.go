package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
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
	kept   chan keptAnswer
}

// keptAnswer is the completion of a job.
type keptAnswer struct {
	jobKey    int64
	variables string
}

// tapped serves a tap in front of the scene's broker until the test ends.
func (s *scene) tapped() (t *tap, address string) {
	s.Helper()
	t = &tap{broker: s.broker, kept: make(chan keptAnswer, 100)}
	if overREST(s.T) {
		return t, s.tappedREST(t)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
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

// tappedREST serves the tap's REST API until the test ends.
func (s *scene) tappedREST(t *tap) (address string) {
	s.Helper()
	broker, err := url.Parse(s.broker.RESTURL())
	s.must(err)
	transport := &http.Transport{}
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(broker) }, Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	mux.HandleFunc("POST /v2/jobs/{key}/completion", func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Variables json.RawMessage }
		key, err := strconv.ParseInt(r.PathValue("key"), 10, 64)
		if err = errors.Join(err, json.NewDecoder(r.Body).Decode(&body)); err != nil {
			s.Errorf("a completion that cannot be read: %v", err)
		}
		t.keep(r.Context(), key, string(body.Variables))
	})
	server := httptest.NewServer(mux)
	s.Cleanup(func() {
		server.CloseClientConnections() // polls can be open
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// keep keeps the answer and returns when the worker gives up.
func (t *tap) keep(ctx context.Context, jobKey int64, variables string) {
	t.kept <- keptAnswer{jobKey, variables}
	<-ctx.Done()
}

// answerTo returns the variables of the answer to a job that was kept from the broker. Answers to others are passed over: where the
// test takes longer than a lock, the worker gets jobs again and answers them once more.
func (t *tap) answerTo(s *scene, jobKey int64) (variables string) {
	s.Helper()
	late := time.After(patience)
	for {
		select {
		case kept := <-t.kept:
			if kept.jobKey == jobKey {
				return kept.variables
			}
		case <-late:
			s.Fatalf("the worker did not answer job %d within %v", jobKey, patience)
		}
	}
}

// CompleteJob keeps what it gets and never answers.
func (t *tap) CompleteJob(ctx context.Context, r *pb.CompleteJobRequest) (*pb.CompleteJobResponse, error) {
	t.keep(ctx, r.JobKey, r.Variables)
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
