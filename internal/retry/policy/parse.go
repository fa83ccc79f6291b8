package policy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// document is the form of a file.
type document struct {
	Policies []Entry `yaml:"policies" json:"policies"`
}

// reader reads the policies of one file.
type reader struct {
	form
	// all are the policies before the file's, and those of the file, by name.
	all map[string]*Entry
}

// add reads a file. If it has a fault, nothing is added. A fault in the form of one policy hides no fault of
// the others.
func (s *Set) add(file string, content []byte) error {
	r := &reader{form: form{file: file}, all: maps.Clone(s.entries)}
	for _, node := range r.decode(content, &document{}, "policies") {
		r.read(node)
	}
	if r.faults == nil {
		s.entries = r.all
	}
	return r.err()
}

// read reads a policy, over what it inherits. It may extend one above it, and one that it replaces.
func (r *reader) read(node yaml.Node) {
	var head struct{ Name, Extends string }
	if err := node.Decode(&head); head.Name == "" {
		if err == nil { // else the strict decoder has said what is wrong
			r.add(node.Line, "", "name is missing")
		}
		return
	}
	for _, e := range r.all {
		if e.Origin == r.file && e.Name == head.Name {
			r.add(node.Line, "",
				fmt.Sprintf("the name %s is taken by the policy in line %d", e.Name, e.node.Line))
			return
		}
		if e.Origin == r.file && e.Extends == head.Name {
			r.add(node.Line, "",
				fmt.Sprintf("%s extends this policy, but stands above it, in line %d", e.Name, e.node.Line))
		}
	}
	parent := r.all[head.Extends]
	e := cmp.Or(parent, &defaults).heir(r.file, node)
	_ = node.Decode(e) // the strict decoder has said what is wrong
	if parent == nil && head.Extends != "" {
		e.parent = &Entry{}
		r.fault(e, "", "extends", fmt.Sprintf("%s, which is no policy above it: %s",
			quoted(head.Extends), meant(head.Extends, slices.Sorted(maps.Keys(r.all)))))
	}
	r.make(e)
	r.all[head.Name] = e
}

// make makes the policy of an entry. Its rules come before the parent's.
func (r *reader) make(e *Entry) {
	settings := e.settings(func(setting, problem string) { r.fault(e, "", setting, problem) })
	p, err := cmp.Or(e.parent.policy, defaults.policy).Extend(settings)
	faults, _ := errors.AsType[retry.Faults](err)
	for _, f := range faults {
		r.fault(e, f.Rule, f.Setting, f.Problem.String())
	}
	e.policy = p
}

// fault notes a fault of a setting of a policy, or of a rule of it. It leaves out what the form of the line
// explains, what may be missing because the form of something in the policy is wrong, and what is a fault of
// the parent.
func (r *reader) fault(e *Entry, rule, setting, problem string) {
	line, stated := e.line(rule, setting)
	what := setting + " " + problem
	if !stated && rule == "" && setting != "id" {
		switch {
		case e.Origin == settingsOrigin:
		case e.Extends == "":
			what = setting + " is missing: state it, or extend a policy that has it"
		case e.parent.policy == nil:
			return
		default:
			what += " (" + setting + " is inherited from " + e.Extends + ")"
		}
	}
	misread := func(f text.Finding) bool {
		within := f.Line >= e.node.Line && f.Line <= lastLine(&e.node)
		return f.Subject == "" && (f.Line == line || !stated && within)
	}
	if !slices.ContainsFunc(r.faults, misread) {
		r.add(line, subject(e.Name, rule), what)
	}
}

// lastLine returns the line in which the last value of a node begins.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, n := range node.Content {
		last = max(last, lastLine(n))
	}
	return last
}

// subject is what a finding is about.
func subject(policy, rule string) string {
	if rule == "" {
		return "policy " + policy
	}
	return "policy " + policy + ", rule " + rule
}
