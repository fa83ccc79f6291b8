// Package gatewaytest is a Zeebe gateway in the process of a test: a real gRPC server and a real HTTP server, over real or
// in-memory connections, in front of a queue of jobs that behaves like that of Zeebe 8.5 as far as a job worker can see.
//
// Differences: a lock ends to the millisecond (a real broker looks once a second), jobs do not belong to process instances
// that go on, and nothing is kept on disk.
package gatewaytest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
)

// partitionBits is where the number of its partition begins in a job's key, as in the broker.
const partitionBits = 51

// Gateway is the gateway and the broker behind it. It is safe for concurrent use.
type Gateway struct {
	pb.UnimplementedGatewayServer
	server *grpc.Server

	mu         sync.Mutex
	partitions int
	ahead      time.Duration     // of this process's clock
	assigned   string            // the tenant of the credentials; empty where multi-tenancy is off
	deadline   int64             // of every lock, as it is shown; 0 for the true one
	created    int64             // keys so far
	queues     map[string]*queue // by job type
	jobs       map[int64]*record
	counts     Counts
	changed    chan struct{} // closed and forgotten at the next change; nil while nobody waits for one
	faults     map[Method][]Fault
	deliveries func(*pb.ActivatedJob) []*pb.ActivatedJob
	calls      []Call

	definitions []definition
	servers     []*http.Server // of the REST API
}

// New returns a gateway that does not listen yet; the options are those of its gRPC server, for example its TLS
// credentials.
func New(options ...grpc.ServerOption) *Gateway {
	g := &Gateway{
		partitions: 1,
		queues:     map[string]*queue{},
		jobs:       map[int64]*record{},
		faults:     map[Method][]Fault{},
	}
	g.server = grpc.NewServer(append([]grpc.ServerOption{
		grpc.UnaryInterceptor(g.interceptUnary),
		grpc.StreamInterceptor(g.interceptStream),
	}, options...)...)
	pb.RegisterGatewayServer(g.server, g)
	return g
}

// Partition spreads the jobs over n partitions in turn. Polls begin with another partition each, as at the real gateway.
// Call it before Add.
func (g *Gateway) Partition(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.partitions = n
}

// ClockAhead sets how far the broker's clock is ahead of this process's. It shows in the ends of locks.
func (g *Gateway) ClockAhead(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = d
}

// ShowDeadline sets the end that every lock shows, in milliseconds of Unix time; 0 is the true one.
func (g *Gateway) ShowDeadline(milli int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadline = milli
}

// Skip skips n keys, as if n jobs had been created before. Call it before Add.
func (g *Gateway) Skip(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.created += int64(n)
}

// newKey returns a key on the partition whose turn it is. The caller holds the mutex.
func (g *Gateway) newKey() int64 {
	partition := g.created%int64(g.partitions) + 1
	g.created++
	return partition<<partitionBits + (g.created-1)/int64(g.partitions) + 1
}

// Listen serves on a free port of the loopback interface and returns its address.
func (g *Gateway) Listen() (address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on loopback: %w", err)
	}
	g.Serve(listener)
	return listener.Addr().String(), nil
}

// Serve serves on a listener in the background, until Close. A listener that breaks shows in the test that calls it.
func (g *Gateway) Serve(listener net.Listener) {
	go func() { _ = g.server.Serve(listener) }()
}

// Pipe serves in memory and returns the function that dials it, for grpc.WithContextDialer. Unlike a socket it works
// in a bubble of testing/synctest.
func (g *Gateway) Pipe() func(context.Context, string) (net.Conn, error) {
	listener := bufconn.Listen(1 << 20)
	g.Serve(listener)
	return func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
}

// Close cuts all connections, as a killed gateway does. The jobs stay, for the test to look at.
func (g *Gateway) Close() {
	g.mu.Lock()
	servers := g.servers
	g.mu.Unlock()
	for _, s := range servers {
		_ = s.Close()
	}
	g.server.Stop()
}

// change wakes those who wait for a change. The caller holds the mutex.
func (g *Gateway) change() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// onChange returns a channel that is closed at the next change. The caller holds the mutex.
func (g *Gateway) onChange() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

// Wait waits until the counts satisfy a condition, or ctx ends.
func (g *Gateway) Wait(ctx context.Context, until func(Counts) bool) error {
	for {
		g.mu.Lock()
		counts, changed := g.counts, g.onChange()
		g.mu.Unlock()
		if until(counts) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("gateway still at %+v: %w", counts, context.Cause(ctx))
		}
	}
}

// expire makes jobs available again whose lock has ended. The caller holds the mutex.
func (g *Gateway) expire(q *queue, now time.Time) {
	for len(q.locks) > 0 && !q.locks[0].deadline.After(now) {
		l := q.popLock()
		if j := g.jobs[l.key]; j.state == Locked && j.deadline.Equal(l.deadline) {
			g.counts.Expired++
			g.setState(j, Waiting)
		}
	}
}

// setState moves a job from one state to another. The caller holds the mutex.
func (g *Gateway) setState(j *record, state State) {
	g.counts.add(j.state, -1)
	g.counts.add(state, 1)
	j.state = state
	if state == Waiting {
		g.queue(j.Type).pushReady(j.Key)
	}
	g.change()
}

// queue returns the queue of a job type. The caller holds the mutex.
func (g *Gateway) queue(jobType string) *queue {
	q := g.queues[jobType]
	if q == nil {
		q = &queue{ready: make([][]int64, g.partitions)}
		g.queues[jobType] = q
	}
	return q
}
