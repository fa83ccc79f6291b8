package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile is how large a policies file may be.
const maxFile = 1 << 20

// maxNodes is how many values a policies file may have, each alias counted as what it stands for.
const maxNodes = 200_000

// maxDepth is how many lists and mappings may stand in one another; what can be written correctly needs six.
const maxDepth = 20

// reader reads one policies file and gathers what is wrong with it.
type reader struct {
	file   string
	faults []Fault
	// paths are the paths of the faults that have one.
	paths []string
	// nodes counts the values that were made of the file.
	nodes int
	// root is the file's YAML.
	root *yaml.Node
}

// read returns the policies that are written in the file, those with faults too.
func (r *reader) read(text []byte) []*Entry {
	if !r.parse(text) {
		return nil
	}
	value := r.plain(r.root, nil)
	if r.nodes >= maxNodes { // not all of it was looked at
		return nil
	}
	known := len(r.paths)
	for _, v := range violations(value) {
		if slices.Contains(r.paths[:known], strings.Join(v.path, "/")) { // the schema would only repeat it in other words
			continue
		}
		node, line := follow(r.root, v.path)
		r.fault(v.path, line, place(v.path, node)+": "+v.problem)
	}
	_, list := child(r.root, "policies")
	var entries []*Entry
	for i, node := range items(list) {
		path := []string{"policies", strconv.Itoa(i)}
		e, err := newEntry(r.file, strings.Join(path, "/"), node)
		if err != nil && len(r.faults) == 0 { // nothing of the kind is known; but what cannot be read is not taken
			r.fault(path, node.Line, withoutYAML(err))
		}
		entries = append(entries, e)
	}
	return entries
}

// parse makes the YAML of the text. It reports whether there is something to go on with.
func (r *reader) parse(text []byte) bool {
	if len(text) > maxFile {
		r.faults = append(r.faults, Fault{File: r.file, Problem: fmt.Sprintf("the file has more than %d bytes", maxFile)})
		return false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF) || err == nil && isNull(document.Content[0]):
		r.faults = append(r.faults, Fault{File: r.file, Problem: "the file holds no policies: it begins with policies: and a list of them"})
		return false
	case err != nil:
		r.syntax(err)
		return false
	}
	r.root = document.Content[0]
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
	default:
		r.faults = append(r.faults, Fault{File: r.file, Line: second.Line, Problem: "a second YAML document begins here (---), but only one is read"})
	}
	return true
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax notes what the YAML parser did not understand, and what is to be done about it.
func (r *reader) syntax(err error) {
	what := withoutYAML(err)
	advice := "check the indentation (spaces, no tabs) and the quotes from this line on"
	switch {
	case strings.Contains(what, "UTF-8") || strings.Contains(what, "control characters"):
		advice = "save the file as a text in UTF-8"
	case strings.Contains(what, "unknown anchor"):
		advice = "an alias (*) needs its anchor (&) before it; a text that begins with * needs quotes"
	}
	f := Fault{File: r.file, Problem: "is no YAML: " + what + ": " + advice}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil && found[1] != "" {
		f.Line, _ = strconv.Atoi(found[1])
	}
	r.faults = append(r.faults, f)
}

func withoutYAML(err error) string { return yamlLine.ReplaceAllString(err.Error(), "") }

// plain turns the YAML at a path into the values of JSON. What JSON has no words for is a fault.
func (r *reader) plain(node *yaml.Node, path []string) any {
	if r.nodes++; r.nodes >= maxNodes { // also what an alias makes of itself, or of aliases of aliases
		if r.nodes == maxNodes {
			r.fault(nil, node.Line, fmt.Sprintf("the file is too large: with its aliases (*) written out it has more than %d values", maxNodes))
		}
		return nil
	}
	if len(path) > maxDepth {
		r.nodes = max(r.nodes, maxNodes) // nothing more is looked at: an alias may stand inside of what it names
		r.fault(nil, node.Line, "the file is nested too deep, or an alias (*) stands inside of what it names")
		return nil
	}
	if node.Style&yaml.TaggedStyle != 0 {
		r.fault(path, node.Line, "the tag "+node.Tag+" is not read: leave it out")
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		return r.mapping(node, path)
	case yaml.AliasNode:
		return r.plain(node.Alias, path)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, item := range node.Content {
			list[i] = r.plain(item, below(path, strconv.Itoa(i)))
		}
		return list
	default:
		return r.scalar(node, path)
	}
}

