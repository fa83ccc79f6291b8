package e2e

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// claim is one process instance that brings a claim to its insurer, with everything that it calls.
type claim struct {
	*scene
	instance int64
	// seen is the position of the last record that the story has come to.
	seen int64
	// asked is the position of the record of the last user task that the test took.
	asked int64
}

// submits starts SUB_06 for a claim.
func (s *scene) submits(claimID string) *claim {
	s.Helper()
	return s.start("SUB_06", vars{"claimId": claimID})
}

// start creates an instance of a process. What is left of it when the test ends is cancelled, so that no job of it gets
// into the way of the next test.
func (s *scene) start(process string, variables vars) *claim {
	s.Helper()
	created, err := s.broker.CreateProcessInstance(s.Context(), &pb.CreateProcessInstanceRequest{
		BpmnProcessId: process, Version: -1, Variables: variables.json(s.T),
	})
	s.must(err)
	c := &claim{scene: s, instance: created.ProcessInstanceKey}
	s.Cleanup(c.cancel)
	return c
}

func (c *claim) cancel() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), time.Minute) // the test's own has ended
	defer cancel()
	// An instance that has come to its end is not found, and that is well.
	_, _ = c.broker.CancelProcessInstance(ctx, &pb.CancelProcessInstanceRequest{ProcessInstanceKey: c.instance})
}

// has reports whether a process instance is this one or was called from it, over however many calls. An instance of an
// earlier test may have begun before this one and still be heard of.
func (c *claim) has(instance int64) bool {
	c.Helper()
	for instance > 0 && instance != c.instance {
		instance = c.await("the start of a process instance", "PROCESS_INSTANCE", "ELEMENT_ACTIVATING", func(e event) bool {
			return e.Key == instance
		}).ParentProcessInstanceKey
	}
	return instance == c.instance
}

// next returns the first event of a type in this claim after the one that the story has come to, and goes on to it.
func (c *claim) next(what, valueType, intent string, match func(event) bool) event {
	c.Helper()
	e := c.await(what, valueType, intent, func(e event) bool {
		return e.Position > c.seen && match(e) && c.has(e.ProcessInstanceKey)
	})
	c.seen = e.Position
	return e
}

// task takes the claim's next job of a type. The gateway hands a job out before its record is exported; what the test
// then reads of the records has to be as far as the story.
func (c *claim) task(jobType string) *task {
	c.Helper()
	t := c.take(jobType)
	c.await("the record of a "+jobType+" job", "JOB", "CREATED", func(e event) bool { return e.Key == t.key })
	if !c.has(t.instance) {
		c.Fatalf("a %s job came from process instance %d, which is none of claim %d", jobType, t.instance, c.instance)
	}
	return t
}

// submission takes the claim's next submission, as the worker does that speaks with the insurer.
func (c *claim) submission() *task {
	c.Helper()
	return c.task(submitClaim)
}

// submissionFails lets the next submission fail with what the insurer said.
func (c *claim) submissionFails(text string) {
	c.Helper()
	c.submission().fails(text)
}

// notifies takes the notification of a team, to look at, and lets it be done.
func (c *claim) notifies(team string) *task {
	c.Helper()
	t := c.task(notifyTeam)
	t.holds(vars{"team": team}).complete(nil)
	return t
}

// incident returns the next incident of the claim.
func (c *claim) incident() event {
	c.Helper()
	return c.next("an incident", "INCIDENT", "CREATED", func(event) bool { return true })
}

// resolves does what an operator does with an incident of a job: corrects the variables, if there are any to correct,
// and has the job tried once more.
func (c *claim) resolves(incident event, corrected vars) {
	c.Helper()
	ctx := c.Context()
	_, err := c.broker.SetVariables(ctx, &pb.SetVariablesRequest{
		ElementInstanceKey: incident.ProcessInstanceKey, Variables: corrected.json(c.T),
	})
	c.must(err)
	_, err = c.broker.UpdateJobRetries(ctx, &pb.UpdateJobRetriesRequest{JobKey: incident.JobKey, Retries: 1})
	c.must(err)
	_, err = c.broker.ResolveIncident(ctx, &pb.ResolveIncidentRequest{IncidentKey: incident.Key})
	c.must(err)
}

// ends waits until the claim's own process instance is completed.
func (c *claim) ends() {
	c.Helper()
	c.await("the end of the process instance", "PROCESS_INSTANCE", "ELEMENT_COMPLETED", func(e event) bool {
		return e.Key == c.instance
	})
}

