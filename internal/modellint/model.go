package modellint

import (
	"errors"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
)

// process is one executable process of a file.
type process struct {
	id, file string
	// known is one that came with the worker and is not looked at itself.
	known bool
	// nodes are in the order of the file, with those in sub-processes.
	nodes []*node
	// escaping are the codes of the worker's errors that leave it.
	escaping []string
}

// node is a flow node of a process: a task, an event, a gateway or a sub-process.
type node struct {
	kind, id, name string
	line           int
	element        *bpmnxml.Element
	process        *process
	// parent is the sub-process around it, nil at the top of the process. children are those of a sub-process.
	parent   *node
	children []*node
	// host is the activity that a boundary event is attached to, boundary the events attached to an activity. One that does not
	// interrupt it begins a branch of its own.
	host         *node
	boundary     []*node
	interrupting bool
	flows        []flow

	inputs, outputs []mapping
	headers         []header
	// jobType and retries are those of its task definition, if isJob.
	isJob            bool
	jobType, retries string
	// calls is the id of the process that a call activity calls.
	calls         string
	propagatesAll bool
	// errorCode is that of an error event, which catches or throws; one that catches and has no code catches all.
	catchesErrors, throwsError bool
	errorCode                  string
	timer                      *timer
	// isLink marks an event that leads to another one, or comes from it, without a flow. Lint does not follow it.
	isLink bool
	// isEventBlock marks an event sub-process, isUserTaskOfZeebe a user task that is no job.
	isEventBlock, isUserTaskOfZeebe bool
	// variables are those that its expressions read.
	variables map[string]bool
}

// mapping is one input or output mapping.
type mapping struct {
	source, target string
	line           int
}

// header is one task header.
type header struct {
	key, value string
	line       int
}

// flow is a sequence flow.
type flow struct {
	to        *node
	condition string
}

// timer is the definition of a timer event. kind is timeDuration, timeDate or timeCycle.
type timer struct {
	kind, text string
	line       int
}

// flowNodes are the BPMN elements that are nodes.
var flowNodes = []string{
	"task", "serviceTask", "sendTask", "receiveTask", "userTask", "manualTask", "scriptTask", "businessRuleTask", "callActivity",
	"subProcess", "adHocSubProcess", "transaction",
	"startEvent", "endEvent", "boundaryEvent", "intermediateCatchEvent", "intermediateThrowEvent",
	"exclusiveGateway", "inclusiveGateway", "parallelGateway", "eventBasedGateway", "complexGateway",
}

// builder makes processes of one file.
type builder struct {
	file   string
	errors map[string]*bpmnxml.Element
	byID   map[string]*node
	flows  []*bpmnxml.Element
}

// processes returns the executable processes of a file.
func processes(file string, root *bpmnxml.Element) ([]*process, error) {
	b := &builder{file: file, errors: map[string]*bpmnxml.Element{}}
	for _, e := range root.BPMN("error") {
		b.errors[e.Attr("id")] = e
	}
	var found []*process
	for _, e := range root.BPMN("process") {
		if e.Attr("isExecutable") == "false" {
			continue
		}
		p := &process{id: e.Attr("id"), file: file}
		b.byID, b.flows = map[string]*node{}, nil
		b.scope(p, nil, e)
		b.connect(p)
		found = append(found, p)
	}
	if len(root.BPMN("process")) == 0 {
		return nil, errors.New("it has no process")
	}
	return found, nil
}

// scope adds the nodes of a process or sub-process.
func (b *builder) scope(p *process, parent *node, e *bpmnxml.Element) {
	for _, c := range e.Children {
		switch {
		case c.Is("sequenceFlow"):
			b.flows = append(b.flows, c)
		case c.Name.Space == bpmnxml.BPMN && slices.Contains(flowNodes, c.Name.Local):
			n := b.node(p, parent, c)
			p.nodes = append(p.nodes, n)
			if parent != nil {
				parent.children = append(parent.children, n)
			}
			if n.isScope() {
				b.scope(p, n, c)
			}
		}
	}
}

func (b *builder) node(p *process, parent *node, e *bpmnxml.Element) *node {
	n := &node{
		kind: e.Name.Local, id: e.Attr("id"), name: strings.Join(strings.Fields(e.Attr("name")), " "), line: e.Line,
		element: e, process: p, parent: parent,
	}
	b.byID[n.id] = n
	n.interrupting = e.Attr("cancelActivity") != "false"
	n.isEventBlock = n.kind == "subProcess" && e.Attr("triggeredByEvent") == "true"
	n.extensions()
	b.events(n)
	n.variables = map[string]bool{}
	n.gather(e)
	return n
}

