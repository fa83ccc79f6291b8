package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/testing/engine/model"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// models is what the demo has to know of the models that it plays.
type models struct {
	// process is started for each claim.
	process string
	// own says that they are not the bundled ones, so that the file's ends are not about them.
	own bool
	// submissions are the tasks that can fail, by process and element, with the BPMN error that is caught there; "" for any.
	submissions map[[2]string]string
	// analyses are the job types of the worker's decisions.
	analyses []string
}

// readModels reads models of the caller's own, which may call the bundled ones; the bundled ones where there is none. The
// error names all faults.
func readModels(paths, analyses []string) (m models, err error) {
	m = models{own: len(paths) > 0, submissions: map[[2]string]string{}, analyses: analyses}
	all, err := processes(bpmn.Models())
	if err != nil {
		return m, err
	}
	started := all
	if m.own {
		var files []bpmn.Model
		var faults []error
		for _, path := range paths {
			content, err := os.ReadFile(path)
			faults = append(faults, err)
			files = append(files, bpmn.Model{Name: path, Content: content})
		}
		started, err = processes(files)
		if err = errors.Join(append(faults, err)...); err != nil {
			return m, badInput{fmt.Errorf("the models cannot be played:\n%w", err)}
		}
		maps.Copy(all, started)
	}
	if m.process, err = first(started); err == nil {
		err = m.reach(all, m.process, map[string]bool{})
	}
	if err == nil && len(m.submissions) == 0 {
		err = fmt.Errorf("no task of %s, nor of what it calls, has a boundary event for errors: nothing can fail", m.process)
	}
	if err != nil {
		return m, badInput{fmt.Errorf("the models cannot be played:\n%w", err)}
	}
	return m, nil
}

// processes reads the processes of files, forms aside.
func processes(files []bpmn.Model) (map[string]*model.Process, error) {
	all := map[string]*model.Process{}
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
			all[p.ID] = p
		}
	}
	return all, errors.Join(faults...)
}

// first returns the process that is started: the one that no other calls.
func first(all map[string]*model.Process) (string, error) {
	ids := slices.Sorted(maps.Keys(all))
	for _, p := range all {
		walk(p.Root, func(e *model.Element) {
			if e.Calls != nil && e.Calls.Text != p.ID {
				ids = slices.DeleteFunc(ids, func(id string) bool { return id == e.Calls.Text })
			}
		})
	}
	if len(ids) != 1 {
		return "", fmt.Errorf("%d of the processes are called by no other (%s): give the one to start and those that it calls",
			len(ids), strings.Join(ids, ", "))
	}
	return ids[0], nil
}

func walk(e *model.Element, visit func(*model.Element)) {
	visit(e)
	for _, c := range e.Children {
		walk(c, visit)
	}
}

// reach notes the tasks that can fail of a process and of those that it calls: tasks that are not the worker's and have a
// boundary event for errors.
func (m *models) reach(all map[string]*model.Process, id string, seen map[string]bool) (err error) {
	p := all[id]
	if p == nil || seen[id] {
		return nil
	}
	seen[id] = true
	walk(p.Root, func(e *model.Element) {
		if e.Kind == "userTask" && !e.UserTask {
			err = errors.Join(err, fmt.Errorf("the user task %s of %s is a job: choose Camunda user task", e.ID, id))
		}
		at := slices.IndexFunc(e.Boundary, func(b *model.Element) bool { return b.Event == "error" })
		if at >= 0 && e.JobType != nil && !m.works(e.JobType) {
			m.submissions[[2]string{id, e.ID}] = e.Boundary[at].ErrorCode
		}
		if e.Calls != nil && e.Calls.Expr == nil {
			err = errors.Join(err, m.reach(all, e.Calls.Text, seen))
		}
	})
	return err
}

// isWorkers reports whether the worker works jobs of this type.
func (m *models) isWorkers(jobType string) bool {
	return jobType == contract.OutcomeJobType || slices.Contains(m.analyses, jobType)
}

// works reports whether a task's jobs are the worker's. Where their type is an expression, they are if it names one.
func (m *models) works(jobType *model.Value) bool {
	if jobType.Expr == nil {
		return m.isWorkers(jobType.Text)
	}
	return slices.ContainsFunc(m.analyses, func(name string) bool { return strings.Contains(jobType.Text, `"`+name+`"`) })
}
