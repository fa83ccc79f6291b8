// Package modellint finds mistakes in BPMN models that use this worker's tasks, before a broker runs them. It
// is pure: it takes files and the policies that are known, and returns findings.
package modellint

import (
	"cmp"
	"maps"
	"slices"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// Lint returns the findings about models, by file in the given order, then by line. A file may call processes
// of the others, and the bundled ones. They are checked against the policies that the worker knows, and the
// job types that it decides, each of which has the policy of tasks that name none.
func Lint(files []bpmn.Model, policies *policy.Set, jobTypes map[string]string) text.Findings {
	l := &linter{
		policies: policies, jobTypes: slices.Sorted(maps.Keys(jobTypes)), byID: map[string]*process{},
		called: map[string]bool{}, said: map[string]bool{},
	}
	for _, m := range bpmn.Models() {
		l.read("", m.Content)
	}
	for _, f := range files {
		l.read(f.Name, f.Content)
	}
	l.resolve()
	for _, p := range l.processes {
		l.check(p)
	}
	order := map[string]int{}
	for i, f := range files {
		order[f.Name] = i
		concerned := func(p *process) bool { return p.file == f.Name && p.concerned() }
		found := func(found text.Finding) bool { return found.File == f.Name }
		if !slices.ContainsFunc(l.processes, concerned) && !slices.ContainsFunc(l.findings, found) {
			l.add(place(f.Name, &bpmnxml.Element{}), "nothing-checked")
		}
	}
	slices.SortStableFunc(l.findings, func(a, b text.Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line))
	})
	return l.findings
}

type linter struct {
	policies *policy.Set
	// jobTypes are those that the worker decides, sorted.
	jobTypes  []string
	processes []*process
	nodes     []*node
	// byID are the processes that can be called, bundled the ids of those that came with the worker.
	byID    map[string]*process
	bundled []string
	// called are the ids of processes that another one calls.
	called map[string]bool
	// said are the findings, and what else is said once.
	said     map[string]bool
	findings text.Findings
}

// read adds the processes of a file. One of a given file takes the place of a bundled one with the same id.
func (l *linter) read(file string, content []byte) {
	root, err := bpmnxml.Read(content)
	if err == nil && len(root.Named("process")) == 0 {
		err = text.Messagef("it has no process")
	}
	if err != nil {
		l.add(place(file, &bpmnxml.Element{}), "unreadable", err)
		return
	}
	elements, sound := l.elements(file, root)
	if !sound {
		return // what else would be found follows from that
	}
	for _, e := range root.Named("process") {
		p := &process{Element: e, id: e.Attr("id"), file: file}
		p.elements, p.byID = elements, map[string]*node{}
		p.scope(e, nil)
		p.connect()
		l.processes, l.nodes = append(l.processes, p), append(l.nodes, p.nodes...)
		if file == "" {
			l.bundled = append(l.bundled, p.id)
		}
		if p.executable() {
			l.byID[p.id] = p
		}
	}
}

// referring are the attributes that hold the id of another element of the file.
var referring = []string{"sourceRef", "targetRef", "attachedToRef", "errorRef", "messageRef", "default"}

// elements returns the elements of a file by their ids. It is sound if no two have the same, and those exist
// that are named.
func (l *linter) elements(file string, root *bpmnxml.Element) (byID map[string]*bpmnxml.Element, sound bool) {
	byID, sound = map[string]*bpmnxml.Element{}, true
	root.Walk(func(e *bpmnxml.Element) {
		id := e.Attr("id")
		if id != "" && byID[id] != nil {
			l.add(place(file, e), "id-twice", id)
			sound = false
		}
		byID[id] = e
	})
	if !sound {
		return byID, false // what names the other element of a double id looks broken
	}
	byID[""] = &bpmnxml.Element{} // what an element names that names none
	root.Walk(func(e *bpmnxml.Element) {
		for _, name := range referring {
			if byID[e.Attr(name)] == nil {
				l.add(place(file, e), "reference-broken", name, e.Attr(name))
				sound = false
			}
		}
	})
	return byID, sound
}

// check checks a process.
func (l *linter) check(p *process) {
	switch {
	case p.file == "" || !p.concerned():
		return
	case !p.executable():
		l.add(place(p.file, p.Element), "not-executable")
		return
	}
	l.incoming(p)
	for _, n := range p.nodes {
		l.node(n)
	}
}

// node checks a node, by what it does.
func (l *linter) node(n *node) {
	l.errorsCaught(n)
	l.choice(n)
	l.conditions(n)
	l.messages(n)
	l.claimIDKept(n)
	l.workedTwice(n)
	l.recordedAsAbandoned(n)
	if n.analyzes || n.records {
		l.headers(n)
	}
	if n.analyzes {
		l.resultsHidden(n)
	}
	if n.analyzes && n.waitMissing() {
		l.add(n, "no-wait")
	}
	if n.records {
		l.outcomePolicy(n)
		l.outcomeValue(n)
	}
	if n.catchesOurs {
		l.errorVariables(n)
		l.recordedAsAccepted(n)
		l.unrecorded(n, "ABANDONED")
	}
	if n.submits() || n.loops && !n.recorded {
		l.unrecorded(n, "SUBMITTED")
	}
	if n.analysis != nil {
		l.submissionError(n)
		l.countChanged(n)
	}
	if n.analysis != nil && n.host != nil {
		l.staleFailure(n)
		l.countKept(n.host)
	}
	if n.timer.kind != "" {
		l.timers(n)
	}
	if n.timer.kind != "" && n.behind != nil {
		l.timerLeads(n)
	}
	l.slips(n)
	if n.kind == "userTask" && len(n.Named("userTask")) == 0 {
		l.add(n, "user-task-kind")
	}
}
