package gatewaytest

import (
	"context"
	"path"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Method names a call of the gateway.
type Method string

// The calls that a job worker and its commands make.
const (
	ActivateJobs   Method = "ActivateJobs"
	CompleteJob    Method = "CompleteJob"
	ThrowError     Method = "ThrowError"
	FailJob        Method = "FailJob"
	Topology       Method = "Topology"
	DeployResource Method = "DeployResource"
	PublishMessage Method = "PublishMessage"
)

// Fault is what goes wrong with the next calls of a method.
type Fault struct {
	// Times is how many calls are hit: one if it is 0, all that follow if it is negative.
	Times int
	// Delay holds the answer back for so long; alone, it is the whole fault. The call takes effect before it.
	Delay time.Duration
	// Code is what the call is answered with instead; its text repeats the request, as a gateway's may.
	Code codes.Code
	// Hang never answers.
	Hang bool
	// Applied lets the call take effect all the same: only its answer is lost. A poll that is applied may have
	// delivered its jobs before it fails.
	Applied bool
	// Empty sends a message without jobs before the jobs of a poll, and alone is the whole fault. Camunda's test gateway
	// does so.
	Empty bool
}

// Inject lets a fault happen to the calls of a method that follow, after those injected earlier are used up.
func (g *Gateway) Inject(m Method, f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults[m] = append(g.faults[m], &f)
}

// Heal forgets all faults that have not happened yet.
func (g *Gateway) Heal() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.faults)
}

// Call is a call as it arrived.
type Call struct {
	Method Method
	// At is when it arrived.
	At time.Time
	// Request is the message, for example a *pb.CompleteJobRequest. It is not to be changed.
	Request proto.Message
	// Authorization is the token that came with it.
	Authorization string
}

// Calls returns the calls of the methods named, or all, in the order in which they arrived.
func (g *Gateway) Calls(methods ...Method) []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	var calls []Call
	for _, c := range g.calls {
		for _, m := range methods {
			if c.Method == m {
				calls = append(calls, c)
			}
		}
		if len(methods) == 0 {
			calls = append(calls, c)
		}
	}
	return calls
}

// arrive records a call and returns the fault that is to happen to it.
func (g *Gateway) arrive(ctx context.Context, m Method, request any) Fault {
	c := Call{Method: m, At: time.Now()}
	c.Request, _ = request.(proto.Message)
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) > 0 {
		c.Authorization = md.Get("authorization")[0]
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, c)
	faults := g.faults[m]
	if len(faults) == 0 {
		return Fault{}
	}
	f := faults[0]
	if f.Times > 0 {
		f.Times--
	}
	if f.Times == 0 {
		g.faults[m] = faults[1:]
	}
	return *f
}

// outcome lets the fault happen; err is what the call itself came to.
func (f Fault) outcome(ctx context.Context, request any, err error) error {
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
		}
	}
	if f.Hang {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	if f.Code != codes.OK {
		return status.Errorf(f.Code, "scripted fault for: %v", request)
	}
	return err
}

// lost reports whether the call is to have no effect.
func (f Fault) lost() bool { return !f.Applied && (f.Hang || f.Code != codes.OK) }

func (g *Gateway) interceptUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	fault := g.arrive(ctx, Method(path.Base(info.FullMethod)), request)
	var response any
	var err error
	if !fault.lost() {
		response, err = next(ctx, request)
	}
	if err = fault.outcome(ctx, request, err); err != nil {
		return nil, err
	}
	return response, nil
}

// interceptStream lets faults happen to polls. The request of a server stream arrives inside of the call.
func (g *Gateway) interceptStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	s := &faultyStream{ServerStream: stream, gateway: g, method: Method(path.Base(info.FullMethod))}
	err := next(server, s)
	if s.fault.Empty && err == nil && !s.sent {
		err = stream.SendMsg(&pb.ActivateJobsResponse{})
	}
	if s.fault.lost() {
		return err
	}
	s.fault.Delay = 0 // was held back before it was sent
	return s.fault.outcome(stream.Context(), s.request, err)
}

type faultyStream struct {
	grpc.ServerStream
	gateway *Gateway
	method  Method
	request any
	fault   Fault
	sent    bool // a message has been sent
}

// RecvMsg takes the request; a fault without effect ends the call here.
func (s *faultyStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	s.request, s.fault = m, s.gateway.arrive(s.Context(), s.method, m)
	if s.fault.lost() {
		return s.fault.outcome(s.Context(), m, nil)
	}
	return nil
}

// SendMsg holds an answer back that is to come late.
func (s *faultyStream) SendMsg(m any) error {
	if s.fault.Delay > 0 {
		select {
		case <-time.After(s.fault.Delay):
		case <-s.Context().Done():
			return status.FromContextError(s.Context().Err()).Err()
		}
	}
	if s.fault.Empty && !s.sent {
		if err := s.ServerStream.SendMsg(&pb.ActivateJobsResponse{}); err != nil {
			return err
		}
	}
	s.sent = true
	return s.ServerStream.SendMsg(m)
}
