package modellint

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
)

// process is one process of a file.
type process struct {
	id, file string
	line     int
	// known is one that came with the worker and is not looked at itself; neither is one that is not executable.
	known, executable bool
	// nodes are in the order of the file, with those in sub-processes.
	nodes []*node
}

// node is a flow node of a process: a task, an event, a gateway or a sub-process.
type node struct {
	*bpmnxml.Element
	kind, id, name string
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

	// inputs and outputs are the sources of the variables that its mappings write: to a.b they write a.
	inputs, outputs, headers []entry
	// jobType is that of its task definition, if isJob.
	isJob   bool
	jobType string
	// calls is the id of the process that a call activity calls.
	calls string
	// errorCode is that of an error event, which catches or throws; one that catches and has no code catches all.
	catchesErrors, throwsError bool
	errorCode                  string
	// timer is the definition of a timer event, by timeDuration, timeDate or timeCycle; nil for none.
	timer *entry
	// message is the name of the message that an event or a receive task waits for, key its correlation key.
	message, key string
	// variables are those that its expressions read.
	variables map[string]bool
}

// entry is something that stands under a name in a node.
type entry struct {
	name, value string
	line        int
}

// flow is a sequence flow.
type flow struct {
	to        *node
	condition string
	line      int
}

var nodeNames = regexp.MustCompile(`(?i)(task|event|gateway|subProcess)$|^(callActivity|transaction)$`)

func isNode(e *bpmnxml.Element) bool {
	return e.Name.Space == bpmnxml.BPMN && nodeNames.MatchString(e.Name.Local)
}

// builder makes processes of one file.
type builder struct {
	// declared are the errors and messages of the file by their ids.
	declared map[string]*bpmnxml.Element
	byID     map[string]*node
	flows    []*bpmnxml.Element
}

// processes returns the processes of a file.
func processes(file string, root *bpmnxml.Element) (found []*process, err error) {
	b := &builder{declared: map[string]*bpmnxml.Element{}}
	for _, e := range append(root.BPMN("error"), root.BPMN("message")...) {
		b.declared[e.Attr("id")] = e
	}
	for _, e := range root.BPMN("process") {
		p := &process{id: e.Attr("id"), file: file, line: e.Line, executable: e.Attr("isExecutable") == "true"}
		b.byID, b.flows = map[string]*node{}, nil
		b.scope(p, nil, e)
		b.connect(p)
		found = append(found, p)
	}
	if found == nil {
		return nil, errors.New("it has no process")
	}
	return found, nil
}

// scope adds the nodes of a process or sub-process.
func (b *builder) scope(p *process, parent *node, e *bpmnxml.Element) {
	b.flows = append(b.flows, e.BPMN("sequenceFlow")...)
	for _, c := range e.Children {
		if !isNode(c) {
			continue
		}
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

func (b *builder) node(p *process, parent *node, e *bpmnxml.Element) *node {
	n := &node{
		Element: e, kind: e.Name.Local, id: e.Attr("id"), name: strings.Join(strings.Fields(e.Attr("name")), " "),
		process: p, parent: parent, interrupting: e.Attr("cancelActivity") != "false", variables: map[string]bool{},
	}
	b.byID[n.id] = n
	n.extensions()
	n.messageOf(b.declared[e.Attr("messageRef")]) // a receive task
	for _, d := range e.BPMN("errorEventDefinition") {
		n.throwsError, n.catchesErrors = n.kind == "endEvent", n.kind != "endEvent"
		if declared := b.declared[d.Attr("errorRef")]; declared != nil {
			n.errorCode = declared.Attr("errorCode")
		}
	}
	for _, d := range e.BPMN("messageEventDefinition") {
		n.messageOf(b.declared[d.Attr("messageRef")])
	}
	for _, d := range e.BPMN("timerEventDefinition") {
		for _, t := range d.Children {
			n.timer = &entry{t.Name.Local, strings.TrimSpace(t.Text), t.Line}
		}
	}
	n.gather(e)
	return n
}

// extensions reads Zeebe's extensions of a node.
func (n *node) extensions() {
	add := func(to *[]entry, e *bpmnxml.Element, name, value string) {
		variable, _, _ := strings.Cut(e.Attr(name), ".")
		*to = append(*to, entry{strings.TrimSpace(variable), strings.TrimSpace(e.Attr(value)), e.Line})
	}
	for _, io := range n.Zeebe("ioMapping") {
		for _, m := range io.Children {
			to := map[string]*[]entry{"input": &n.inputs, "output": &n.outputs}[m.Name.Local]
			add(to, m, "target", "source")
		}
	}
	for _, headers := range n.Zeebe("taskHeaders") {
		for _, h := range headers.Children {
			add(&n.headers, h, "key", "value")
		}
	}
	for _, d := range n.Zeebe("taskDefinition") {
		n.isJob, n.jobType = true, d.Attr("type")
	}
	for _, c := range n.Zeebe("calledElement") {
		n.calls = c.Attr("processId")
	}
	for _, s := range append(n.Zeebe("script"), n.Zeebe("calledDecision")...) {
		if len(n.outputs) == 0 { // with mappings, only those reach the process
			add(&n.outputs, s, "resultVariable", "expression")
		}
	}
}

// messageOf sets the message that a node waits for.
func (n *node) messageOf(declared *bpmnxml.Element) {
	if declared == nil || n.isJob { // what throws a message is a job
		return
	}
	n.message = declared.Attr("name")
	for _, s := range declared.Zeebe("subscription") {
		n.key = s.Attr("correlationKey")
	}
}

// gather collects the variables that the expressions of a node read, without those of the nodes in it.
func (n *node) gather(e *bpmnxml.Element) {
	values := []string{e.Text}
	for _, a := range e.Attrs {
		values = append(values, a.Value)
	}
	for _, value := range values {
		if feel, is := expression(value); is {
			for _, name := range names(feel) {
				n.variables[name] = true
			}
		}
	}
	for _, c := range e.Children {
		if !isNode(c) && !c.Is("sequenceFlow") && !c.Is("documentation") {
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
		one := flow{to: to}
		for _, c := range f.BPMN("conditionExpression") {
			one.condition, one.line = strings.TrimSpace(c.Text), c.Line
			from.gather(c)
		}
		from.flows = append(from.flows, one)
	}
	for _, n := range p.nodes {
		if host := b.byID[n.Attr("attachedToRef")]; host != nil && n.kind == "boundaryEvent" {
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

// works reports whether it is an activity, or can have some in it.
func (n *node) works() bool { return n.isActivity() || n.isScope() }

// output returns the mapping of a node's output to a variable, input that of its input.
func (n *node) output(variable string) (m entry, is bool) { return named(n.outputs, variable) }
func (n *node) input(variable string) (m entry, is bool)  { return named(n.inputs, variable) }

// named returns the entry of a name.
func named(entries []entry, name string) (e entry, is bool) {
	at := slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
	if at < 0 {
		return entry{}, false
	}
	return entries[at], true
}

// sets reports whether a node writes a value of its own to a variable, not the one that it has.
func (n *node) sets(variable string) bool {
	m, is := n.output(variable)
	feel, _ := expression(m.value)
	return is && strings.TrimSpace(feel) != variable
}