// mapping takes fields that are none, and the second one of two of the same name, out of the node: so all that comes
// after looks at the rest.
func (r *reader) mapping(node *yaml.Node, path []string) any {
	m := map[string]any{}
	lines := map[string]int{}
	var kept []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			r.fault(path, key.Line, "the name of a field must be a word")
			continue
		}
		if line, twice := lines[key.Value]; twice {
			r.report(path, key.Line, fmt.Sprintf("%s stands here twice, first in line %d", short(key.Value), line))
			continue
		}
		if key.ShortTag() == "!!merge" {
			r.fault(below(path, key.Value), key.Line, "merge keys (<<) are not read: use extends")
			continue
		}
		lines[key.Value] = key.Line
		kept = append(kept, key, value)
		m[key.Value] = r.plain(value, below(path, key.Value))
	}
	node.Content = kept
	return m
}

func (r *reader) scalar(node *yaml.Node, path []string) any {
	var value any
	if node.ShortTag() == "!!timestamp" { // a date without quotes: to JSON it is a text
		return node.Value
	}
	if err := node.Decode(&value); err != nil {
		r.fault(path, node.Line, withoutYAML(err))
		return nil
	}
	if tag := node.ShortTag(); (tag == "!!int" || tag == "!!float") && !decimal.MatchString(node.Value) {
		r.fault(path, node.Line, fmt.Sprintf("%s, which YAML reads as %v: write a number in plain decimal digits, and a text in quotes", place(path, node), value))
		return node.Value
	}
	return value
}

// decimal matches a number that is read as it is written: -1, 0.2, .5, 1000. YAML takes 010 for 8, 0x10 for 16 and 1_000 for 1000.
var decimal = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+)$`)

// fault notes a problem because of which what stands at a path is not judged any further.
func (r *reader) fault(path []string, line int, problem string) {
	r.report(path, line, problem)
	r.paths = append(r.paths, strings.Join(path, "/"))
}

// report notes a problem at a path from the root, with the names of the policy and the rule that the path leads through.
func (r *reader) report(path []string, line int, problem string) {
	f := Fault{File: r.file, Line: line, Problem: problem}
	if len(path) >= 2 && path[0] == "policies" {
		policy, _ := follow(r.root, path[:2])
		f.Policy = text(policy, "name")
		if len(path) >= 4 && (path[2] == "rules" || path[2] == "inDoubt") {
			rule, _ := follow(r.root, path[:4])
			f.Rule = text(rule, "id")
		}
	}
	r.faults = append(r.faults, f)
}

// below is the path one step further, in memory of its own.
func below(path []string, step string) []string { return append(slices.Clip(path), step) }

// follow goes down a path as far as it exists. It returns where it ends, and the line of the last field's name.
func follow(node *yaml.Node, path []string) (end *yaml.Node, line int) {
	line = node.Line
	for _, step := range path {
		if key, value := child(node, step); value != nil {
			node, line = value, key.Line
			continue
		}
		list := items(node)
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(list) {
			break
		}
		node, line = list[i], list[i].Line
	}
	return target(node), line
}

// child is a field of a mapping; nil where it has none.
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

// items are the items of a list.
func items(node *yaml.Node) []*yaml.Node {
	if node = target(node); node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

// target is what an alias stands for, and any other node itself.
func target(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// text is a field's text, empty where it is none.
func text(node *yaml.Node, name string) string {
	if _, value := child(node, name); target(value) != nil && target(value).Kind == yaml.ScalarNode {
		value = target(value)
		return short(strings.TrimSpace(value.Value))
	}
	return ""
}

// place names what stands at a path, and its value if that is a single one: jitter.share is 20, rules[1].
func place(path []string, node *yaml.Node) string {
	name := "the file"
	switch { // the fault itself names the policy and the rule
	case len(path) > 4:
		path = path[4:]
	case len(path) > 2:
		path = path[2:]
	}
	for i, step := range path {
		_, err := strconv.Atoi(step)
		switch {
		case err == nil:
			name += "[" + step + "]"
		case i == 0:
			name = short(step)
		default:
			name += "." + short(step)
		}
	}
	switch {
	case node.Kind != yaml.ScalarNode || isNull(node):
		return name
	case node.ShortTag() == "!!str":
		return name + " is " + strconv.Quote(short(node.Value))
	default:
		return name + " is " + short(node.Value)
	}
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }
