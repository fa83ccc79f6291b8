// Package gateway serves the engine as a Camunda 8 gateway does: over gRPC, over the REST API of 8.8 and later, and with
// the broker's management port, where its clock can be moved.
package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // clients may compress their requests
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/testing/engine"
)

// version is what the topology shows: that of the APIs which are served.
const version = "8.9.0"

// Options describe a gateway. The zero value is one that keeps nothing.
type Options struct {
	// Server are the options of the gRPC server, for example its TLS credentials.
	Server []grpc.ServerOption
	// KeepCalls keeps every call for [Gateway.Calls].
	KeepCalls bool
	// Record gets every record of the engine, one at a time.
	Record func(engine.Record)
}

// Gateway is the gateway and the engine behind it. It is safe for concurrent use.
type Gateway struct {
	pb.UnimplementedGatewayServer // an interceptor answers every call but a poll
	options                       Options
	server                        *grpc.Server
	done                          chan struct{} // closed when nothing falls due any more
	faults                        faults

	mu      sync.Mutex
	engine  *engine.Engine
	offset  time.Duration // by which the clock was moved
	changed chan struct{} // closed at the next change
	closed  bool
	http    map[*http.Server]struct{} // servers of the REST API and of the management port
	// listeners are closed with the gateway: a server that has not begun to serve does not know its own.
	listeners []net.Listener

	lane sync.Mutex
	pace time.Duration
}

// New returns a gateway that does not listen yet. Its caller has to call [Gateway.Close].
func New(o Options) *Gateway { return before(engine.New(), 0, o) }

// before returns a gateway before an engine, whose clock was moved by so much.
func before(e *engine.Engine, offset time.Duration, o Options) *Gateway {
	g := &Gateway{
		options: o,
		engine:  e,
		offset:  offset,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		http:    map[*http.Server]struct{}{},
	}
	e.Out = o.Record
	g.server = grpc.NewServer(append(o.Server,
		// The last one: those of the options come before it.
		grpc.ChainUnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
			return g.serve(ctx, r.(proto.Message))
		}),
	)...)
	pb.RegisterGatewayServer(g.server, g)
	go g.run()
	return g
}

// Close ends all connections at once, as a killed gateway does, and stops the clock.
func (g *Gateway) Close() {
	g.mu.Lock()
	servers, listeners := g.http, g.listeners
	g.http, g.listeners = nil, nil
	if !g.closed {
		g.closed = true
		g.change()
	}
	g.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close()
	}
	for s := range servers {
		_ = s.Close()
	}
	g.server.Stop()
	<-g.done
}

// run lets happen what falls due, until the gateway is closed.
func (g *Gateway) run() {
	defer close(g.done)
	for {
		g.mu.Lock()
		g.tick()
		closed, changed := g.closed, g.changed
		wait := time.Hour
		if due, ok := g.engine.NextDue(); ok {
			wait = due.Sub(g.now())
		}
		g.mu.Unlock()
		if closed {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// now returns the time on the engine's clock, in whole milliseconds, as records have it. The caller holds the mutex.
func (g *Gateway) now() time.Time { return time.Now().Add(g.offset).Truncate(time.Millisecond) }

// SetClock sets how far the engine's clock is ahead of this process's. What falls due happens at once.
func (g *Gateway) SetClock(ahead time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setClock(ahead)
}

// setClock is SetClock. The caller holds the mutex.
func (g *Gateway) setClock(offset time.Duration) {
	g.offset = offset
	g.tick()
	g.change()
}

// SetPace sets a pause before each command of workers, in a lane that all of them take: a gateway that is slow under load,
// while whoever starts process instances is not slowed.
func (g *Gateway) SetPace(pause time.Duration) {
	g.lane.Lock()
	defer g.lane.Unlock()
	g.pace = pause
}

// tick lets happen what is due and returns the time. The caller holds the mutex.
func (g *Gateway) tick() time.Time {
	now := g.now()
	if due, ok := g.engine.NextDue(); ok && !due.After(now) && !g.closed {
		g.engine.Tick(now)
		g.change()
	}
	return now
}

// change wakes everybody who waits for a change. The caller holds the mutex.
func (g *Gateway) change() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Locked calls f while nothing happens, and returns a channel that is closed at the next change.
func (g *Gateway) Locked(f func(*engine.Engine)) (changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tick()
	f(g.engine)
	return g.changed
}

var errClosed = status.Error(codes.Unavailable, "the gateway is closed")

// Do passes a request to the engine, one at a time, and returns the answer. It is what every call becomes.
func (g *Gateway) Do(request any) (any, error) {
	if _, starts := request.(*pb.CreateProcessInstanceRequest); !starts {
		g.lane.Lock()
		sleep(context.Background(), g.pace)
		g.lane.Unlock()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if _, ok := request.(*pb.TopologyRequest); ok {
		return g.topology(), nil
	}
	answer, err := g.engine.Do(g.tick(), request)
	g.change()
	return answer, err
}

// topology shows one broker that leads all partitions, which are healthy.
func (g *Gateway) topology() *pb.TopologyResponse {
	broker := &pb.BrokerInfo{Host: "127.0.0.1", Port: 26501, Version: version}
	for n := range g.engine.Partitions {
		broker.Partitions = append(broker.Partitions, &pb.Partition{
			PartitionId: int32(n) + 1, Role: pb.Partition_LEADER, Health: pb.Partition_HEALTHY,
		})
	}
	return &pb.TopologyResponse{
		GatewayVersion: version, ClusterSize: 1, PartitionsCount: int32(len(broker.Partitions)),
		ReplicationFactor: 1, Brokers: []*pb.BrokerInfo{broker},
	}
}
