package gateway

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Method is the name of a gateway's method.
type Method string

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

// faults is everything that goes wrong on demand.
type faults struct {
	mu      sync.Mutex
	calls   map[Method][]Fault
	kept    []Call
	deliver func(*pb.ActivatedJob)
}

// Deliver shows every job that a poll gets to change before it is sent, which may change it; nil ends that.
func (g *Gateway) Deliver(change func(*pb.ActivatedJob)) {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	g.faults.deliver = change
}

func (f *faults) delivers(jobs []*pb.ActivatedJob) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deliver != nil {
		for _, j := range jobs {
			f.deliver(j)
		}
	}
}

// Inject adds a fault for the next calls of a method, after the faults injected earlier.
func (g *Gateway) Inject(m Method, f Fault) {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	if g.faults.calls == nil {
		g.faults.calls = map[Method][]Fault{}
	}
	g.faults.calls[m] = append(g.faults.calls[m], f)
}

// Heal removes all faults that have not happened yet.
func (g *Gateway) Heal() {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	g.faults.calls = nil
}

// Calls returns the calls of these methods, or all, in the order in which they arrived. It needs [Options].KeepCalls.
func (g *Gateway) Calls(methods ...Method) (calls []Call) {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	for _, c := range g.faults.kept {
		if len(methods) == 0 || slices.Contains(methods, c.Method) {
			calls = append(calls, c)
		}
	}
	return calls
}

// arrive keeps a call and returns the fault that is to happen to it.
func (g *Gateway) arrive(ctx context.Context, request proto.Message) Fault {
	name, _ := strings.CutSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")
	m, f := Method(name), &g.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if g.options.KeepCalls {
		c := Call{Method: m, At: time.Now(), Request: request}
		if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) > 0 {
			c.Authorization = md.Get("authorization")[0]
		}
		f.kept = append(f.kept, c)
	}
	next := f.calls[m]
	if len(next) == 0 {
		return Fault{}
	}
	if next[0].Times > 0 {
		next[0].Times--
	}
	if next[0].Times == 0 {
		f.calls[m] = next[1:]
	}
	return next[0]
}

// outcome applies the fault; err is the result of the call itself.
func (f Fault) outcome(ctx context.Context, request proto.Message, err error) error {
	sleep(ctx, f.Delay)
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

// sleep returns when d is over or ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// lost reports whether the call has no effect.
func (f Fault) lost() bool { return !f.Applied && (f.Hang || f.Code != codes.OK) }

// serve answers a call, and lets its fault happen.
func (g *Gateway) serve(ctx context.Context, request proto.Message) (answer any, err error) {
	fault := g.arrive(ctx, request)
	if !fault.lost() {
		answer, err = g.Do(request)
	}
	if err = fault.outcome(ctx, request, err); err != nil {
		return nil, err
	}
	return answer, nil
}
