package bpmn_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// element is any XML element of a model. Names are local names: bpmn:process is "process".
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all returns every element below e with one of these names, e itself not included.
func (e element) all(names ...string) []element {
	var found []element
	for _, c := range e.Children {
		if slices.Contains(names, c.XMLName.Local) {
			found = append(found, c)
		}
		found = append(found, c.all(names...)...)
	}
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

func (e element) find(id string) *element {
	for i := range e.Children {
		if e.Children[i].attr("id") == id {
			return &e.Children[i]
		}
		if found := e.Children[i].find(id); found != nil {
			return found
		}
	}
	return nil
}

// headers returns the task headers of an element.
func (e element) headers() map[string]string {
	found := map[string]string{}
	for _, h := range e.all("header") {
		found[h.attr("key")] = h.attr("value")
	}
	return found
}

// mapped returns the mappings of an element, target to source. Kind is input or output.
func (e element) mapped(kind string) map[string]string {
	mapped := map[string]string{}
	for _, m := range e.all(kind) {
		mapped[m.attr("target")] = m.attr("source")
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
	var root element
	if err := xml.Unmarshal(content, &root); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return root
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
