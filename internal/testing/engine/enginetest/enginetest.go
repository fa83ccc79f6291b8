// Package enginetest puts jobs on an engine in the process of a test, and shows what became of them. Everything works in a
// bubble of testing/synctest, where locks and long polls end to the millisecond.
package enginetest

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"

	"hospital.example/analyze-retry/internal/testing/engine"
	"hospital.example/analyze-retry/internal/testing/engine/gateway"
)

// Job is a job to be put on the engine. It is that of the one task of a process, which ends with it.
type Job struct {
	// Type is the job type.
	Type string
	// Variables is the JSON object that a worker gets, less what it does not fetch.
	Variables string
	// Retries defaults to 3.
	Retries int32
	// ProcessID and ElementID name the process and its task; empty ones are made up.
	ProcessID, ElementID string
	// Poison names a variable that is nested too deep: a poll that fetches it locks its jobs and is never answered.
	Poison string
}

// Fault is what goes wrong with the next calls of a method. What the gateway has is here too, so that a test needs one
// package.
type Fault = gateway.Fault

// Method is the name of a gateway's method.
type Method = gateway.Method

// Call is a call as it arrived.
type Call = gateway.Call

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

// State is the state of a job.
type State uint8

// The states of a job.
const (
	Waiting   State = iota + 1 // to be activated
	Locked                     // activated and not answered
	Completed                  // answered by CompleteJob
	Thrown                     // answered by ThrowError
	Incident                   // failed without retries left
)

// Counts holds how many jobs are in each state, and how many locks ran out so far.
type Counts struct {
	Waiting, Locked, Completed, Thrown, Incident int
	Expired                                      int
}

// job is what the records say of a job.
type job struct {
	state    State
	retries  int32
	message  string // of the last failure
	instance int64  // of its task
}

// Gateway is an engine and its gateway.
type Gateway struct {
	*gateway.Gateway
	deployed map[string]bool
	tenant   string

	mu      sync.Mutex
	jobs    map[int64]*job
	states  [Incident + 1]int // how many jobs are in each; a benchmark asks often
	created int64             // the key of the newest job
	expired int
}

// New returns an engine on which nothing is deployed and which does not listen yet; the options are those of its gRPC
// server.
func New(options ...grpc.ServerOption) *Gateway {
	g := &Gateway{deployed: map[string]bool{}, jobs: map[int64]*job{}}
	g.Gateway = gateway.New(gateway.Options{Server: options, KeepCalls: true, Record: g.record})
	return g
}

// Partition spreads the jobs that come from now on over n partitions in turn.
func (g *Gateway) Partition(n int) { g.Locked(func(e *engine.Engine) { e.Partitions = n }) }

// Assign makes a tenant the only one. It is assigned to all credentials.
func (g *Gateway) Assign(tenant string) {
	g.tenant = tenant
	g.Locked(func(e *engine.Engine) { e.Tenant = tenant })
}

// Listen serves gRPC on a free port of the loopback interface and returns its address.
func (g *Gateway) Listen() (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on loopback: %w", err)
	}
	g.Serve(l)
	return l.Addr().String(), nil
}

// Add puts jobs on the engine and returns their keys.
func (g *Gateway) Add(jobs ...Job) (keys []int64) {
	for _, j := range jobs {
		if j.Poison != "" {
			j.Variables = withDeep(j.Variables, j.Poison)
		}
		_, err := g.Do(&pb.CreateProcessInstanceRequest{
			BpmnProcessId: g.deploy(j), Version: -1, Variables: j.Variables, TenantId: g.tenant,
		})
		must(err)
		g.mu.Lock()
		keys = append(keys, g.created)
		g.mu.Unlock()
	}
	return keys
}

// deploy deploys the model of a job, unless it is there, and returns the id of its process.
func (g *Gateway) deploy(j Job) (id string) {
	if j.Retries == 0 {
		j.Retries = 3
	}
	if j.ElementID == "" {
		j.ElementID = "Task"
	}
	if id = j.ProcessID; id == "" {
		id = fmt.Sprintf("Process_%s_%d_%s", strings.ReplaceAll(j.Type, ":", "_"), j.Retries, j.ElementID)
	}
	if g.deployed[id] {
		return id
	}
	g.deployed[id] = true
	content := fmt.Sprintf(oneTask, escaped(id), escaped(j.ElementID), escaped(j.Type), j.Retries)
	_, err := g.Do(&pb.DeployResourceRequest{
		Resources: []*pb.Resource{{Name: id + ".bpmn", Content: []byte(content)}}, TenantId: g.tenant,
	})
	must(err)
	return id
}

