// Package engine runs processes as Camunda 8 does, in one goroutine and on a clock that is handed in: a command and a time go in,
// an answer and records come out. The same commands at the same times lead to the same state, so that a journal of them is all
// that has to be kept.
package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/engine/feel"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// Engine holds all state. It is not safe for concurrent use.
type Engine struct {
	// Out gets each record, if it is set.
	Out func(Record)

	now              time.Time
	keys             int64
	position, source int64
	steps            []func()

	definitions []*definition
	forms       []*form
	instances   map[int64]*instance
	jobs        map[int64]*job
	ready       map[string][]int64 // by type, lowest key first
	timers      []*timer
	subs        []*subscription
	messages    []*message
	incidents   map[int64]*incident
	userTasks   map[int64]*instance
}

// New returns an engine without processes.
func New(Options) *Engine {
	return &Engine{
		instances: map[int64]*instance{}, jobs: map[int64]*job{}, ready: map[string][]int64{}, incidents: map[int64]*incident{}, userTasks: map[int64]*instance{},
	}
}

// Options are shims.
type Options struct {
	Partitions int
	Tenant     string
}

// DefaultTenant is the one.
const DefaultTenant = "<default>"

// Definition is one version of a process.
type Definition struct {
	Key                 int64
	ProcessID, Resource string
	Version             int32
	XML                 []byte
}

// Definitions returns those of a process, all for "", oldest first.
func (e *Engine) Definitions(id string) (all []Definition) {
	for _, d := range e.definitions {
		if id == "" || d.process.ID == id {
			all = append(all, Definition{d.key, d.process.ID, d.name, d.version, d.content})
		}
	}
	return all
}

// Record is one entry of the log, as exporters see it.
type Record struct {
	PartitionID     int            `json:"partitionId"`
	Value           map[string]any `json:"value"`
	Key             int64          `json:"key"`
	Timestamp       int64          `json:"timestamp"`
	ValueType       string         `json:"valueType"`
	Intent          string         `json:"intent"`
	RejectionType   string         `json:"rejectionType"`
	RejectionReason string         `json:"rejectionReason"`
	RecordType      string         `json:"recordType"`
	Position        int64          `json:"position"`
	Source          int64          `json:"sourceRecordPosition"`
}

// values is what a record says.
type values = map[string]any

// variables are JSON texts by name.
type variables map[string]json.RawMessage

type definition struct {
	key     int64
	version int32
	process *model.Process
	tenant  string
	name    string
	content []byte
}

type form struct {
	key, version     int64
	id, tenant, name string
	content          []byte
}

// instance is an element that runs.
type instance struct {
	key      int64
	el       *model.Element
	def      *definition
	scope    *instance // nil at the top of a process
	root     *instance
	caller   *instance // the call activity, of a root
	called   *instance // the root of what is called
	children []*instance
	vars     variables
	varKeys  map[string]int64
	job      *job
	userTask int64
	// inner is one of the runs of a multi-instance, counted from 1.
	inner   int
	items   []any
	outputs []any
	ended   bool
	// interrupted says that an event subprocess has ended what ran in it.
	interrupted bool
}

func (e *Engine) key() int64 {
	e.keys++
	return 1<<51 + e.keys
}

func (e *Engine) emit(recordType, valueType, intent string, key int64, v values) int64 {
	e.position++
	if e.Out != nil {
		e.Out(Record{
			PartitionID: 1, Value: v, Key: key, Timestamp: e.now.UnixMilli(), ValueType: valueType, Intent: intent, RejectionType: "NULL_VAL",
			RecordType: recordType, Position: e.position, Source: e.source,
		})
	}
	return e.position
}

func (e *Engine) event(valueType, intent string, key int64, v values) {
	e.emit("EVENT", valueType, intent, key, v)
}

// command notes what a client wants. The records that follow name it as their source.
func (e *Engine) command(valueType, intent string, key int64, v values) {
	e.source = -1
	e.source = e.emit("COMMAND", valueType, intent, key, v)
}

