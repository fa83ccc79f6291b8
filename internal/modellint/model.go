package modellint

import (
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
)

// process is one process of a file, or without one that came with the worker, which is not looked at itself.
type process struct {
	*bpmnxml.Element
	id, file string
	// elements are those of its file by their ids.
	elements map[string]*bpmnxml.Element
	// nodes are in the order of the file, with those in sub-processes.
	nodes []*node
	byID  map[string]*node
	// starts are those of event sub-processes that catch errors.
	starts []*node
}

// node is a flow node of a process: a task, an event, a gateway or a sub-process.
type node struct {
	*bpmnxml.Element
	kind, id, name string
	process        *process
	// parent is the sub-process around it, nil at the top; a sub-process begins with its starts.
	parent *node
	starts []*node
	// host is the activity that a boundary event is attached to, boundary the events attached to an activity.
	host     *node
	boundary []*node
	// to are the nodes to which its sequence flows lead, flows what those ask, by their ids.
	to    []*node
	flows []entry
	// entries are its mappings, by the variable that they write (of a.b that is a), and its task headers.
	entries []entry
	// jobType is that of its task definition, calls the process that a call activity calls.
	jobType, calls string
	// errorCode is that of an error event; one that catches and has no code catches all.
	catchesErrors, throwsError bool
	errorCode                  string
	// timer is the definition of a timer event: a timeDuration, timeDate or timeCycle.
	timer entry
	// message is the name of the message that an event or a receive task waits for, key its correlation key.
	message, key string
	// variables are those that its expressions read.
	variables map[string]bool

	// analyzes and records are a task of this worker's: a decision, or a record of how a round ended.
	analyzes, records bool
	// called is the process that it calls, nil if that is not known.
	called *process
	// loops is a call of a process that analyzes; recorded is a record, or a call of a process that records,
	// or of one that is not known.
	loops, recorded bool
	// catchesOurs is an event that catches an error of the worker's.
	catchesOurs bool
	// analysis is, of an event that catches the error of a submission, the task that analyzes it. On the way
	// to it nothing is worked that could bring the error's text as well.
	analysis *node
	// behind is the analysis that a node follows over gateways and events, up to a timer or a task.
	behind *node
}

// entry is a value that stands in a node, under a name where there are several of a kind.
type entry struct {
	kind, name, value string
	line              int
	to                *node // of a flow where that leads
}

var nodeNames = regexp.MustCompile(`(?i)(task|event|gateway|subProcess|callActivity)$`)

func isNode(e *bpmnxml.Element) bool {
	return e.Name.Space == bpmnxml.BPMN && nodeNames.MatchString(e.Name.Local)
}

// place is that of a finding that is at no flow node.
func place(file string, e *bpmnxml.Element) *node {
	return &node{Element: e, id: e.Attr("id"), process: &process{file: file}}
}

// scope adds the nodes that are in an element: in the process itself, or in one of its nodes.
func (p *process) scope(e *bpmnxml.Element, parent *node) {
	for _, c := range e.Children {
		if !isNode(c) {
			continue
		}
		n := p.node(c)
		n.parent = parent
		p.nodes, p.byID[n.id] = append(p.nodes, n), n
		switch {
		case n.kind != "startEvent":
		case n.catchesErrors:
			p.starts = append(p.starts, n)
		case parent != nil:
			parent.starts = append(parent.starts, n)
		}
		p.scope(c, n)
	}
}

// node reads a flow node, without those that are in it.
func (p *process) node(e *bpmnxml.Element) *node {
	n := &node{Element: e, kind: e.Name.Local, id: e.Attr("id"), process: p, variables: map[string]bool{}}
	n.name = strings.Join(strings.Fields(e.Attr("name")), " ")
	for _, d := range append([]*bpmnxml.Element{e}, e.Children...) {
		switch d.Name.Local {
		case "taskDefinition":
			n.jobType = d.Attr("type")
		case "calledElement":
			n.calls = d.Attr("processId")
		case "ioMapping":
			for _, m := range d.Children {
				n.add(m, m.Name.Local, m.Attr("target"), m.Attr("source"))
			}
		case "taskHeaders":
			for _, h := range d.Children {
				n.add(h, "header", h.Attr("key"), h.Attr("value"))
			}
		case "script", "calledDecision":
			n.add(d, "output", d.Attr("resultVariable"), d.Attr("expression"))
		case "errorEventDefinition":
			n.throwsError, n.catchesErrors = n.kind == "endEvent", n.kind != "endEvent"
			n.errorCode = p.elements[d.Attr("errorRef")].Attr("errorCode")
		case "timerEventDefinition":
			for _, t := range d.Children {
				n.timer = entry{t.Name.Local, "", strings.TrimSpace(t.Text), t.Line, nil}
			}
		case "messageEventDefinition", "receiveTask":
			if message := p.elements[d.Attr("messageRef")]; n.jobType == "" { // what throws one is a job
				n.message = message.Attr("name")
				for _, s := range message.Named("subscription") {
					n.key = s.Attr("correlationKey")
				}
			}
		}
	}
	n.gather(e)
	return n
}

