package policy

import (
	"bytes"
	"cmp"
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

// document is the form of a file.
type document struct {
	Policies []Entry `yaml:"policies" json:"policies"`
}

// reader reads one policies file and collects its faults.
type reader struct {
	file   string
	faults Faults
	// above are the policies that those of the file may extend or replace.
	above map[string]*Entry
	// nodes are the policies of the file by name, entries those that were read, and waiting those that wait for one that
	// they extend.
	nodes   map[string]*yaml.Node
	entries map[string]*Entry
	waiting []string
}

// read reads the policies of a file. A fault in the form of one value hides no fault of the others.
func (r *reader) read(s []byte) {
	root := r.decode(s, &document{})
	if root == nil {
		return
	}
	_, list := child(root, "policies")
	r.policies(items(list))
	if len(r.nodes) == 0 && r.faults == nil {
		r.fault(0, "missing", "the file holds no policies: it begins with policies: and a list of them")
	}
}

// decode reads a file into a value and notes the faults of its form. It returns the YAML, nil if nothing can be read.
func (r *reader) decode(s []byte, into any) *yaml.Node {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(s))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return &document
	} else if err != nil {
		r.refused(err)
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		r.fault(second.Line, "form", "a second YAML document begins here (---), but only one is read")
	}
	strict := yaml.NewDecoder(bytes.NewReader(s))
	strict.KnownFields(true)
	if err := strict.Decode(into); err != nil && !r.refused(err) {
		return nil
	}
	r.blanks(&document)
	return document.Content[0]
}

// policies reads a list of policies.
func (r *reader) policies(list []*yaml.Node) {
	var names []string
	for _, node := range list {
		_, value := child(node, "name")
		if value == nil || target(value).Value == "" {
			r.fault(node.Line, "missing", "name is missing")
			continue
		}
		name := target(value).Value
		if first := r.nodes[name]; first != nil {
			r.fault(value.Line, "taken", fmt.Sprintf("the name %s is taken by the policy in line %d", name, first.Line))
			continue
		}
		r.nodes[name] = node
		names = append(names, name)
	}
	for _, name := range names {
		r.entry(name)
		for i := range r.faults {
			if f := &r.faults[i]; f.Policy == "" && within(r.nodes[name], f.Line) {
				f.Policy = name
			}
		}
	}
}

// blanks notes each field and item whose value was forgotten. The decoder takes it for one that is not there.
func (r *reader) blanks(node *yaml.Node) {
	for i, n := range node.Content {
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
			switch {
			case node.Kind == yaml.SequenceNode:
				r.fault(n.Line, "form", "an item of the list is empty")
			case node.Kind == yaml.MappingNode && i%2 == 1:
				r.fault(n.Line, "form", node.Content[i-1].Value+" has no value: state one, or leave the field out")
			}
		}
		r.blanks(n)
	}
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownField = regexp.MustCompile(`^field (.+) not found in type \w+\.(\w+)$`)
	twice        = regexp.MustCompile(`^mapping key "(.+)" already defined at line (\d+)$`)
	otherForm    = regexp.MustCompile("^cannot unmarshal !!\\w+(?: `(.*)`)? into (.+)$")
	noToken      = "found character that cannot start any token"
)

// forms are the forms of values by their Go types; the others are groups of fields.
var forms = map[string]string{
	"string":   "one text",
	"bool":     "true or false",
	"[]string": "a list in brackets, such as [PORTAL CLOSED, PORTAL FECHADO]",
}

// refused notes an error of the YAML decoder, in words for those who know neither it nor Go. It reports whether the decoder
// could read the rest of the file.
func (r *reader) refused(err error) (rest bool) {
	problems, prefix := []string{err.Error()}, "is not YAML: "
	all, rest := errors.AsType[*yaml.TypeError](err)
	if rest {
		problems, prefix = all.Errors, ""
	}
	for _, problem := range problems {
		at := yamlLine.FindStringSubmatch(problem)
		line, _ := strconv.Atoi(at[1])
		problem = strings.TrimPrefix(problem, at[0])
		if found := unknownField.FindStringSubmatch(problem); found != nil {
			problem = "there is no field " + text.Shorten(found[1], 60) + ": " + meant(found[1], fields[found[2]])
		} else if found := twice.FindStringSubmatch(problem); found != nil {
			problem = found[1] + " is there twice: first in line " + found[2]
		} else if found := otherForm.FindStringSubmatch(problem); found != nil {
			form := cmp.Or(forms[found[2]], "fields with values, each after its name, or a list of such with a - before each")
			problem = strings.Replace(quoted(found[1]), `""`, "the value", 1) + " must be " + form
		} else if problem == noToken {
			problem = "indent with blanks, not with tabs, and quote a text that begins with a sign"
		}
		r.fault(line, "form", prefix+problem)
	}
	return rest
}

