package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// reader reads one policies file and collects its faults.
type reader struct {
	file   string
	faults []Fault
	// above are the policies that those of the file may extend or replace.
	above map[string]*Entry
	// nodes are the policies of the file by name; entries are those that were read, nil for one with a fault.
	nodes   map[string]*yaml.Node
	entries map[string]*Entry
	// waiting are the policies that wait for one that they extend.
	waiting []string
}

// document is the form of a file.
type document struct {
	Policies []Entry `yaml:"policies" json:"policies"`
}

// read reads the policies of a file.
func (r *reader) read(s []byte) {
	list := r.parse(s)
	if r.faults != nil {
		return
	}
	var names []string
	for _, node := range list {
		_, value := child(node, "name")
		if value == nil {
			r.fault(Fault{Line: node.Line, Problem: "name is missing"})
			continue
		}
		name := target(value).Value
		if first := r.nodes[name]; first != nil {
			_, before := child(first, "name")
			r.fault(Fault{Line: value.Line, Policy: name, Problem: fmt.Sprintf("the name is taken: another policy has it in line %d", before.Line)})
			continue
		}
		r.nodes[name] = node
		names = append(names, name)
	}
	for _, name := range names {
		r.entry(name)
	}
}

// parse checks the form of the file and returns the YAML of its policies.
func (r *reader) parse(s []byte) []*yaml.Node {
	var root, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(s))
	if err := decoder.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		r.form(err, nil)
		return nil
	}
	var list []*yaml.Node
	if len(root.Content) > 0 {
		_, policies := child(root.Content[0], "policies")
		list = items(policies)
	}
	strict := yaml.NewDecoder(bytes.NewReader(s))
	strict.KnownFields(true)
	if err := strict.Decode(&document{}); err != nil && !errors.Is(err, io.EOF) {
		r.form(err, list)
		return nil
	}
	if len(list) == 0 {
		r.fault(Fault{Problem: "the file holds no policies: it begins with policies: and a list of them"})
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		r.fault(Fault{Line: second.Line, Problem: "a second YAML document begins here (---), but only one is read"})
	}
	return list
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownField = regexp.MustCompile(`^field (.+) not found in type \w+\.(\w+)$`)
	intoType     = regexp.MustCompile(`into \w+\.`)
)

// form notes the errors of the YAML decoder, with the policy in whose lines they are.
func (r *reader) form(err error, list []*yaml.Node) {
	problems, prefix := []string{err.Error()}, "is not YAML: "
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		problems, prefix = all.Errors, ""
	}
	for _, problem := range problems {
		at := yamlLine.FindStringSubmatch(problem)
		line, _ := strconv.Atoi(at[1])
		f := Fault{Line: line, Problem: prefix + intoType.ReplaceAllString(strings.TrimPrefix(problem, at[0]), "into ")}
		if field := unknownField.FindStringSubmatch(f.Problem); field != nil {
			f.Problem = "there is no field " + short(field[1]) + ": " + meant(field[1], fields[field[2]])
		}
		for _, node := range list { // the last one that begins before the line
			if node.Line <= line {
				f.Policy = field(node, "name")
			}
		}
		r.fault(f)
	}
}

// field returns the text of a scalar field.
func field(node *yaml.Node, name string) string {
	if _, value := child(node, name); value != nil {
		return short(target(value).Value)
	}
	return ""
}

// fields are the fields of a file by the Go type that has them.
var fields = func() map[string][]string {
	all := map[string][]string{}
	for _, v := range []any{document{}, Entry{}, Target{}, retry.Rule{}, evidence.Condition{}, evidence.GlosaCondition{}, evidence.TermsCondition{}} {
		t := reflect.TypeOf(v)
		for _, f := range reflect.VisibleFields(t) {
			if name := f.Tag.Get("json"); name != "" {
				name, _, _ = strings.Cut(name, ",")
				all[t.Name()] = append(all[t.Name()], name)
			}
		}
		slices.Sort(all[t.Name()])
	}
	return all
}()

// meant guesses which of the known names a name stands for.
func meant(name string, known []string) string {
	if similar := text.Nearest(name, known); similar != "" {
		return "did you mean " + similar + "?"
	}
	return "known are " + strings.Join(known, ", ")
}

// entry returns a policy of the file, which it reads if that was not done before; nil if it has a fault.
func (r *reader) entry(name string) *Entry {
	if e, known := r.entries[name]; known {
		return e
	}
	r.entries[name] = nil
	r.waiting = append(r.waiting, name)
	before := len(r.faults)
	if e := r.inherit(name); e != nil {
		if err := r.nodes[name].Decode(e); err != nil { // which the strict decoder allowed
			r.form(err, []*yaml.Node{e.node})
		}
		r.make(e)
		if len(r.faults) == before {
			r.entries[name] = e
		}
	}
	r.waiting = r.waiting[:len(r.waiting)-1]
	return r.entries[name]
}

