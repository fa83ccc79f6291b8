package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
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
	deliver func(*pb.ActivatedJob) []*pb.ActivatedJob
	// away is until when every call is answered Unavailable.
	away time.Time
	// limit is how many requests may be under way; 0 is any number. pace is a pause inside the one lane, which makes a
	// gateway slow under load.
	limit int64
	pace  time.Duration
}

func (f *faults) pause() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pace
}

func (f *faults) most() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit
}

// Deliver has every job that a poll gets replaced, for a gateway that sends what was not asked for; nil ends that.
func (g *Gateway) Deliver(change func(*pb.ActivatedJob) []*pb.ActivatedJob) {
	g.faults.mu.Lock()
	defer g.faults.mu.Unlock()
	g.faults.deliver = change
}

func (f *faults) delivered(jobs []*pb.ActivatedJob) (all []*pb.ActivatedJob) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deliver == nil {
		return jobs
	}
	for _, j := range jobs {
		all = append(all, f.deliver(proto.CloneOf(j))...)
	}
	return all
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
	g.faults.calls, g.faults.away, g.faults.limit, g.faults.pace = nil, time.Time{}, 0, 0
}

// InjectText adds the faults of a text, one a line:
//
//	pace=4ms       a pause before each command
//	limit=1        more requests at a time are refused with RESOURCE_EXHAUSTED
//	away=10s       every call is answered UNAVAILABLE for so long
//	heal           ends all faults
//	CompleteJob code=UNAVAILABLE times=3 delay=2s hang applied empty endless
//	               what goes wrong with the next calls of a method, see [Fault]
//
// Where a line is wrong none of them happens, and the error names all that are.
func (g *Gateway) InjectText(text string) error {
	var wrong []error
	var inject []func()
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			f, err := g.fault(words)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("fault %q: %w", strings.TrimSpace(line), err))
			}
			inject = append(inject, f)
		}
	}
	if wrong != nil {
		return errors.Join(wrong...)
	}
	for _, f := range inject {
		f()
	}
	return nil
}

// fault reads one line.
func (g *Gateway) fault(words []string) (inject func(), err error) {
	name, value, _ := strings.Cut(words[0], "=")
	set := func(f func()) func() {
		return func() {
			g.faults.mu.Lock()
			defer g.faults.mu.Unlock()
			f()
		}
	}
	switch name {
	case "heal":
		return g.Heal, nil
	case "pace":
		d, err := time.ParseDuration(value)
		return set(func() { g.faults.pace = d }), err
	case "away":
		d, err := time.ParseDuration(value)
		return set(func() { g.faults.away = time.Now().Add(d) }), err
	case "limit":
		n, err := strconv.ParseInt(value, 10, 64)
		return set(func() { g.faults.limit = n }), err
	}
	if !g.serves(name) {
		return nil, errors.New("want pace=, limit=, away=, heal or the name of a gateway's method")
	}
	var f Fault
	for _, word := range words[1:] {
		if err := f.read(word); err != nil {
			return nil, err
		}
	}
	return func() { g.Inject(Method(name), f) }, nil
}

func (g *Gateway) serves(method string) bool {
	for _, service := range g.server.GetServiceInfo() {
		if slices.ContainsFunc(service.Methods, func(m grpc.MethodInfo) bool { return m.Name == method }) {
			return true
		}
	}
	return false
}

// read reads one property of a fault.
func (f *Fault) read(word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "code":
		err = f.Code.UnmarshalJSON([]byte(strconv.Quote(strings.ToUpper(value))))
	case "times":
		f.Times, err = strconv.Atoi(value)
	case "delay":
		f.Delay, err = time.ParseDuration(value)
	case "hang":
		f.Hang = true
	case "applied":
		f.Applied = true
	case "empty":
		f.Empty = true
	case "endless":
		f.Endless = true
	default:
		err = fmt.Errorf("%q is unknown, want code=, times=, delay=, hang, applied, empty or endless", word)
	}
	return err
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
	if time.Now().Before(f.away) {
		return Fault{Code: codes.Unavailable}
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