// extensions reads Zeebe's extensions of a node.
func (n *node) extensions() {
	e := n.element
	for _, io := range e.Zeebe("ioMapping") {
		for _, m := range io.Children {
			one := mapping{m.Attr("source"), m.Attr("target"), m.Line}
			switch m.Name.Local {
			case "input":
				n.inputs = append(n.inputs, one)
			case "output":
				n.outputs = append(n.outputs, one)
			}
		}
	}
	for _, headers := range e.Zeebe("taskHeaders") {
		for _, h := range headers.Children {
			n.headers = append(n.headers, header{h.Attr("key"), h.Attr("value"), h.Line})
		}
	}
	for _, d := range e.Zeebe("taskDefinition") {
		n.isJob, n.jobType, n.retries = true, d.Attr("type"), d.Attr("retries")
	}
	for _, c := range e.Zeebe("calledElement") {
		n.calls, n.propagatesAll = c.Attr("processId"), c.Attr("propagateAllChildVariables") != "false"
	}
	for _, name := range []string{"script", "calledDecision"} {
		for _, s := range e.Zeebe(name) {
			if len(n.outputs) == 0 { // with mappings, only those reach the process
				n.outputs = append(n.outputs, mapping{s.Attr("expression"), s.Attr("resultVariable"), s.Line})
			}
		}
	}
	n.isUserTaskOfZeebe = len(e.Zeebe("userTask")) > 0
}

// events reads the event definitions of a node.
func (b *builder) events(n *node) {
	for _, d := range n.element.Children {
		kind, is := strings.CutSuffix(d.Name.Local, "EventDefinition")
		if !is || d.Name.Space != bpmnxml.BPMN {
			continue
		}
		switch kind {
		case "error":
			n.errorEvent(b.errors[d.Attr("errorRef")])
		case "timer":
			for _, t := range d.Children {
				n.timer = &timer{t.Name.Local, strings.TrimSpace(t.Text), t.Line}
			}
		case "link":
			n.isLink = true
		}
	}
}

func (n *node) errorEvent(declared *bpmnxml.Element) {
	if declared != nil {
		n.errorCode = declared.Attr("errorCode")
	}
	n.throwsError = n.kind == "endEvent"
	n.catchesErrors = !n.throwsError
}

// gather collects the variables that the expressions of a node read, without those of the nodes in it.
func (n *node) gather(e *bpmnxml.Element) {
	add := func(value string) {
		if feel, is := expression(value); is {
			for _, name := range names(feel) {
				n.variables[name] = true
			}
		}
	}
	for _, a := range e.Attrs {
		add(a.Value)
	}
	add(e.Text)
	for _, c := range e.Children {
		inner := c.Is("sequenceFlow") || c.Name.Space == bpmnxml.BPMN && slices.Contains(flowNodes, c.Name.Local)
		if !inner && !c.Is("documentation") {
			n.gather(c)
		}
	}
}

// connect resolves the references of a process.
func (b *builder) connect(p *process) {
	for _, f := range b.flows {
		from, to := b.byID[f.Attr("sourceRef")], b.byID[f.Attr("targetRef")]
		if from == nil || to == nil {
			continue
		}
		condition := ""
		for _, c := range f.BPMN("conditionExpression") {
			condition = strings.TrimSpace(c.Text)
		}
		from.flows = append(from.flows, flow{to, condition})
		if feel, is := expression(condition); is {
			for _, name := range names(feel) {
				from.variables[name] = true
			}
		}
	}
	for _, n := range p.nodes {
		if host := b.byID[n.element.Attr("attachedToRef")]; host != nil && n.kind == "boundaryEvent" {
			n.host, host.boundary = host, append(host.boundary, n)
		}
	}
}

// isScope reports whether other nodes are in it.
func (n *node) isScope() bool {
	return n.kind == "subProcess" || n.kind == "transaction" || n.kind == "adHocSubProcess"
}

// isActivity reports whether it is work: what can produce variables of its own.
func (n *node) isActivity() bool {
	return strings.HasSuffix(strings.ToLower(n.kind), "task") || n.kind == "callActivity"
}

// output returns the mapping of a node's output to a variable.
func (n *node) output(variable string) (m mapping, is bool) { return writes(n.outputs, variable) }

// input returns the mapping of a node's input to a variable.
func (n *node) input(variable string) (m mapping, is bool) { return writes(n.inputs, variable) }

// writes returns the mapping that writes a variable: to a.b it writes a.
func writes(mappings []mapping, variable string) (m mapping, is bool) {
	at := slices.IndexFunc(mappings, func(m mapping) bool {
		target, _, _ := strings.Cut(m.target, ".")
		return strings.TrimSpace(target) == variable
	})
	if at < 0 {
		return mapping{}, false
	}
	return mappings[at], true
}

// sets reports whether a node writes a value of its own to a variable, not the one that it has.
func (n *node) sets(variable string) bool {
	m, is := n.output(variable)
	if !is {
		return false
	}
	feel, _ := expression(m.source)
	return strings.TrimSpace(feel) != variable
}
