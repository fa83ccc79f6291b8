package modellint

import (
	"slices"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/text"
)

// nothingChecked says so of a file in which nothing uses the worker, so that silence is no approval.
func (l *linter) nothingChecked(file string) {
	used := func(p *process) bool { return p.file == file && l.concerned(p) }
	said := slices.ContainsFunc(l.findings, func(f text.Finding) bool { return f.File == file })
	if !said && !slices.ContainsFunc(l.processes, used) {
		l.add(nowhere(file), "nothing-checked")
	}
}

// referring are the attributes that hold the id of another element of the file.
var referring = []string{"sourceRef", "targetRef", "attachedToRef", "errorRef", "messageRef", "default"}

// references finds ids that two elements have, and those that none has. It reports whether there are none: what
// else would be found in a file then follows from them.
func (l *linter) references(file string, root *bpmnxml.Element) bool {
	before, ids := len(l.findings), map[string]bool{}
	at := func(e *bpmnxml.Element) *node {
		return &node{process: &process{file: file}, id: e.Attr("id"), Element: e}
	}
	root.Walk(func(e *bpmnxml.Element) {
		id := e.Attr("id")
		if id != "" && ids[id] {
			l.add(at(e), "id-twice", id)
		}
		ids[id] = true
	})
	root.Walk(func(e *bpmnxml.Element) {
		for _, name := range referring {
			if e.Has(name) && !ids[e.Attr(name)] {
				l.add(at(e), "reference-broken", name, e.Attr(name))
			}
		}
	})
	return len(l.findings) == before
}