// endsAt is ends of a process whose last end event was this one. A subprocess has end events of its own.
func (c *claim) endsAt(element string) {
	c.Helper()
	c.ends()
	var ends []string
	for _, e := range c.events("PROCESS_INSTANCE", "ELEMENT_COMPLETED", func(e event) bool {
		return e.ProcessInstanceKey == c.instance && e.BpmnElementType == "END_EVENT"
	}) {
		ends = append(ends, e.ElementID)
	}
	if len(ends) == 0 || ends[len(ends)-1] != element {
		c.Errorf("the process instance ended at %v, want %s", ends, element)
	}
}

// variables are the process variables of the claim's own instance as they stand now, or stood at its end.
func (c *claim) variables() vars {
	c.Helper()
	return c.variablesOf(c.instance)
}

// variablesOf are those of a process instance of the claim.
func (c *claim) variablesOf(instance int64) vars {
	c.Helper()
	ours := func(e event) bool { return e.ScopeKey == instance }
	changes := append(c.events("VARIABLE", "CREATED", ours), c.events("VARIABLE", "UPDATED", ours)...)
	v := vars{}
	for _, e := range changes { // a variable is created once, and before it is updated
		v[e.Name] = readVars(c.T, `{"value":`+e.VariableValue+`}`)["value"]
	}
	return v
}

// jobs are the jobs of a type that the claim has had so far.
func (c *claim) jobs(jobType string) []event {
	c.Helper()
	return c.events("JOB", "CREATED", func(e event) bool { return e.Type == jobType && c.has(e.ProcessInstanceKey) })
}

// pause is a wait of the claim: a timer at the broker.
type pause struct {
	claim *claim
	event
	minutes int
}

// waits returns the timer that the claim waits for. It must be for so many minutes.
func (c *claim) waits(shortest, longest int) pause {
	c.Helper()
	p := c.waitsAt("Event_WaitBackoff")
	p.isWithin(time.Duration(shortest)*time.Minute, time.Duration(longest)*time.Minute)
	return p
}

// waitsAt returns the timer of this event, which the claim waits for.
func (c *claim) waitsAt(element string) pause {
	c.Helper()
	timer := c.next("the claim's wait", "TIMER", "CREATED", func(e event) bool { return e.TargetElementID == element })
	return pause{c, timer, int(timer.Due().Sub(timer.At()).Round(time.Minute) / time.Minute)}
}

// isWithin fails the test where the timer is for another time. The broker reads its clock twice, for the due date and for the
// record, and may pause in between.
func (p pause) isWithin(shortest, longest time.Duration) {
	p.claim.Helper()
	if wait := p.Due().Sub(p.At()); wait > longest || wait < shortest-min(shortest/2, 10*time.Second) {
		p.claim.Errorf("the timer waits %v, want %v to %v", wait, shortest, longest)
	}
}

// passes moves the broker's clock to the end of the wait, where that has not come by itself.
func (p pause) passes() {
	p.claim.Helper()
	if left := p.Due().Sub(p.claim.clock()); left > 0 {
		p.claim.advance(left)
	}
}

// isOver reports whether the timer has fired.
func (p pause) isOver() bool {
	p.claim.Helper()
	return len(p.claim.events("TIMER", "TRIGGERED", func(e event) bool { return e.Key == p.Key })) > 0
}

// bands are the minutes that retry 1, 2, ... may wait (RN-BIL-005 section 4.1).
var bands = [][2]int{{5, 6}, {8, 12}, {16, 24}, {32, 48}, {64, 96}}

// isExhaustedBy lets every submission fail with the same text until no retry is left, and looks at each wait.
func (c *claim) isExhaustedBy(text string) {
	c.Helper()
	for i, band := range bands {
		c.submission().holds(vars{"retryCount": i}).fails(text)
		c.waits(band[0], band[1]).passes()
	}
	c.submissionFails(text)
}

// recorded fails the test unless the worker recorded these outcomes and answered each with no variable.
func (c *claim) recorded(want ...string) {
	c.Helper()
	var got []string
	for _, job := range c.events("JOB", "COMPLETED", func(e event) bool {
		return e.Type == recordOutcome && c.has(e.ProcessInstanceKey)
	}) {
		if got := c.answer(job); got != "{}" {
			c.Errorf("%s was completed with %s, want no variables", job.ElementID, got)
		}
		for _, v := range c.events("VARIABLE", "CREATED", func(e event) bool {
			return e.Name == "outcome" && e.ScopeKey == job.ElementInstanceKey
		}) {
			got = append(got, strings.Trim(v.VariableValue, `"`))
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("the worker recorded %q, want %q", got, want)
	}
}

// waitsForAnOrder waits until the process subscribes to the message of a redrive, at an event of this name or ending.
func (c *claim) waitsForAnOrder(at string) {
	c.Helper()
	c.next("the subscription of "+at, "PROCESS_MESSAGE_SUBSCRIPTION", "CREATED", func(e event) bool {
		return strings.HasSuffix(e.ElementID, at)
	})
}
