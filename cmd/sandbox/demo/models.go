package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// Models are the models that are played.
type Models struct {
	history.Models
	// Own says that they are not the bundled ones, so that the file's outcomes and ends are not about them.
	Own bool
}

// Bundled returns the models that the worker brings along.
func Bundled() Models {
	m, err := ReadModels(bpmn.Models(), []string{contract.JobType, contract.BackoffJobType})
	if err != nil {
		panic(err) // the tests have read them
	}
	m.Own = false
	return m
}

// ReadModels returns what is to be played of a person's own models, which may call the bundled ones. analyses
// are the job types of the worker's decisions. The error names all faults.
func ReadModels(files []bpmn.Model, analyses []string) (Models, error) {
	m := Models{history.Models{Submissions: map[history.Task]string{}, Analyses: analyses}, true}
	own, err := readAll(files)
	if err != nil {
		return m, err
	}
	if m.Process, err = first(own); err != nil {
		return m, err
	}
	all, err := readAll(bpmn.Models())
	if err != nil {
		return m, err
	}
	maps.Copy(all, own)
	played := map[string]*model.Process{}
	reach(all, m.Process, played)
	m.findSubmissions(played)
	return m, m.check(played, append(bpmn.Resources(), files...))
}

// readAll returns the processes of files, forms aside.
func readAll(files []bpmn.Model) (map[string]*model.Process, error) {
	processes := map[string]*model.Process{}
	var faults []error
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".bpmn") {
			continue
		}
		found, err := model.Read(f.Content)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:\n%w", f.Name, err))
		}
		for _, p := range found {
			processes[p.ID] = p
		}
	}
	return processes, errors.Join(faults...)
}

// first returns the process that is started: the one that no other calls.
func first(processes map[string]*model.Process) (string, error) {
	all := maps.Clone(processes)
	for _, p := range processes {
		for _, id := range calls(p) {
			if id != p.ID {
				delete(all, id)
			}
		}
	}
	ids := slices.Sorted(maps.Keys(all))
	if len(ids) != 1 {
		return "", fmt.Errorf("%d of the processes are called by no other (%s): "+
			"give the one to start and those that it calls", len(ids), strings.Join(ids, ", "))
	}
	return ids[0], nil
}

// calls returns the ids of the processes that a process calls, without those that only an expression knows.
func calls(p *model.Process) (ids []string) {
	walk(p.Root, func(e *model.Element) {
		if e.Calls != nil && e.Calls.Expr == nil {
			ids = append(ids, e.Calls.Text)
		}
	})
	return ids
}

func walk(e *model.Element, visit func(*model.Element)) {
	visit(e)
	for _, c := range e.Children {
		walk(c, visit)
	}
}

// reach adds a process and those that it calls to found.
func reach(all map[string]*model.Process, id string, found map[string]*model.Process) {
	if p := all[id]; p != nil && found[id] == nil {
		found[id] = p
		for _, called := range calls(p) {
			reach(all, called, found)
		}
	}
}

// findSubmissions notes the tasks that can fail: those that are not the worker's and have a boundary event
// for errors.
func (m *Models) findSubmissions(processes map[string]*model.Process) {
	for id, p := range processes {
		walk(p.Root, func(e *model.Element) {
			i := slices.IndexFunc(e.Boundary, func(b *model.Element) bool { return b.Event == "error" })
			if i >= 0 && e.JobType != nil && !m.works(e.JobType) {
				m.Submissions[history.Task{Process: id, Element: e.ID}] = e.Boundary[i].ErrorCode
			}
		})
	}
}

// isWorkers reports whether the worker works jobs of this type.
func (m *Models) isWorkers(jobType string) bool {
	return jobType == contract.OutcomeJobType || slices.Contains(m.Analyses, jobType)
}

// works reports whether a task's jobs are the worker's. Where their type is an expression, they are if it
// names one.
func (m *Models) works(jobType *model.Value) bool {
	if jobType.Expr == nil {
		return m.isWorkers(jobType.Text)
	}
	return slices.ContainsFunc(m.Analyses, func(name string) bool {
		return strings.Contains(jobType.Text, `"`+name+`"`)
	})
}

// hasForm reports whether a form is among the files.
func hasForm(files []bpmn.Model, id string) bool {
	return slices.ContainsFunc(files, func(f bpmn.Model) bool {
		var form struct{ ID string }
		return strings.HasSuffix(f.Name, ".form") && json.Unmarshal(f.Content, &form) == nil && form.ID == id
	})
}

// check finds why models cannot be played with these files.
func (m *Models) check(processes map[string]*model.Process, files []bpmn.Model) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	decides := false
	for _, id := range slices.Sorted(maps.Keys(processes)) {
		walk(processes[id].Root, func(e *model.Element) {
			if t := e.JobType; t != nil && t.Text != contract.OutcomeJobType && m.works(t) {
				decides = true
			}
			if e.Kind == "userTask" && !e.UserTask {
				fault("the user task %s of %s is a job: choose Camunda user task as its implementation", e.ID, id)
			}
			if form := e.FormID; form != nil && form.Expr == nil && !hasForm(files, form.Text) {
				fault("the user task %s of %s has the form %s: give its file too", e.ID, id, form.Text)
			}
		})
	}
	if !decides {
		fault("no task of %s, nor of what it calls, has a job type of the worker (%s): there is no decision to play",
			m.Process, strings.Join(m.Analyses, ", "))
	} else if len(m.Submissions) == 0 {
		fault("no task of %s, nor of what it calls, has a boundary event for errors: nothing can fail", m.Process)
	}
	return errors.Join(faults...)
}
