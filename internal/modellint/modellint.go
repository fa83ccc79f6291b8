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

// File is a BPMN file.
type File struct {
	Name    string
	Content []byte
}

// Options are what the models are checked against.
type Options struct {
	// Policies are the policies that the worker knows; nil means the built-in ones.
	Policies *policy.Set
	// JobTypes are the job types that the worker decides, each with the policy of tasks that name none; nil means the two
	// standard types.
	JobTypes map[string]string
}

// standardTypes are the job types of a worker without settings.
var standardTypes = map[string]string{contract.JobType: "tiss", contract.BackoffJobType: "tiss"}

// Lint returns the findings about models, by file in the given order, then by line. A file may call processes of
// the others, and the bundled ones.
func Lint(files []File, o Options) text.Findings {
	if o.Policies == nil {
		o.Policies = policy.BuiltIns()
	}
	if o.JobTypes == nil {
		o.JobTypes = standardTypes
	}
	l := &linter{options: o, byID: map[string]*process{}, callers: map[string][]*node{}, tasks: map[*node]*analysis{}}
	for _, m := range bpmn.Models() {
		l.read(File(m), true)
	}
	for _, f := range files {
		l.read(f, false)
	}
	l.resolve()
	for _, p := range l.processes {
		l.check(p)
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
	// byID are the processes that are known, callers the call activities by the id of the process that they call.
	byID    map[string]*process
	callers map[string][]*node
	// tasks are the analysis tasks.
	tasks    map[*node]*analysis
	findings text.Findings
}

// read adds the processes of a file. A process of a given file takes the place of a known one with the same id.
func (l *linter) read(f File, known bool) {
	root, err := bpmnxml.Read(f.Content)
	var found []*process
	if err == nil {
		found, err = processes(f.Name, root)
	}
	if err != nil {
		if !known {
			l.add(&node{process: &process{file: f.Name}}, "unreadable", err.Error())
		}
		return
	}
	for _, p := range found {
		p.known = known
		l.byID[p.id] = p
		if !known {
			l.processes = append(l.processes, p)
		}
	}
}

// resolve finds the analysis tasks and who calls whom.
func (l *linter) resolve() {
	all := slices.Clone(l.processes)
	for _, p := range l.byID {
		if p.known {
			all = append(all, p)
		}
	}
	for _, p := range all {
		for _, n := range p.nodes {
			if a := l.analysisOf(n); a != nil {
				l.tasks[n] = a
			}
			if n.calls != "" {
				l.callers[n.calls] = append(l.callers[n.calls], n)
			}
		}
	}
	l.findEscapes(all)
}

// check checks a process.
func (l *linter) check(p *process) {
	behind := l.afterAnalysis(p)
	for _, n := range p.nodes {
		l.jobTypes(n)
		l.headers(n)
		l.retries(n)
		l.outcomeValue(n)
		l.countHidden(n)
		l.errorsCaught(n)
		l.timers(n, behind[n])
	}
	concerned := l.concerned(p)
	l.loops(p, concerned)
	if !concerned {
		return
	}
	for _, n := range p.nodes {
		l.errorVariables(n)
		if n.kind == "userTask" && !n.isUserTaskOfZeebe {
			l.add(n, "user-task-kind")
		}
	}
	l.submissionErrors(p)
	l.staleDecisions(p)
	l.outcomes(p)
}
