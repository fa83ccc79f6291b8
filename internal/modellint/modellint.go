// Package modellint finds mistakes in BPMN models that use this worker's tasks, before a broker runs them. It is pure: it takes
// files and the policies that are known, and returns findings.
package modellint

import (
	"cmp"
	"slices"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Options are what the models are checked against. All are required.
type Options struct {
	// Policies are the policies that the worker knows.
	Policies *policy.Set
	// JobTypes are the job types that the worker decides, each with the policy of tasks that name none.
	JobTypes map[string]string
}

// standardTypes are the job types of a worker without settings.
var standardTypes = map[string]string{contract.JobType: "tiss", contract.BackoffJobType: "tiss"}

// Lint returns the findings about models, by file in the given order, then by line. A file may call processes of
// the others, and the bundled ones.
func Lint(files []bpmn.Model, o Options) text.Findings {
	l := &linter{
		options: o, byID: map[string]*process{}, called: map[string]bool{}, tasks: map[*node]*analysis{},
		meant: map[*node]string{}, ends: map[*node]bool{}, said: map[string]bool{},
	}
	for _, m := range bpmn.Models() {
		l.read(m, true)
	}
	for _, f := range files {
		l.read(f, false)
	}
	l.resolve()
	for _, p := range l.processes {
		l.check(p)
	}
	for _, f := range files {
		l.nothingChecked(f.Name)
	}
	order := map[string]int{}
	for i, f := range files {
		order[f.Name] = i
	}
	slices.SortStableFunc(l.findings, func(a, b text.Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line))
	})
	return l.findings
}

type linter struct {
	options   Options
	processes []*process
	// byID are the processes that are known, called those that another one calls.
	byID   map[string]*process
	called map[string]bool
	// tasks are the analysis tasks.
	tasks map[*node]*analysis
	// meant are the job types and processes that misspelt ones stand for, by the node.
	meant map[*node]string
	// ends are the ends that have a finding, said the findings: what two ways lead to is found once.
	ends     map[*node]bool
	said     map[string]bool
	findings text.Findings
}

// read adds the processes of a file. A process of a given file takes the place of a known one with the same id.
func (l *linter) read(f bpmn.Model, known bool) {
	root, err := bpmnxml.Read(f.Content)
	var found []*process
	if err == nil {
		found, err = processes(f.Name, root)
	}
	if err != nil {
		if !known {
			l.add(nowhere(f.Name), "unreadable", err.Error())
		}
		return
	}
	sound := known || l.references(f.Name, root)
	for _, p := range found {
		p.known = known
		if p.executable {
			l.byID[p.id] = p
		}
		if sound {
			l.processes = append(l.processes, p)
		}
	}
}

// resolve finds the analysis tasks and who calls whom.
func (l *linter) resolve() {
	for _, p := range l.processes {
		for _, n := range p.nodes {
			l.correctType(n)
			if a := l.analysisOf(n); a != nil {
				l.tasks[n] = a
			}
		}
	}
	for _, p := range l.processes {
		for _, n := range p.nodes {
			l.correctCall(n)
			l.called[n.calls] = l.called[n.calls] || n.calls != p.id
		}
	}
}

// check checks a process.
func (l *linter) check(p *process) {
	switch {
	case p.known || !l.concerned(p):
		return
	case !p.executable:
		l.add(&node{Element: &bpmnxml.Element{Line: p.line}, process: p, id: p.id}, "not-executable")
		return
	}
	behind := l.afterAnalysis(p)
	for _, n := range p.nodes {
		l.jobTypes(n)
		l.headers(n)
		l.outcomeValue(n)
		l.countHidden(n)
		l.errorsCaught(n)
		l.timers(n, behind[n])
		l.conditions(n, behind[n] != nil)
		l.messages(n)
		l.claimIDKept(n)
		l.errorVariables(n)
		if n.kind == "userTask" && len(n.Zeebe("userTask")) == 0 {
			l.add(n, "user-task-kind")
		}
	}
	l.submissionErrors(p)
	l.outcomes(p)
	l.ways(p, behind)
}
