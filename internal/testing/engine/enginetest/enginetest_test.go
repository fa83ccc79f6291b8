package enginetest

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a client of a gateway in a bubble.
func connect(t *testing.T, g *Gateway) pb.GatewayClient {
	t.Helper()
	dial := g.Pipe()
	conn, err := grpc.NewClient("passthrough:///engine", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, address) }))
	check.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return pb.NewGatewayClient(conn)
}

// poll returns the jobs of one poll.
func poll(t *testing.T, client pb.GatewayClient, wait time.Duration) (jobs []*pb.ActivatedJob) {
	t.Helper()
	stream, err := client.ActivateJobs(t.Context(), &pb.ActivateJobsRequest{
		Type: "t", Worker: "w", Timeout: 5000, MaxJobsToActivate: 3, RequestTimeout: wait.Milliseconds(),
	})
	for err == nil {
		var r *pb.ActivateJobsResponse
		r, err = stream.Recv()
		jobs = append(jobs, r.GetJobs()...)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return jobs
}

func TestLocksAndLongPollsEndToTheMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Close()
		client := connect(t, g)
		key := g.Add(Job{Type: "t", Variables: `{"a":1}`})[0]
		if jobs := poll(t, client, -1*time.Millisecond); len(jobs) != 1 || jobs[0].Key != key || jobs[0].Variables != `{"a":1}` {
			t.Fatalf("polled %v", jobs)
		}
		check.Same(t, Counts{Locked: 1}, g.Counts(), "jobs")
		began := time.Now()
		check.Same(t, 1, len(poll(t, client, time.Minute)), "jobs when the lock is over")
		check.Same(t, 5*time.Second, time.Since(began), "time")
		check.Same(t, Counts{Locked: 1, Expired: 1}, g.Counts(), "jobs")
		began = time.Now()
		check.Same(t, 0, len(poll(t, client, 3*time.Second)), "jobs")
		check.Same(t, 3*time.Second, time.Since(began), "time")
	})
}
