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

const (
	// maxFile is the largest size of a policies file in bytes.
	maxFile = 1 << 20
	// maxNodes bounds the values of a file, with its aliases written out.
	maxNodes = 200_000
	// maxDepth bounds how deep lists and mappings are nested. A correct file needs six.
	maxDepth = 20
)

// reader reads one policies file and collects its faults.
type reader struct {
	file   string
	faults []Fault
	// paths are the paths of the faults that have one, such as policies/0/base.
	paths []string
	// nodes counts the values read so far.
	nodes int
	root  *yaml.Node
}

// read returns the policies of the file, also those with faults.
func (r *reader) read(text []byte) []*Entry {
	if !r.parse(text) {
		return nil
	}
	value := r.plain(r.root, nil)
	if r.nodes >= maxNodes { // the rest was not read
		return nil
	}
	known := len(r.paths)
	for _, v := range violations(value) {
		if !slices.Contains(r.paths[:known], strings.Join(v.path, "/")) { // else the schema only repeats a fault
			node, line := follow(r.root, v.path)
			if len(v.path) != 2 || node.Kind != yaml.MappingNode { // else the fault names the policy
				v.problem = place(v.path, node) + ": " + v.problem
			}
			r.fault(v.path, line, v.problem)
		}
	}
	_, list := child(r.root, "policies")
	var entries []*Entry
	for i, node := range items(list) {
		path := []string{"policies", strconv.Itoa(i)}
		e, err := newEntry(r.file, strings.Join(path, "/"), node)
		if err != nil && len(r.faults) == 0 { // the schema missed it, but the policy is not usable
			r.fault(path, node.Line, withoutYAML(err))
		}
		entries = append(entries, e)
	}
	return entries
}

// parse parses the YAML. It reports whether there is a document to go on with.
func (r *reader) parse(text []byte) bool {
	if len(text) > maxFile {
		r.report(nil, 0, fmt.Sprintf("the file has more than %d bytes", maxFile))
		return false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF) || err == nil && isNull(document.Content[0]):
		r.report(nil, 0, "the file holds no policies: it begins with policies: and a list of them")
		return false
	case err != nil:
		r.syntax(err)
		return false
	}
	r.root = document.Content[0]
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
	default:
		r.report(nil, second.Line, "a second YAML document begins here (---), but only one is read")
	}
	return true
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func withoutYAML(err error) string { return yamlLine.ReplaceAllString(err.Error(), "") }

// syntax notes an error of the YAML parser, and what to do about it.
func (r *reader) syntax(err error) {
	what := withoutYAML(err)
	advice := "check the indentation (spaces, no tabs) and the quotes from this line on"
	switch {
	case strings.Contains(what, "UTF-8") || strings.Contains(what, "control characters"):
		advice = "save the file as a text in UTF-8"
	case strings.Contains(what, "unknown anchor"):
		advice = "an alias (*) needs its anchor (&) before it; a text that begins with * needs quotes"
	}
	line := 0
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ = strconv.Atoi(found[1])
	}
	r.report(nil, line, "is not YAML: "+what+": "+advice)
}

// plain returns the YAML at a path as the values of JSON, for the schema. It notes what JSON does not have.
func (r *reader) plain(node *yaml.Node, path []string) any {
	if r.nodes++; r.nodes >= maxNodes {
		if r.nodes == maxNodes {
			r.fault(nil, node.Line, fmt.Sprintf("the file is too large: with its aliases (*) written out it has more than %d values", maxNodes))
		}
		return nil
	}
	if len(path) > maxDepth {
		r.nodes = max(r.nodes, maxNodes) // stop: an alias may stand inside what it names
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

// mapping removes from the node what is no field, and the second of two fields of one name, so that later steps skip them.
func (r *reader) mapping(node *yaml.Node, path []string) any {
	m := map[string]any{}
	lines := map[string]int{}
	var kept []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		first, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fault(path, key.Line, "the name of a field must be a word")
		case key.ShortTag() == "!!merge":
			r.fault(below(path, key.Value), key.Line, "merge keys (<<) are not read: use extends")
		case twice:
			r.report(path, key.Line, fmt.Sprintf("%s stands here twice, first in line %d", short(key.Value), first))
		default:
			lines[key.Value] = key.Line
			kept = append(kept, key, value)
			m[key.Value] = r.plain(value, below(path, key.Value))
		}
	}
	node.Content = kept
	return m
}

// decimal matches a number that YAML reads as it is written: -1, 0.2, .5, 1000. YAML reads 010 as 8, 0x10 as 16 and 1_000 as 1000.
var decimal = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+)$`)

func (r *reader) scalar(node *yaml.Node, path []string) any {
	tag := node.ShortTag()
	if tag == "!!timestamp" { // a date without quotes is a text in JSON
		return node.Value
	}
	var value any
	if err := node.Decode(&value); err != nil {
		r.fault(path, node.Line, withoutYAML(err))
		return nil
	}
	if (tag == "!!int" || tag == "!!float") && !decimal.MatchString(node.Value) {
		r.fault(path, node.Line, fmt.Sprintf("%s, which YAML reads as %v: write a number in plain decimal digits, and a text in quotes", place(path, node), value))
		return node.Value
	}
	return value
}

// fault notes a problem at a path. What stands there is not checked any further.
func (r *reader) fault(path []string, line int, problem string) {
	r.report(path, line, problem)
	r.paths = append(r.paths, strings.Join(path, "/"))
}

// report notes a problem, with the names of the policy and the rule that its path leads through.
func (r *reader) report(path []string, line int, problem string) {
	f := Fault{File: r.file, Line: line, Problem: problem}
	if len(path) >= 2 && path[0] == "policies" {
		f.Policy = r.text(path[:2], "name")
		if len(path) >= 4 && (path[2] == "rules" || path[2] == "inDoubt") {
			f.Rule = r.text(path[:4], "id")
		}
	}
	r.faults = append(r.faults, f)
}

// text returns the text of a field of the mapping at a path; empty if it has none.
func (r *reader) text(path []string, field string) string {
	node, _ := follow(r.root, path)
	if _, value := child(node, field); target(value) != nil && target(value).Kind == yaml.ScalarNode {
		return short(strings.TrimSpace(target(value).Value))
	}
	return ""
}

// place names what stands at a path, and its value if that is a scalar: jitter.share is 20, rules[1].
func place(path []string, node *yaml.Node) string {
	switch { // the fault itself names the policy and the rule
	case len(path) > 4:
		path = path[4:]
	case len(path) > 2:
		path = path[2:]
	}
	var name strings.Builder
	for _, step := range path {
		if _, err := strconv.Atoi(step); err == nil {
			name.WriteString("[" + step + "]")
		} else {
			name.WriteString("." + short(step))
		}
	}
	subject := strings.TrimPrefix(name.String(), ".")
	if len(path) == 0 {
		subject = "the file"
	}
	switch {
	case node.Kind != yaml.ScalarNode || isNull(node):
		return subject
	case node.ShortTag() == "!!str":
		return subject + " is " + strconv.Quote(short(node.Value))
	default:
		return subject + " is " + short(node.Value)
	}
}

// below returns the path one step further, in memory of its own.
func below(path []string, step string) []string { return append(slices.Clip(path), step) }

// follow goes down a path as far as it exists. It returns the node at its end, and the line of the last field's name.
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

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }
