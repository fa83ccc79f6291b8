package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/testing/engine/feel"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

type timer struct {
	key    int64
	at     *instance
	target *model.Element
	due    time.Time
	alarm  *alarm
}

type subscription struct {
	key         int64
	at          *instance
	target      *model.Element
	name, value string // of the message: its name and correlation key
}

type message struct {
	key             int64
	name, value, id string
	vars            variables
	got             []string // the processes that have got it
}

// awaited returns the events that an instance waits for.
func (i *instance) awaited() (events []*model.Element) {
	switch i.el.Kind {
	case "intermediateCatchEvent":
		return []*model.Element{i.el}
	case "eventBasedGateway":
		for _, f := range i.el.Out {
			events = append(events, f.To)
		}
		return events
	}
	return i.el.Boundary
}

// listen opens the timers and subscriptions of an instance. It evaluates all of them first, and opens all or none.
func (e *Engine) listen(i *instance) *problem {
	var timers []*timer
	var subs []*subscription
	for _, el := range i.awaited() {
		switch el.Event {
		case "timer":
			due, p := e.due(el, i)
			if p != nil {
				return p
			}
			timers = append(timers, &timer{at: i, target: el, due: due})
		case "message":
			s, p := e.subscribe(el, i)
			if p != nil {
				return p
			}
			subs = append(subs, s)
		}
	}
	i.timers, i.subs = timers, subs
	for _, t := range timers {
		t.key = e.key(i.partition())
		t.alarm = e.alarms.set(t.key, t.due, func() { e.fire(t) })
		e.event("TIMER", "CREATED", t.key, e.timerValue(t))
	}
	for _, s := range subs {
		s.key = e.key(i.partition())
		e.subs = append(e.subs, s)
		e.event("PROCESS_MESSAGE_SUBSCRIPTION", "CREATING", s.key, e.subscriptionValue(s))
		e.then(func() { e.opened(s) })
	}
	return nil
}

// due returns when a timer is to fire.
func (e *Engine) due(el *model.Element, i *instance) (time.Time, *problem) {
	got := e.eval(el.Timer, i, nil)
	v := got
	text, isText := got.(string)
	switch {
	case isText && el.TimerKind == "timeDuration":
		v = feel.ParseDuration(text)
	case isText:
		v = feel.ParseDateTime(text)
	}
	if d, ok := v.(feel.Duration); ok && el.TimerKind == "timeDuration" {
		return d.From(e.now), nil
	}
	if at, ok := v.(feel.DateTime); ok && el.TimerKind == "timeDate" {
		return at.Time(), nil
	}
	what := "duration"
	if el.TimerKind == "timeDate" {
		what = "date-time"
	}
	return time.Time{}, &problem{"EXTRACT_VALUE_ERROR", fmt.Sprintf(
		"Invalid %s format '%v' for expression '%s'", what, feel.String(got), el.Timer.Text)}
}

// subscribe returns the subscription of a message event, which is not open yet.
func (e *Engine) subscribe(el *model.Element, i *instance) (*subscription, *problem) {
	got := e.eval(el.Message.CorrelationKey, i, nil)
	switch kind := feel.TypeName(got); kind {
	case "STRING", "NUMBER":
		value, _ := feel.String(got).(string)
		return &subscription{at: i, target: el, name: el.Message.Name, value: value}, nil
	default:
		return nil, &problem{"EXTRACT_VALUE_ERROR", fmt.Sprintf("Failed to extract the correlation key for '%s': "+
			"The value must be either a string or a number, but was '%s'.", el.Message.CorrelationKey.Text, kind)}
	}
}

func (e *Engine) timerValue(t *timer) Value {
	return with(e.place(t.at), Value{
		"dueDate": t.due.UnixMilli(), "targetElementId": t.target.ID, "repetitions": 1,
	})
}

func (e *Engine) subscriptionValue(s *subscription) Value {
	return with(e.place(s.at), Value{
		"messageName": s.name, "correlationKey": s.value, "elementId": s.target.ID, "interrupting": true,
	})
}

