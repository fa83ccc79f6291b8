package policy

import (
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
	Faults
	file string
	// above are the policies that those of the file may extend or replace.
	above map[string]*Entry
	// nodes are the policies of the file by name. entries are those that were read; nil waits for the one that it extends.
	nodes   map[string]*yaml.Node
	entries map[string]*Entry
}

// add reads a file. If it has a fault, nothing is added. A fault in the form of one value hides no fault of the others.
func (s *Set) add(file string, content []byte) error {
	r := &reader{file: file, above: s.entries, nodes: map[string]*yaml.Node{}, entries: map[string]*Entry{}}
	list := items(r.decode(content, &document{}), "policies")
	if len(list) == 0 && r.Faults == nil {
		r.add(0, "", "the file holds no policies: it begins with policies: and a list of them")
	}
	for _, node := range list {
		_, name := child(node, "name")
		if name == nil || name.Value == "" {
			r.add(node.Line, "", "name is missing")
		} else if first := r.nodes[name.Value]; first != nil {
			r.add(name.Line, "", fmt.Sprintf("the name %s is taken by the policy in line %d", name.Value, first.Line))
		} else {
			r.nodes[name.Value] = node
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		r.entry(name)
	}
	if r.Faults == nil {
		maps.Copy(s.entries, r.entries)
	}
	return r.of(file)
}

// entry returns a policy of the file, which is read over a copy of the one that it extends; nil if it waits for that one.
func (r *reader) entry(name string) *Entry {
	if e, begun := r.entries[name]; begun {
		return e
	}
	r.entries[name] = nil
	e, node := defaults, r.nodes[name]
	var parent *Entry
	if _, extends := child(node, "extends"); extends != nil {
		if parent = r.extended(name, extends); parent != nil {
			e = *parent
		}
	}
	e.Name, e.Description, e.Source, e.Extends, e.Rules, e.InDoubt, e.policy = "", "", "", "", nil, nil, nil
	e.file, e.node, e.parent = r.file, node, parent
	_ = node.Decode(&e) // what is wrong with it, the strict decoder has said
	r.entries[name] = &e
	if e.Name != "" { // where a field is there twice, nothing was read
		r.make(&e)
	}
	return &e
}

// extended returns the policy that another one extends, nil for none.
func (r *reader) extended(name string, extends *yaml.Node) *Entry {
	of := extends.Value
	if r.nodes[of] != nil && of != name { // a policy may extend the one that it replaces
		parent := r.entry(of)
		if parent == nil {
			r.add(extends.Line, "policy "+name, "extends goes round in a circle: "+of+" extends this policy")
		}
		return parent
	}
	parent := r.above[of]
	if parent == nil && extends.Kind == yaml.ScalarNode { // another form is a fault already
		known := slices.AppendSeq(slices.Collect(maps.Keys(r.above)), maps.Keys(r.nodes))
		known = slices.DeleteFunc(known, func(other string) bool { return other == name })
		slices.Sort(known)
		what := fmt.Sprintf("extends %s, which is no other policy: %s", quoted(of), meant(of, slices.Compact(known)))
		r.add(extends.Line, "policy "+name, what)
	}
	return parent
}

// make makes the policy of an entry. Its rules come before the parent's.
func (r *reader) make(e *Entry) {
	settings, faults := e.settings()
	p, err := e.inherits().Extend(settings)
	if joined, are := err.(interface{ Unwrap() []error }); are {
		faults = append(faults, joined.Unwrap()...)
	}
	for _, fault := range faults {
		if fault, is := errors.AsType[*retry.SettingError](fault); is {
			r.setting(e, fault)
		}
	}
	e.policy = p // nil after a fault; so the file is refused, and nobody sees the entry
}

// setting notes a fault that package retry found, at the line of the setting. It is left out where the form of what was
// written is the fault, or what is inherited.
func (r *reader) setting(e *Entry, fault *retry.SettingError) {
	node, what := e.node, fault.Setting+" "+fault.Problem.String()
	if rule := e.rule(fault.Rule); rule != nil && (fault.Rule != "" || fault.Setting == "id") {
		node = rule
	}
	line := lineOf(node, fault.Setting)
	switch _, stated := child(node, fault.Setting); {
	case stated != nil:
		node = stated
	case node != e.node:
	case e.Extends == "":
		what = fault.Setting + " is missing: state it, or extend a policy that has it"
	case e.parent == nil || e.parent.policy == nil:
		return
	default:
		what += fmt.Sprintf(" (%s is inherited from %s)", fault.Setting, e.Extends)
	}
	ofForm := func(f text.Finding) bool { return f.Subject == "" && f.Line >= node.Line && f.Line <= lastLine(node) }
	if !slices.ContainsFunc(r.Faults, ofForm) {
		r.add(line, subject(e.Name, fault.Rule), what)
	}
}

// subject is what a finding is about.
func subject(policy, rule string) string {
	if rule == "" {
		return "policy " + policy
	}
	return "policy " + policy + ", rule " + rule
}

// rule returns the YAML of the entry's last rule with an id, nil if there is none.
func (e *Entry) rule(id string) (node *yaml.Node) {
	for _, item := range slices.Concat(items(e.node, "rules"), items(e.node, "inDoubt")) {
		if _, value := child(item, "id"); value == nil && id == "" || value != nil && value.Value == id {
			node = target(item)
		}
	}
	return node
}