// fields are the fields of a file by the Go type that has them.
var fields = func() map[string][]string {
	all := map[string][]string{}
	for _, v := range []any{document{}, Entry{}, Target{}, retry.Rule{}, evidence.Condition{}, evidence.GlosaCondition{}, evidence.TermsCondition{}, caseFile{}, Case{}} {
		t := reflect.TypeOf(v)
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
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

// entry returns a policy of the file, which it reads if that was not done before.
func (r *reader) entry(name string) *Entry {
	if e := r.entries[name]; e != nil {
		return e
	}
	r.waiting = append(r.waiting, name)
	e := defaults
	if _, extends := child(r.nodes[name], "extends"); extends != nil {
		parent := r.extended(name, extends)
		e = *parent
		e.parent = parent
	}
	e.Name, e.Description, e.Source, e.Extends, e.Rules, e.InDoubt, e.policy = "", "", "", "", nil, nil, nil
	e.file, e.node = r.file, r.nodes[name]
	r.entries[name] = &e
	_ = e.node.Decode(&e) // what is wrong with it, the strict decoder has said
	switch {
	case e.Name == "": // a field is there twice, and nothing was read
	case e.Extends != "" && e.parent == nil:
		r.fault(e.node.Line, "extends", "extends must stand in the policy itself, not in what << brings")
	default:
		r.make(&e)
	}
	r.waiting = r.waiting[:len(r.waiting)-1]
	return &e
}

// extended returns the policy that another one extends. Where there is none, it is the defaults without a policy.
func (r *reader) extended(name string, extends *yaml.Node) *Entry {
	of, none := target(extends).Value, defaults
	switch {
	case r.nodes[of] != nil && of != name: // a policy may extend the one that it replaces
		if !slices.Contains(r.waiting, of) {
			return r.entry(of)
		}
		r.fault(extends.Line, "extends", "extends goes round in a circle: "+strings.Join(append(r.waiting, of), " -> "))
	case r.above[of] != nil:
		return r.above[of]
	case target(extends).Kind == yaml.ScalarNode: // another form is a fault already
		known := slices.Collect(maps.Keys(r.above))
		known = slices.DeleteFunc(slices.AppendSeq(known, maps.Keys(r.nodes)), func(other string) bool { return other == name })
		slices.Sort(known)
		r.fault(extends.Line, "extends", fmt.Sprintf("extends %s, which is no policy: %s", quoted(of), meant(of, slices.Compact(known))))
	}
	return &none
}

// make makes the policy of an entry. Its rules come before the parent's.
func (r *reader) make(e *Entry) {
	settings, faults := e.settings()
	before := &retry.Policy{}
	if e.parent != nil && e.parent.policy != nil {
		before = e.parent.policy
	}
	p, err := before.Extend(settings)
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
	e.policy = p // nil after a fault; so the file is refused, and nobody sees the entry
}

// setting notes a fault that package retry found, at the line of the setting. It is left out where the form of what was
// written is the fault, or what is inherited.
func (r *reader) setting(e *Entry, fault *retry.SettingError) {
	f := Finding{Policy: e.Name, Rule: fault.Rule, Check: "value", Problem: fault.Setting + " " + fault.Problem.String()}
	node := e.rule(fault.Rule)
	if node == nil || fault.Rule == "" && fault.Setting != "id" {
		node = e.node
	}
	f.Line = lineOf(node, fault.Setting)
	_, stated := child(node, fault.Setting)
	switch {
	case stated != nil:
		node = stated
	case node != e.node:
	case e.parent == nil:
		f.Check, f.Problem = "missing", fault.Setting+" is missing: state it, or extend a policy that has it"
	case e.parent.policy == nil:
		return
	default:
		f.Problem += fmt.Sprintf(" (%s is inherited from %s)", fault.Setting, e.Extends)
	}
	faulty := func(f Finding) bool {
		return f.Check == "form" && within(node, f.Line) && (node.Kind != yaml.ScalarNode || strings.HasPrefix(f.Problem, quoted(node.Value)))
	}
	if !slices.ContainsFunc(r.faults, faulty) {
		r.faults = append(r.faults, f)
	}
}

// fault notes a fault of the file.
func (r *reader) fault(line int, check, problem string) {
	r.faults = append(r.faults, Finding{Line: line, Check: check, Problem: problem})
}

// states reports whether the entry itself states a setting.
func (e *Entry) states(setting string) bool {
	key, _ := child(e.node, setting)
	return key != nil
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

// within reports whether a line is one of a node's.
func within(node *yaml.Node, line int) bool {
	return node.Line == line || node.Line < line && slices.ContainsFunc(node.Content, func(n *yaml.Node) bool { return n.Line >= line || within(n, line) })
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