// inherit returns a policy of the file with nothing but what it inherits; nil if it extends a policy that is unknown or has faults.
func (r *reader) inherit(name string) *Entry {
	e, node := defaults, r.nodes[name]
	if _, extends := child(node, "extends"); extends != nil {
		of := target(extends).Value
		parent, known := r.above[of]
		switch {
		case r.nodes[of] == nil || of == name: // a policy may extend the one that it replaces
			if !known {
				all := slices.Collect(maps.Keys(r.above))
				all = slices.DeleteFunc(slices.AppendSeq(all, maps.Keys(r.nodes)), func(other string) bool { return other == name })
				slices.Sort(all)
				r.fault(Fault{Line: extends.Line, Policy: name, Problem: fmt.Sprintf("extends %q, which is no policy: %s", short(of), meant(of, slices.Compact(all)))})
				return nil
			}
		case slices.Contains(r.waiting, of):
			r.fault(Fault{Line: extends.Line, Policy: name, Problem: "extends goes round in a circle: " + strings.Join(append(r.waiting, of), " -> ")})
			return nil
		default:
			if parent = r.entry(of); parent == nil {
				return nil
			}
		}
		e = *parent
		e.parent = parent
	}
	e.Name, e.Description, e.Source, e.Extends, e.Rules, e.InDoubt, e.policy = "", "", "", "", nil, nil, nil
	e.file, e.node = r.file, node
	return &e
}

// make makes the policy of an entry. Its rules come before the parent's.
func (r *reader) make(e *Entry) {
	if e.Base == "" || e.Max == "" || e.MaxRetries < 0 {
		r.fault(Fault{Line: e.node.Line, Policy: e.Name, Problem: "base, max and maxRetries are needed, unless the policy extends another one"})
		return
	}
	complete := e.completed()
	settings, faults := complete.settings()
	var err error
	if e.parent == nil {
		e.policy, err = retry.New(settings)
	} else {
		e.policy, err = e.parent.policy.Extend(settings)
	}
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, one := range joined.Unwrap() {
			if fault, ok := errors.AsType[*retry.SettingError](one); ok {
				faults = append(faults, fault)
			}
		}
	}
	for _, fault := range faults {
		r.setting(e, fault)
	}
}

// setting notes a fault that package retry found, at the line of the setting. The fault of an inherited setting is noted at
// the policy.
func (r *reader) setting(e *Entry, fault *retry.SettingError) {
	f := Fault{Policy: e.Name, Rule: fault.Rule, Problem: fault.Setting + " " + fault.Problem.String()}
	var stated bool
	if f.Line, stated = e.states(fault.Setting); !stated && e.parent != nil && fault.Rule == "" {
		f.Problem += fmt.Sprintf(" (%s is inherited from %s)", fault.Setting, e.Extends)
	}
	if node := e.rule(fault.Rule); node != nil && (fault.Rule != "" || fault.Setting == "id") {
		f.Line = lineOf(node, fault.Setting)
	}
	r.fault(f)
}

// fault notes a fault of the file.
func (r *reader) fault(f Fault) {
	f.File = r.file
	r.faults = append(r.faults, f)
}

// states reports whether the entry itself states a setting, and returns its line, or the entry's first line.
func (e *Entry) states(setting string) (line int, stated bool) {
	key, _ := child(e.node, setting)
	return lineOf(e.node, setting), key != nil
}

// rule returns the YAML of the entry's last rule with an id, nil if there is none.
func (e *Entry) rule(id string) (node *yaml.Node) {
	_, rules := child(e.node, "rules")
	_, inDoubt := child(e.node, "inDoubt")
	for _, item := range slices.Concat(items(rules), items(inDoubt)) {
		if _, value := child(item, "id"); value == nil && id == "" || value != nil && target(value).Value == id {
			node = item
		}
	}
	return node
}

// lineOf returns the line of a field of a mapping, or its first line if it has no such field.
func lineOf(node *yaml.Node, field string) int {
	if key, _ := child(node, field); key != nil {
		return key.Line
	}
	return node.Line
}

// child returns a field of a mapping; nil if it has none.
func child(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node = target(node); node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// items returns the items of a list.
func items(node *yaml.Node) []*yaml.Node {
	if node = target(node); node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

// target returns what an alias stands for, and any other node itself.
func target(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}