// deafen closes what an instance waits for.
func (e *Engine) deafen(i *instance) {
	for _, t := range i.timers {
		e.alarms.stop(t.alarm)
		e.event("TIMER", "CANCELED", t.key, e.timerValue(t))
	}
	for _, s := range i.subs {
		e.unsubscribe(s)
		e.event("PROCESS_MESSAGE_SUBSCRIPTION", "DELETED", s.key, e.subscriptionValue(s))
	}
	i.timers, i.subs = nil, nil
}

func (e *Engine) unsubscribe(s *subscription) {
	e.subs = slices.DeleteFunc(e.subs, func(o *subscription) bool { return o == s })
}

// fire lets a timer fire that is due.
func (e *Engine) fire(t *timer) {
	t.at.timers = slices.DeleteFunc(t.at.timers, func(o *timer) bool { return o == t })
	e.event("TIMER", "TRIGGERED", t.key, e.timerValue(t))
	e.trigger(t.at, t.target, nil)
}

// trigger lets an event happen that an instance waits for. A boundary event, and one behind an event-based gateway, gets an
// instance of its own in its place.
func (e *Engine) trigger(i *instance, target *model.Element, vars variables) {
	if target == i.el {
		e.complete(i, vars)
		return
	}
	scope := i.scope
	if i.el.Kind == "eventBasedGateway" {
		e.lifecycle(i, "ELEMENT_COMPLETING")
		e.end(i, "ELEMENT_COMPLETED")
	} else {
		e.terminate(i)
	}
	next := e.newInstance(target, scope.def, scope, scope.partition())
	e.lifecycle(next, "ELEMENT_ACTIVATING")
	e.lifecycle(next, "ELEMENT_ACTIVATED")
	e.complete(next, vars)
}

// publish gives a message to who waits for it, and keeps it for those who come while it lives.
func (e *Engine) publish(r *pb.PublishMessageRequest) (any, error) {
	if err := e.CheckTenants("PublishMessage", r.TenantId); err != nil {
		return nil, err
	}
	vars, err := parse(r.Variables)
	if err != nil {
		return nil, err
	}
	if r.MessageId != "" && slices.ContainsFunc(e.messages, func(m *message) bool {
		return m.name == r.Name && m.value == r.CorrelationKey && m.id == r.MessageId
	}) {
		return nil, reject("PUBLISH", "ALREADY_EXISTS",
			"Expected to publish a new message with id '%s', but a message with that id was already published", r.MessageId)
	}
	m := &message{key: e.key(1), name: r.Name, value: r.CorrelationKey, id: r.MessageId, vars: vars}
	for _, s := range slices.Clone(e.subs) {
		e.correlate(m, s)
	}
	if r.TimeToLive > 0 {
		e.messages = append(e.messages, m)
		e.alarms.set(m.key, e.now.Add(milliseconds(r.TimeToLive)), func() {
			e.messages = slices.DeleteFunc(e.messages, func(o *message) bool { return o == m })
		})
	}
	return &pb.PublishMessageResponse{Key: m.key, TenantId: e.Tenant}, nil
}

// opened gives a new subscription the first message that is kept for it. It is open a step later than its timer, because a
// broker asks the partition of the message first.
func (e *Engine) opened(s *subscription) {
	if s.at.ended {
		return
	}
	e.event("PROCESS_MESSAGE_SUBSCRIPTION", "CREATED", s.key, e.subscriptionValue(s))
	for _, m := range e.messages {
		if e.correlate(m, s) {
			return
		}
	}
}

// correlate gives a message to a subscription that still waits for it, once for each process.
func (e *Engine) correlate(m *message, s *subscription) bool {
	process := s.at.def.id
	if m.name != s.name || m.value != s.value || slices.Contains(m.got, process) || !slices.Contains(e.subs, s) {
		return false
	}
	m.got = append(m.got, process)
	e.unsubscribe(s)
	s.at.subs = slices.DeleteFunc(s.at.subs, func(o *subscription) bool { return o == s })
	e.event("PROCESS_MESSAGE_SUBSCRIPTION", "CORRELATED", s.key, e.subscriptionValue(s))
	e.trigger(s.at, s.target, m.vars)
	return true
}