// add adds a mapping or header.
func (n *node) add(e *bpmnxml.Element, kind, name, value string) {
	variable, _, _ := strings.Cut(name, ".")
	variable, value = strings.TrimSpace(variable), strings.TrimSpace(value)
	n.entries = append(n.entries, entry{kind, variable, value, e.Line, nil})
}

// gather collects the variables that the expressions of a node read, without those of the nodes in it.
func (n *node) gather(e *bpmnxml.Element) {
	values := []string{e.Text}
	for _, a := range e.Attrs {
		values = append(values, a.Value)
	}
	for _, value := range values {
		for _, name := range (entry{value: value}).reads() {
			n.variables[name] = true
		}
	}
	for _, c := range e.Children {
		if !isNode(c) && !c.Is("sequenceFlow") && !c.Is("documentation") {
			n.gather(c)
		}
	}
}

// connect resolves the references between the nodes.
func (p *process) connect() {
	p.Walk(func(f *bpmnxml.Element) {
		from, to := p.byID[f.Attr("sourceRef")], p.byID[f.Attr("targetRef")]
		if from == nil || to == nil || !f.Is("sequenceFlow") {
			return
		}
		from.to = append(from.to, to)
		asked := entry{name: f.Attr("id"), to: to}
		for _, c := range f.Named("conditionExpression") {
			asked.kind, asked.value, asked.line = c.Name.Local, strings.TrimSpace(c.Text), c.Line
			from.gather(c)
		}
		from.flows = append(from.flows, asked)
	})
	for _, n := range p.nodes {
		if host := p.byID[n.Attr("attachedToRef")]; host != nil && n.kind == "boundaryEvent" {
			n.host, host.boundary = host, append(host.boundary, n)
		}
	}
}

// executable reports whether a broker runs it.
func (p *process) executable() bool { return p.Attr("isExecutable") == "true" }

// isScope reports whether other nodes are in it.
func (n *node) isScope() bool { return strings.HasSuffix(n.kind, "ubProcess") }

// isActivity reports whether it is work: what can produce variables of its own.
func (n *node) isActivity() bool {
	return strings.HasSuffix(strings.ToLower(n.kind), "task") || n.kind == "callActivity"
}

// reads returns the variables that the expression of an entry reads.
func (e entry) reads() []string {
	if feel, is := expression(e.value); is {
		return names(feel)
	}
	return nil
}

// works reports whether it is an activity, or can have some in it.
func (n *node) works() bool { return n.isActivity() || n.isScope() }

// all returns the entries of a kind: input, output or header.
func (n *node) all(kind string) []entry {
	return slices.DeleteFunc(slices.Clone(n.entries), func(e entry) bool { return e.kind != kind })
}

// entry returns the entry of a kind and name.
func (n *node) entry(kind, name string) (e entry, is bool) {
	at := slices.IndexFunc(n.entries, func(e entry) bool { return e.kind == kind && e.name == name })
	if at < 0 {
		return entry{}, false
	}
	return n.entries[at], true
}

// sets reports whether a node writes a value of its own to a variable, not the one that it has.
func (n *node) sets(variable string) bool {
	m, is := n.entry("output", variable)
	feel, _ := expression(m.value)
	return is && feel != variable
}

// writes reports whether a mapping of the process writes a variable.
func (p *process) writes(variable string) bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		_, is := n.entry("output", variable)
		return is
	})
}

// isNull reports whether a mapping clears its variable, or is none.
func isNull(m entry) bool {
	feel, _ := expression(m.value)
	return feel == "null" || m.value == ""
}