// The reasons for which a command is rejected, with the codes that clients get.
var rejections = map[string]codes.Code{
	"NOT_FOUND": codes.NotFound, "INVALID_STATE": codes.FailedPrecondition, "INVALID_ARGUMENT": codes.InvalidArgument, "ALREADY_EXISTS": codes.AlreadyExists,
}

func (e *Engine) reject(valueType, intent string, key int64, reason, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	e.position++
	if e.Out != nil {
		e.Out(Record{
			PartitionID: 1, Value: values{}, Key: key, Timestamp: e.now.UnixMilli(), ValueType: valueType, Intent: intent, RejectionType: reason, RejectionReason: text,
			RecordType: "COMMAND_REJECTION", Position: e.position, Source: e.source,
		})
	}
	return status.Errorf(rejections[reason], "Command '%s' rejected with code '%s': %s", intent, reason, text)
}

// then puts a step at the end of what is to be done for the command.
func (e *Engine) then(step func()) { e.steps = append(e.steps, step) }

// run does all steps.
func (e *Engine) run() {
	for len(e.steps) > 0 {
		step := e.steps[0]
		e.steps = e.steps[1:]
		step()
	}
}

func (i *instance) record() values {
	v := values{
		"bpmnElementType": i.el.RecordType(), "elementId": i.el.ID, "bpmnProcessId": i.def.process.ID, "version": i.def.version,
		"processDefinitionKey": i.def.key, "processInstanceKey": i.root.key, "flowScopeKey": int64(-1), "tenantId": i.def.tenant,
		"parentProcessInstanceKey": int64(-1), "parentElementInstanceKey": int64(-1),
	}
	if i.inner == 0 && i.el.Loop != nil {
		v["bpmnElementType"] = "MULTI_INSTANCE_BODY"
	}
	if i.scope != nil {
		v["flowScopeKey"] = i.scope.key
	}
	if c := i.root.caller; c != nil {
		v["parentProcessInstanceKey"], v["parentElementInstanceKey"] = c.root.key, c.key
	}
	return v
}

func (e *Engine) lifecycle(i *instance, intent string) {
	e.event("PROCESS_INSTANCE", intent, i.key, i.record())
}

// visible is what an expression at an instance can see. first goes before all others.
func (i *instance) visible(first variables) feel.Variables {
	return func(name string) (any, bool) {
		if raw, ok := first[name]; ok {
			return feel.FromJSON(raw), true
		}
		raw, ok := i.lookup(name)
		if !ok {
			return nil, false
		}
		return feel.FromJSON(raw), true
	}
}

func (i *instance) lookup(name string) (json.RawMessage, bool) {
	for ; i != nil; i = i.scope {
		if raw, ok := i.vars[name]; ok {
			return raw, true
		}
	}
	return nil, false
}

// all are the variables that an instance can see, those of these names if there are any.
func (i *instance) all(names []string) variables {
	found := variables{}
	for ; i != nil; i = i.scope {
		for name, raw := range i.vars {
			if _, hidden := found[name]; !hidden && (len(names) == 0 || slices.Contains(names, name)) {
				found[name] = raw
			}
		}
	}
	return found
}

// JSON writes variables as an object.
func (v variables) JSON() json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for n, name := range slices.Sorted(maps.Keys(v)) {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(feel.ToJSON(name))
		b.WriteByte(':')
		b.Write(v[name])
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// setLocal sets a variable of a scope.
func (e *Engine) setLocal(i *instance, name string, raw json.RawMessage) {
	intent := "UPDATED"
	if _, is := i.vars[name]; !is {
		intent = "CREATED"
		i.varKeys[name] = e.key()
	} else if string(i.vars[name]) == string(raw) {
		return
	}
	i.vars[name] = raw
	e.event("VARIABLE", intent, i.varKeys[name], values{
		"name": name, "value": string(raw), "scopeKey": i.key, "processInstanceKey": i.root.key, "processDefinitionKey": i.def.key,
		"bpmnProcessId": i.def.process.ID, "tenantId": i.def.tenant,
	})
}

func (e *Engine) setAll(i *instance, vars variables) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		e.setLocal(i, name, vars[name])
	}
}

