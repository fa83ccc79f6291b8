package model

// connect resolves what elements say of one another.
func (r *reader) connect() {
	for _, x := range r.flows {
		from, to := reference(r, x, r.byID, x.Attr("sourceRef")), reference(r, x, r.byID, x.Attr("targetRef"))
		if from == nil || to == nil {
			continue
		}
		flow := &Flow{ID: x.Attr("id"), To: to}
		for _, c := range x.Named("conditionExpression") {
			flow.Condition = r.expression(x, c.Text)
		}
		from.Out = append(from.Out, flow)
		if flow.ID == r.xml[from].Attr("default") {
			from.Default = flow
		}
		r.incoming[to]++
		switch {
		case from.Parent != to.Parent, from.Kind == "process", from.Kind == "endEvent", from.EventSubprocess,
			to.Kind == "startEvent", to.Kind == "boundaryEvent", to.EventSubprocess:
			r.fail(x, "must not lead from %s '%s' to %s '%s'", from.Kind, from.ID, to.Kind, to.ID)
		case flow.Condition != nil && from.Kind != "exclusiveGateway":
			r.fail(x, "a condition is only supported after an exclusiveGateway")
		}
	}
	for _, e := range r.all {
		host := reference(r, r.xml[e], r.byID, r.xml[e].Attr("attachedToRef"))
		if host == nil {
			continue
		}
		host.Boundary = append(host.Boundary, e)
		if !host.isActivity() || host.Parent != e.Parent {
			r.fail(r.xml[e], "must be attached to an activity of its scope, not to '%s'", host.ID)
		}
	}
}

// check finds what is wrong with an element whose parts are known.
func (r *reader) check(e *Element) {
	x := r.xml[e]
	switch {
	case e.Kind == "eventBasedGateway" && min(len(e.Out), len(x.Named("outgoing"))) < 2:
		r.fail(x, "must have at least two outgoing sequence flows")
	case e.Kind == "exclusiveGateway" && x.Attr("default") != "" && e.Default == nil:
		r.fail(x, "its default flow '%s' must start at it", x.Attr("default"))
	case e.Kind == "endEvent" && e.Event == "error" && e.ErrorCode == "":
		r.fail(x, "must refer to an error with an errorCode")
	case e.Kind == "startEvent" && e.Event == "error" != e.Parent.EventSubprocess:
		r.fail(x, "must have an errorEventDefinition in an event subprocess, and there only")
	}
	for _, f := range e.Out {
		switch {
		case e.Kind == "exclusiveGateway" && len(e.Out) > 1 && f.Condition == nil && f != e.Default:
			r.fail(x, "Must have a condition or be default flow: '%s'", f.ID)
		case e.Kind == "eventBasedGateway" && (f.To.Kind != "intermediateCatchEvent" || r.incoming[f.To] > 1):
			r.fail(x, "must lead to intermediateCatchEvents to which nothing else leads, not to '%s'", f.To.ID)
		}
	}
}
