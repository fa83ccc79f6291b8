package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hospital.example/analyze-retry/internal/testing/engine/feel"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// instance is an element that runs. Each has a scope of variables.
type instance struct {
	key      int64
	el       *model.Element
	def      *deployed
	scope    *instance // that it runs in; nil for a process
	root     *instance // of its process
	caller   *instance // the call activity, of a process
	called   *instance // the process, of a call activity
	children []*instance

	vars    variables
	varKeys map[string]int64

	job      *job
	task     *userTask
	timers   []*timer
	subs     []*subscription
	incident *incident
	ended    bool
	// interrupted is set where an event subprocess has ended what ran in this scope.
	interrupted bool
}

// newInstance adds an instance of an element to a scope, which is nil for a process.
func (e *Engine) newInstance(el *model.Element, def *deployed, scope *instance, partition int64) *instance {
	i := &instance{
		key: e.key(partition), el: el, def: def, scope: scope, vars: variables{}, varKeys: map[string]int64{},
	}
	if i.root = i; scope != nil {
		i.root = scope.root
		scope.children = append(scope.children, i)
	}
	e.instances[i.key] = i
	return i
}

func (i *instance) partition() int64 { return i.root.key >> partitionBits }

// place is what all records about an instance say.
func (e *Engine) place(i *instance) Value {
	return Value{
		"elementId": i.el.ID, "elementInstanceKey": i.key, "bpmnProcessId": i.def.id,
		"processDefinitionKey": i.def.key, "processDefinitionVersion": i.def.version,
		"processInstanceKey": i.root.key, "tenantId": e.Tenant,
	}
}

// with returns a value with more in it.
func with(v, more Value) Value {
	maps.Copy(v, more)
	return v
}

// lifecycle records what happens to an instance.
func (e *Engine) lifecycle(i *instance, intent string) {
	v := with(e.place(i), Value{
		"bpmnElementType": i.el.RecordType, "parentProcessInstanceKey": int64(-1),
	})
	if c := i.root.caller; c != nil {
		v["parentProcessInstanceKey"] = c.root.key
	}
	e.event("PROCESS_INSTANCE", intent, i.key, v)
}

// variables are JSON texts by name.
type variables map[string]json.RawMessage

// JSON returns the variables as an object, their names sorted.
func (v variables) JSON() json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	return feel.ToJSON(map[string]json.RawMessage(v))
}

// get returns the variable that an instance sees: the nearest one.
func (i *instance) get(name string) (json.RawMessage, bool) {
	for ; i != nil; i = i.scope {
		if raw, ok := i.vars[name]; ok {
			return raw, true
		}
	}
	return nil, false
}

// visible returns the variables that an instance sees, those of these names if there are any.
func (i *instance) visible(names []string) variables {
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

// setLocal sets variables of a scope.
func (e *Engine) setLocal(i *instance, vars variables) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		old, known := i.vars[name]
		intent := "UPDATED"
		switch {
		case !known:
			intent = "CREATED"
			i.varKeys[name] = e.key(i.partition())
		case string(old) == string(vars[name]):
			continue
		}
		i.vars[name] = vars[name]
		e.event("VARIABLE", intent, i.varKeys[name], Value{
			"name": name, "value": string(vars[name]), "scopeKey": i.key, "bpmnProcessId": i.def.id,
			"processInstanceKey": i.root.key, "processDefinitionKey": i.def.key, "tenantId": e.Tenant,
		})
	}
}

// propagate sets each variable in the nearest scope that has it, from an instance outward, else at the process.
func (e *Engine) propagate(from *instance, vars variables) {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		at := from
		for at.scope != nil {
			if _, has := at.vars[name]; has {
				break
			}
			at = at.scope
		}
		e.setLocal(at, variables{name: vars[name]})
	}
}

// eval returns the value of an expression or of a fixed text, nil for none. Variables of first go before those of the scope.
func (e *Engine) eval(v *model.Value, i *instance, first variables) any {
	switch {
	case v == nil:
		return nil
	case v.Expr == nil:
		return v.Text
	}
	return v.Expr.Eval(e.now, func(name string) (any, bool) {
		raw, ok := first[name]
		if !ok {
			raw, ok = i.get(name)
		}
		if !ok {
			return nil, false
		}
		return feel.FromJSON(raw), true
	})
}

// mapped returns the results of mappings in their order. Each sees the results of those before it.
func (e *Engine) mapped(mappings []model.Mapping, i *instance) variables {
	results := variables{}
	for _, m := range mappings {
		results[m.Target] = feel.ToJSON(e.eval(m.Source, i, results))
	}
	return results
}

// problem is why an element cannot go on. It becomes an incident.
type problem struct{ kind, text string }

// mistyped is the problem of an expression whose value is of another type.
func (e *Engine) mistyped(v *model.Value, want string, got any) *problem {
	return &problem{"EXTRACT_VALUE_ERROR", fmt.Sprintf(
		"Expected result of the expression '%s' to be '%s', but was '%s'.", v.Text, want, feel.TypeName(got))}
}

type incident struct {
	key   int64
	at    *instance
	retry func()
	value Value
}

// raise raises an incident at an instance; retry is what is tried again when it is resolved.
func (e *Engine) raise(i *instance, p problem, retry func()) {
	v := with(e.place(i), Value{
		"errorType": p.kind, "errorMessage": p.text, "jobKey": int64(-1), "variableScopeKey": i.key,
	})
	if i.job != nil {
		v["jobKey"] = i.job.key
	}
	i.incident = &incident{e.key(i.partition()), i, retry, v}
	e.incidents[i.incident.key] = i.incident
	e.event("INCIDENT", "CREATED", i.incident.key, v)
}

// settle ends the incident of an instance, if it has one.
func (e *Engine) settle(i *instance) {
	if n := i.incident; n != nil {
		delete(e.incidents, n.key)
		i.incident = nil
		e.event("INCIDENT", "RESOLVED", n.key, n.value)
	}
}