// propagate sets variables where the nearest scope has them, else at the top.
func (e *Engine) propagate(from *instance, vars variables) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		at := from
		for at.scope != nil {
			if _, has := at.vars[name]; has {
				break
			}
			at = at.scope
		}
		e.setLocal(at, name, vars[name])
	}
}

func (e *Engine) eval(v *model.Value, i *instance, first variables) any {
	switch {
	case v == nil:
		return nil
	case v.Expr == nil:
		return v.Text
	}
	return v.Expr.Eval(e.now, i.visible(first))
}

// wrong is what an expression should have been; it becomes an incident.
type wrong struct{ kind, text string }

func (e *Engine) evalString(v *model.Value, i *instance) (string, *wrong) {
	got := e.eval(v, i, nil)
	if s, ok := got.(string); ok {
		return s, nil
	}
	return "", &wrong{"EXTRACT_VALUE_ERROR", fmt.Sprintf("Expected result of the expression '%s' to be 'STRING', but was '%s'.", strings.TrimPrefix(v.Text, "="), typeName(got))}
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "NULL"
	case bool:
		return "BOOLEAN"
	case string:
		return "STRING"
	case int64, float64:
		return "NUMBER"
	case []any:
		return "ARRAY"
	case map[string]any:
		return "OBJECT"
	case time.Duration:
		return "DURATION"
	case feel.Period:
		return "PERIOD"
	}
	return "DATE_TIME"
}

// mapped evaluates mappings in their order; each sees the results of those before it.
func (e *Engine) mapped(mappings []model.Mapping, i *instance) variables {
	results := variables{}
	for _, m := range mappings {
		got := e.eval(m.Source, i, results)
		name := m.Target[0]
		if len(m.Target) > 1 {
			current, _ := i.visible(results)(name)
			got = within(current, m.Target[1:], got)
		}
		results[name] = feel.ToJSON(got)
	}
	return results
}

// within sets a property in an object.
func within(current any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	object, _ := current.(map[string]any)
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	object[path[0]] = within(object[path[0]], path[1:], v)
	return object
}

type incident struct {
	key   int64
	at    *instance
	job   *job
	retry func()
	value values
}

func (e *Engine) incident(i *instance, j *job, w wrong, retry func()) {
	v := values{
		"errorType": w.kind, "errorMessage": w.text, "bpmnProcessId": i.def.process.ID, "processDefinitionKey": i.def.key, "processInstanceKey": i.root.key,
		"elementId": i.el.ID, "elementInstanceKey": i.key, "jobKey": int64(-1), "variableScopeKey": i.key, "tenantId": i.def.tenant,
	}
	if j != nil {
		v["jobKey"] = j.key
	}
	n := &incident{e.key(), i, j, retry, v}
	e.incidents[n.key] = n
	e.event("INCIDENT", "CREATED", n.key, v)
}

// resolved ends the incidents of an instance that ends.
func (e *Engine) resolved(i *instance) {
	for _, key := range slices.Sorted(maps.Keys(e.incidents)) {
		if n := e.incidents[key]; n.at == i {
			delete(e.incidents, key)
			e.event("INCIDENT", "RESOLVED", key, n.value)
		}
	}
}

// latest returns the newest version of a process, nil if there is none.
func (e *Engine) latest(id, tenant string) (found *definition) {
	for _, d := range e.definitions {
		if d.process.ID == id && d.tenant == tenant && (found == nil || d.version > found.version) {
			found = d
		}
	}
	return found
}

func byKey[T any](m map[int64]T) []int64 { return slices.Sorted(maps.Keys(m)) }

func or(tenant string) string { return cmp.Or(tenant, "<default>") }
