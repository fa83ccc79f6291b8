// Package engine runs BPMN processes as Camunda 8 does, for tests and the demo. It has no goroutine and no clock of its own:
// a command and a time go in, an answer and records come out.
package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// DefaultTenant is the tenant of a cluster without multi-tenancy.
const DefaultTenant = "<default>"

// partitionBits is where the number of its partition begins in a key.
const partitionBits = 51

// Engine holds all state. It is not safe for concurrent use.
type Engine struct {
	// Out gets each record, if it is set.
	Out func(Record)
	// Partitions is how many partitions the process instances are spread over, one at first. They share one log.
	Partitions int
	// Tenant is the only tenant, [DefaultTenant] at first.
	Tenant string
	// Keys is how many keys were given so far.
	Keys int64

	now     time.Time
	created int64 // process instances of clients so far
	// position is that of the last record, source that of the command under way, -1 where there is no record of it.
	position, source int64
	// steps are what the command under way still has to do. A model's loops do not nest in the stack.
	steps []func()

	deployed  []*deployed // oldest first
	instances map[int64]*instance
	jobs      map[int64]*job
	ready     map[string]*queue // activatable jobs by type
	alarms    alarms
	subs      []*subscription
	messages  []*message
	incidents map[int64]*incident
	userTasks map[int64]*userTask
}

// New returns an engine on which nothing is deployed.
func New() *Engine {
	return &Engine{
		Partitions: 1,
		Tenant:     DefaultTenant,
		instances:  map[int64]*instance{},
		jobs:       map[int64]*job{},
		ready:      map[string]*queue{},
		incidents:  map[int64]*incident{},
		userTasks:  map[int64]*userTask{},
	}
}

// CompleteUserTask is a command that gRPC has no message for.
type CompleteUserTask struct {
	Key       int64
	Variables string
}

// Do does what a client asks for, at a time, and returns the answer, for example a *pb.CompleteJobResponse. Errors are
// those of gRPC.
func (e *Engine) Do(now time.Time, request any) (answer any, err error) {
	e.now, e.source = now, -1
	defer e.run()
	switch r := request.(type) {
	case *pb.DeployResourceRequest:
		return e.deploy(r)
	case *pb.CreateProcessInstanceRequest:
		return e.create(r)
	case *pb.CancelProcessInstanceRequest:
		return e.cancel(r)
	case *pb.ActivateJobsRequest:
		return e.activateJobs(r), nil
	case *pb.CompleteJobRequest:
		return e.completeJob(r)
	case *pb.ThrowErrorRequest:
		return e.throwError(r)
	case *pb.FailJobRequest:
		return e.failJob(r)
	case *pb.UpdateJobRetriesRequest:
		return e.updateRetries(r)
	case *pb.UpdateJobTimeoutRequest:
		return e.updateTimeout(r)
	case *pb.SetVariablesRequest:
		return e.setVariables(r)
	case *pb.ResolveIncidentRequest:
		return e.resolveIncident(r)
	case *pb.PublishMessageRequest:
		return e.publish(r)
	case *CompleteUserTask:
		return nil, e.completeUserTask(r)
	}
	return nil, status.Errorf(codes.Unimplemented, "%T is not supported by this engine", request)
}

// Tick lets happen what is due at a time, in the order in which it falls due: timers, ends of locks and pauses of jobs, ends
// of messages.
func (e *Engine) Tick(now time.Time) {
	e.now = now
	for due, ok := e.NextDue(); ok && !due.After(now); due, ok = e.NextDue() {
		e.source = -1
		e.alarms.pop().ring()
		e.run()
	}
}

// NextDue returns when something happens by itself; ok is false where nothing will.
func (e *Engine) NextDue() (at time.Time, ok bool) {
	if len(e.alarms) == 0 {
		return time.Time{}, false
	}
	return e.alarms[0].due, true
}

// Available reports whether there is a job of a type to be activated.
func (e *Engine) Available(jobType string) bool {
	q := e.ready[jobType]
	return q != nil && q.jobs > 0
}

// deployed is a version of a process or of a form.
type deployed struct {
	key      int64
	version  int32
	id       string
	process  *model.Process // nil for a form
	resource string
	content  []byte
}

// latest returns the newest version of a process, or of a form, nil if there is none.
func (e *Engine) latest(id string, isProcess bool) (found *deployed) {
	for _, d := range e.deployed {
		if d.id == id && (d.process != nil) == isProcess {
			found = d
		}
	}
	return found
}

// key returns a new key on a partition. One row of numbers serves all things.
func (e *Engine) key(partition int64) int64 {
	e.Keys++
	return partition<<partitionBits + e.Keys
}

// then adds a step to those of the command under way.
func (e *Engine) then(step func()) { e.steps = append(e.steps, step) }

// run does all steps.
func (e *Engine) run() {
	for len(e.steps) > 0 {
		step := e.steps[0]
		e.steps = e.steps[1:]
		step()
	}
}

// Record is one entry of the log, as a broker's exporters see it.
type Record struct {
	Position   int64  `json:"position"`
	Timestamp  int64  `json:"timestamp"`  // milliseconds of Unix time
	RecordType string `json:"recordType"` // COMMAND or EVENT
	ValueType  string `json:"valueType"`
	Intent     string `json:"intent"`
	Key        int64  `json:"key"`
	Value      Value  `json:"value"`
	Source     int64  `json:"sourceRecordPosition"` // of the command that led to it; -1 for none
}

// Value is what a record says.
type Value = map[string]any

// event records what has happened.
func (e *Engine) event(valueType, intent string, key int64, v Value) {
	e.emit("EVENT", valueType, intent, key, v)
}

// command records the answer of a worker or of a person, of which only what was sent. The records that follow name it as
// their source.
func (e *Engine) command(valueType, intent string, key int64, v Value) {
	e.emit("COMMAND", valueType, intent, key, v)
	e.source = e.position
}

func (e *Engine) emit(recordType, valueType, intent string, key int64, v Value) {
	e.position++
	if e.Out != nil {
		e.Out(Record{e.position, e.now.UnixMilli(), recordType, valueType, intent, key, v, e.source})
	}
}

// rejections are the reasons for which a command is rejected, with the codes that clients get.
var rejections = map[string]codes.Code{
	"NOT_FOUND":        codes.NotFound,
	"INVALID_STATE":    codes.FailedPrecondition,
	"INVALID_ARGUMENT": codes.InvalidArgument,
	"ALREADY_EXISTS":   codes.AlreadyExists,
}

// reject returns the error that a client gets for a command.
func reject(intent, reason, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return status.Errorf(rejections[reason], "Command '%s' rejected with code '%s': %s", intent, reason, text)
}

// CheckTenants refuses tenants other than the one; none and "" are the default one. method is the name in the refusal.
func (e *Engine) CheckTenants(method string, tenants ...string) error {
	if len(tenants) == 0 {
		tenants = []string{DefaultTenant}
	}
	for _, tenant := range tenants {
		switch {
		case cmp.Or(tenant, DefaultTenant) == e.Tenant:
		case e.Tenant == DefaultTenant:
			return status.Errorf(codes.InvalidArgument,
				"Expected to handle gRPC request %s with tenant identifier '%s', but multi-tenancy is disabled", method, tenant)
		default:
			return status.Errorf(codes.PermissionDenied, "Expected to handle gRPC request %s with tenant identifier '%s', "+
				"but tenant is not authorized to perform this request", method, tenant)
		}
	}
	return nil
}
