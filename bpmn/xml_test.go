package bpmn_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/testing/check"
)

// element is an element of a model. Names are local names: bpmn:process is "process".
type element struct{ *bpmnxml.Element }

// all returns every element below e with one of these names, e itself not included.
func (e element) all(names ...string) (found []element) {
	e.Walk(func(c *bpmnxml.Element) {
		if c != e.Element && slices.Contains(names, c.Name.Local) {
			found = append(found, element{c})
		}
	})
	return found
}

// byID returns the element with this id.
func (e element) byID(t *testing.T, id string) element {
	t.Helper()
	if found := e.find(id); found != nil {
		return *found
	}
	t.Fatalf("no element %q", id)
	return element{}
}

func (e element) find(id string) (found *element) {
	e.Walk(func(c *bpmnxml.Element) {
		if c.Attr("id") == id && found == nil {
			found = &element{c}
		}
	})
	return found
}

// next returns the element to which the only flow from another one leads.
func (e element) next(t *testing.T, from element) element {
	t.Helper()
	return e.byID(t, e.byID(t, from.all("outgoing")[0].Text).Attr("targetRef"))
}

// leaving returns the flows from a gateway that have a condition.
func (e element) leaving(gateway element) []element {
	return slices.DeleteFunc(e.all("sequenceFlow"), func(f element) bool {
		return f.Attr("sourceRef") != gateway.Attr("id") || f.Attr("id") == gateway.Attr("default")
	})
}

// goesOnAfter fails the test unless one timer ends a task after this time, and the claim goes on as after the task.
func (e element) goesOnAfter(t *testing.T, task element, limit string) {
	t.Helper()
	timers := slices.DeleteFunc(e.all("boundaryEvent"), func(b element) bool {
		return b.Attr("attachedToRef") != task.Attr("id") || b.Attr("cancelActivity") == "false"
	})
	if len(timers) != 1 {
		t.Errorf("%s has %d timers that end it, want 1", task.Attr("id"), len(timers))
		return
	}
	check.Same(t, limit, timers[0].all("timeDuration")[0].Text, "time of %s", task.Attr("id"))
	check.Same(t, e.next(t, task).Attr("id"), e.next(t, timers[0]).Attr("id"), "where the claim goes without %s", task.Attr("id"))
}

// headers returns the task headers of an element.
func (e element) headers() map[string]string {
	found := map[string]string{}
	for _, h := range e.all("header") {
		found[h.Attr("key")] = h.Attr("value")
	}
	return found
}

// mapped returns the mappings of an element, target to source. Kind is input or output.
func (e element) mapped(kind string) map[string]string {
	mapped := map[string]string{}
	for _, m := range e.all(kind) {
		mapped[m.Attr("target")] = m.Attr("source")
	}
	return mapped
}

func (e element) outputs() map[string]string { return e.mapped("output") }

func (e element) inputs() map[string]string { return e.mapped("input") }

// read parses one model, a path from this folder.
func read(t *testing.T, path string) element {
	t.Helper()
	content, err := os.ReadFile(path)
	check.Must(t, err)
	root, err := bpmnxml.Read(content)
	check.Must(t, err)
	return element{root}
}

// files are all models of the project, the examples included.
func files(t *testing.T) []string {
	t.Helper()
	own, err := filepath.Glob("*.bpmn")
	check.Must(t, err)
	examples, err := filepath.Glob("../examples/*.bpmn")
	check.Must(t, err)
	if len(own) == 0 || len(examples) == 0 {
		t.Fatalf("models %v, examples %v: neither may be empty", own, examples)
	}
	return append(own, examples...)
}