// oneTask is a process with one task, whose errors end it too.
const oneTask = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="%[1]s" isExecutable="true">
<startEvent id="Start"/><sequenceFlow id="F1" sourceRef="Start" targetRef="%[2]s"/>
<serviceTask id="%[2]s"><extensionElements><zeebe:taskDefinition type="%[3]s" retries="%[4]d"/></extensionElements></serviceTask>
<sequenceFlow id="F2" sourceRef="%[2]s" targetRef="End"/><endEvent id="End"/>
<boundaryEvent id="Caught" attachedToRef="%[2]s"><errorEventDefinition/></boundaryEvent>
<sequenceFlow id="F3" sourceRef="Caught" targetRef="Stopped"/><endEvent id="Stopped"/>
</process>
</definitions>`

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// withDeep returns variables with one more, which nests deeper than a gateway can answer.
func withDeep(variables, name string) string {
	all := map[string]json.RawMessage{}
	must(json.Unmarshal([]byte(variables), &all))
	all[name] = json.RawMessage(strings.Repeat("[", 1001) + strings.Repeat("]", 1001))
	text, err := json.Marshal(all)
	must(err)
	return string(text)
}

// must panics on an error, which is one of the test.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// record follows the jobs.
func (g *Gateway) record(r engine.Record) {
	if r.RecordType != "EVENT" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.ValueType == "JOB_BATCH" {
		keys, _ := r.Value["jobKeys"].([]int64)
		for _, key := range keys {
			g.become(g.jobs[key], Locked)
		}
	}
	if r.ValueType != "JOB" {
		return
	}
	if r.Intent == "CREATED" {
		g.jobs[r.Key] = &job{}
		g.jobs[r.Key].instance, _ = r.Value["elementInstanceKey"].(int64)
		g.created = r.Key
	}
	j := g.jobs[r.Key]
	j.retries, _ = r.Value["retries"].(int32)
	switch r.Intent {
	case "CREATED", "RECURRED_AFTER_BACKOFF":
		g.become(j, Waiting)
	case "TIMED_OUT":
		g.become(j, Waiting)
		g.expired++
	case "COMPLETED":
		g.become(j, Completed)
	case "ERROR_THROWN":
		g.become(j, Thrown)
	case "FAILED":
		j.message, _ = r.Value["errorMessage"].(string)
		g.become(j, Waiting)
		if j.retries <= 0 {
			g.become(j, Incident)
		}
	}
}

// become changes the state of a job. The caller holds the mutex.
func (g *Gateway) become(j *job, s State) {
	g.states[j.state]--
	g.states[s]++
	j.state = s
}

// Cure makes a poisoned job one that can be delivered, from the next poll on.
func (g *Gateway) Cure(key int64, poison string) {
	g.mu.Lock()
	instance := g.jobs[key].instance
	g.mu.Unlock()
	text, err := json.Marshal(map[string]any{poison: nil})
	must(err)
	_, err = g.Do(&pb.SetVariablesRequest{ElementInstanceKey: instance, Variables: string(text)})
	must(err)
}

// Counts returns how many jobs are in each state.
func (g *Gateway) Counts() Counts {
	counts, _ := g.counted()
	return counts
}

// counted returns the counts, and a channel that is closed at the next change.
func (g *Gateway) counted() (c Counts, changed <-chan struct{}) {
	changed = g.Locked(func(*engine.Engine) {
		g.mu.Lock()
		defer g.mu.Unlock()
		c = Counts{
			Waiting: g.states[Waiting], Locked: g.states[Locked], Completed: g.states[Completed],
			Thrown: g.states[Thrown], Incident: g.states[Incident], Expired: g.expired,
		}
	})
	return c, changed
}

// Wait waits until the counts satisfy a condition, or ctx ends.
func (g *Gateway) Wait(ctx context.Context, until func(Counts) bool) error {
	for {
		counts, changed := g.counted()
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

// Job returns a job's state, the retries it has left and the message of its last failure.
func (g *Gateway) Job(key int64) (state State, retries int32, message string) {
	g.Locked(func(*engine.Engine) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if j := g.jobs[key]; j != nil {
			state, retries, message = j.state, j.retries, j.message
		}
	})
	return state, retries, message
}
