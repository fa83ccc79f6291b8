package gatewaytest

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/outage"
)

// Method is the name of a gateway's method.
type Method string

// The methods that the worker and its commands call.
const (
	ActivateJobs     Method = "ActivateJobs"
	CompleteJob      Method = "CompleteJob"
	ThrowError       Method = "ThrowError"
	FailJob          Method = "FailJob"
	Topology         Method = "Topology"
	DeployResource   Method = "DeployResource"
	PublishMessage   Method = "PublishMessage"
	UpdateJobTimeout Method = "UpdateJobTimeout"
)

// Fault is what goes wrong with the next calls of a method.
type Fault struct {
	// Times is how many calls are hit: one if it is 0, all that follow if it is negative.
	Times int
	// Delay delays the answer. The call takes effect before it.
	Delay time.Duration
	// Code is the answer instead; its text repeats the request and its credentials, as a gateway's may.
	Code codes.Code
	// Hang never answers.
	Hang bool
	// Applied lets the call take effect, so that only its answer is lost. A poll that is applied may have delivered its
	// jobs before it fails.
	Applied bool
	// Empty sends a message without jobs before the jobs of a poll, as Camunda's test gateway does.
	Empty bool
	// Endless sends messages without jobs, ten a second, until the client ends the poll.
	Endless bool
}

// Deliver has every job that a poll gets replaced, for a gateway that sends what was not asked for; nil for one that does not.
func (g *Gateway) Deliver(change func(*pb.ActivatedJob) []*pb.ActivatedJob) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deliveries = change
}

// Inject adds a fault for the next calls of a method, after the faults injected earlier.
func (g *Gateway) Inject(m Method, f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults[m] = append(g.faults[m], f)
}

// Heal removes all faults that have not happened yet.
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

// Calls returns the calls of these methods, or all, in the order in which they arrived.
func (g *Gateway) Calls(methods ...Method) (calls []Call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.calls {
		if len(methods) == 0 || slices.Contains(methods, c.Method) {
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
	f := &faults[0]
	if f.Times > 0 {
		f.Times--
	}
	if f.Times == 0 {
		g.faults[m] = faults[1:]
	}
	return *f
}

// outcome applies the fault; err is the result of the call itself.
func (f Fault) outcome(ctx context.Context, request any, err error) error {
	outage.Sleep(ctx, f.Delay)
	if f.Hang {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	if f.Code != codes.OK {
		md, _ := metadata.FromIncomingContext(ctx)
		return status.Errorf(f.Code, "scripted fault for: %v %s", request, md.Get("authorization"))
	}
	return err
}

// lost reports whether the call has no effect.
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

// interceptStream applies faults to polls. The request of a server stream arrives inside the call.
func (g *Gateway) interceptStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	s := &faultyStream{ServerStream: stream, gateway: g, method: Method(path.Base(info.FullMethod))}
	err := next(server, s)
	if s.fault.Empty && err == nil && !s.sent {
		err = stream.SendMsg(&pb.ActivateJobsResponse{})
	}
	if s.fault.lost() {
		return err
	}
	s.fault.Delay = 0 // SendMsg has applied it
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

// RecvMsg receives the request. A fault without effect ends the call here.
func (s *faultyStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	s.request, s.fault = m, s.gateway.arrive(s.Context(), s.method, m)
	if s.fault.lost() {
		return s.fault.outcome(s.Context(), m, nil)
	}
	for s.fault.Endless {
		if err := s.ServerStream.SendMsg(&pb.ActivateJobsResponse{}); err != nil {
			return err
		}
		if outage.Sleep(s.Context(), 100*time.Millisecond); s.Context().Err() != nil {
			return status.FromContextError(s.Context().Err()).Err()
		}
	}
	return nil
}

// SendMsg delays an answer that is to come late.
func (s *faultyStream) SendMsg(m any) error {
	outage.Sleep(s.Context(), s.fault.Delay)
	if err := s.Context().Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	if s.fault.Empty && !s.sent {
		if err := s.ServerStream.SendMsg(&pb.ActivateJobsResponse{}); err != nil {
			return err
		}
	}
	s.sent = true
	return s.ServerStream.SendMsg(m)
}
