package policy

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
)

// reader reads the policies of one file.
type reader struct {
	form
	// all are the policies before the file's, and those of the file, by name.
	all map[string]*entry
}

// add reads a file. If it has a fault, nothing is added. A fault in the form of one policy hides no fault of
// the others.
func (s *Set) add(file string, content []byte) error {
	r := &reader{form: form{file: file}, all: maps.Clone(s.entries)}
	var list struct {
		Policies []yaml.Node `yaml:"policies"`
	}
	r.decode(content, &list)
	for _, node := range list.Policies {
		r.read(node)
	}
	if r.faults == nil {
		s.entries = r.all
	}
	return r.err()
}

// read reads a policy, over what it inherits. It may extend one above it, and one that it replaces.
func (r *reader) read(node yaml.Node) {
	var head struct{ Extends string }
	_ = node.Decode(&head) // fill reports what is wrong
	parent := r.all[head.Extends]
	e := cmp.Or(parent, &defaults).heir(r.file, node)
	if e.misread = !r.fill(&e.Settings, &e.node); e.Name == "" {
		if !e.misread {
			r.add(node.Line, text.Messagef(`"name" is missing`))
		}
		return
	}
	for _, other := range r.all {
		if other.origin == r.file && other.Name == e.Name {
			r.add(node.Line, text.Messagef("the name %s is taken by the policy in line %s",
				e.Name, strconv.Itoa(other.node.Line)))
			return
		}
		if other.origin == r.file && other.Extends == e.Name {
			r.add(node.Line, text.Messagef("%s extends this policy, but stands above it, in line %s",
				other.Name, strconv.Itoa(other.node.Line)))
		}
	}
	if parent == nil && e.Extends != "" {
		e.parent = &entry{}
		r.fault(e, "", "extends", text.Messagef(`"extends" is %s, which is no policy above it: %s`,
			quoted(e.Extends), meant(e.Extends, slices.Sorted(maps.Keys(r.all)))))
	}
	r.make(e)
	r.all[e.Name] = e
}

// make makes the policy of an entry. Its rules come before the parent's.
func (r *reader) make(e *entry) {
	e.Zone, _ = time.LoadLocation(e.TimeZone) // a policy without a zone is refused
	p, err := cmp.Or(e.parent.policy, defaults.policy).Extend(e.Settings)
	faults, _ := errors.AsType[text.Findings](err)
	for _, f := range faults {
		r.fault(e, f.Name, f.Check, f.What)
	}
	e.policy = p
}

// fault notes a fault of a setting of a policy, or of a rule of it. It leaves out what the form of the line
// explains, where the setting itself was not read; what may be missing because the form of something in the
// policy is wrong; and what is a fault of the parent.
func (r *reader) fault(e *entry, rule, setting string, what text.Message) {
	value, stated := e.find(rule, setting)
	if !stated && rule == "" && setting != "id" {
		switch {
		case e.origin == settingsOrigin:
		case e.Extends == "":
			what = text.Messagef("%q is missing: state it, or extend a policy that has it", setting)
		case e.parent.policy == nil:
			return
		default:
			what = text.Messagef("%s (%s is inherited from %s)", what, setting, e.Extends)
		}
	}
	misread := func(f text.Finding) bool { return f.Subject.Format == "" && f.Line == value.Line }
	read := value.Kind == yaml.ScalarNode && value.Tag != "!!null" // what was misread is null now
	if (stated || !e.misread) && (read || !slices.ContainsFunc(r.faults, misread)) {
		r.add(value.Line, what).Subject = subject(e.Name, rule)
	}
}

// subject is what a finding is about.
func subject(policy, rule string) text.Message {
	if rule == "" {
		return text.Messagef("policy %s", policy)
	}
	return text.Messagef("policy %s, rule %s", policy, rule)
}
