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
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A file is read in time and memory that grow with its size alone. These bounds see to that; a file that is meant needs a small
// part of each.
const (
	// maxFile is the largest size of a policies file in bytes.
	maxFile = 1 << 20
	// maxMarks bounds what [marks] counts: the YAML parser makes up to two values of each, of 160 bytes.
	maxMarks = 200_000
	// maxNodes bounds the values of a file, with its aliases written out. The built-in policies have 20 bytes for each.
	maxNodes = 50_000
	// maxText bounds the bytes of these values.
	maxText = 8 << 20
	// maxFields bounds the fields of a mapping. A policy has 20.
	maxFields = 100
	// maxName bounds the name of a field in bytes: it stands in the paths of faults.
	maxName = 100
	// maxDepth bounds how deep lists and mappings are nested. A correct file needs eight.
	maxDepth = 20
	// maxPolicies bounds the policies of a file.
	maxPolicies = 200
	// maxAbove bounds how many policies stand above one by extends.
	maxAbove = 10
	// maxRules bounds the rules of a policy, inherited ones and inDoubt included.
	maxRules = 500
	// maxSteps bounds what the patterns of a file cost together; see [steps].
	maxSteps = 100_000
)

// reader reads one policies file and collects its faults.
type reader struct {
	file   string
	faults []Fault
	// faulty are the paths of the faults that have one, such as policies/0/base. leading are those and all above them.
	faulty, leading map[string]bool
	// nodes counts the values read so far, size their bytes.
	nodes, size int
	root        *yaml.Node
}

func newReader(file string) *reader {
	return &reader{file: file, faulty: map[string]bool{}, leading: map[string]bool{}}
}

// read returns the policies of the file, also those with faults.
func (r *reader) read(text []byte) []*Entry {
	if !r.parse(text) {
		return nil
	}
	_, list := child(r.root, "policies")
	if all := items(list); len(all) > maxPolicies {
		r.report(nil, all[maxPolicies].Line, fmt.Sprintf("the file has %d policies but may have at most %d", len(all), maxPolicies))
		return nil
	}
	value := r.plain(r.root, nil)
	if r.nodes >= maxNodes { // the rest was not read
		return nil
	}
	repeats := func(v violation) bool { return r.faulty[strings.Join(v.path, "/")] }
	for _, v := range slices.DeleteFunc(violations(value), repeats) {
		node, line := follow(r.root, v.path)
		if len(v.path) != 2 || node.Kind != yaml.MappingNode { // else the fault names the policy
			v.problem = place(v.path, node) + ": " + v.problem
		}
		r.fault(v.path, line, v.problem)
	}
	_, list = child(r.root, "policies")
	var entries []*Entry
	for i, node := range items(list) {
		path := []string{"policies", strconv.Itoa(i)}
		e, err := newEntry(r.file, strings.Join(path, "/"), node)
		if err != nil && len(r.faults) == 0 { // the schema missed it, but the policy is not usable
			r.fault(path, node.Line, withoutYAML(err))
		}
		entries = append(entries, e)
	}
	if r.tooManySteps(entries) {
		return nil
	}
	return entries
}

// parse parses the YAML. It reports whether there is a document to go on with.
func (r *reader) parse(text []byte) bool {
	if len(text) > maxFile {
		r.report(nil, 0, fmt.Sprintf("the file has more than %d bytes", maxFile))
		return false
	}
	if n := marks(text); n > maxMarks {
		r.report(nil, 0, fmt.Sprintf("the file is too large: it has %d lines, commas, brackets, dashes and question marks but may have at most %d", n, maxMarks))
		return false
	}
	if !utf8.Valid(text) { // the parser reads UTF-16 too, in which the next check would see nothing
		r.report(nil, 0, "the file is not UTF-8: save it as a text in UTF-8")
		return false
	}
	if bytes.Contains(text, []byte("%TAG")) { // each tag would have the whole prefix
		r.report(nil, 0, "%TAG is not read: leave it out")
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

// marks returns the number of signs that part values in YAML: ends of lines, commas, brackets, dashes and question marks.
func marks(text []byte) (n int) {
	for i, c := range text {
		switch c {
		case '\n', '\r', ',', '[', '{', '?':
			n++
		case '-':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				n++
			}
		}
	}
	return n
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func withoutYAML(err error) string { return yamlLine.ReplaceAllString(err.Error(), "") }

// syntax notes an error of the YAML parser, and what to do about it.
func (r *reader) syntax(err error) {
	what := withoutYAML(err)
	advice := "check the indentation (spaces, no tabs) and the quotes from this line on"
	switch {
	case strings.Contains(what, "control characters"):
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
	if r.nodes >= maxNodes {
		return nil
	}
	r.size += len(node.Value)
	if r.nodes++; r.nodes == maxNodes || r.size > maxText {
		r.nodes = maxNodes
		r.fault(nil, node.Line, fmt.Sprintf("the file is too large: with its aliases (*) written out it has more than %d values, or %d bytes", maxNodes, maxText))
		return nil
	}
	if len(path) > maxDepth {
		r.nodes = max(r.nodes, maxNodes) // stop: an alias may stand inside what it names
		r.fault(nil, node.Line, "the file is nested too deep, or an alias (*) stands inside of what it names")
		return nil
	}
	r.untag(node, path)
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

// untag notes a tag and removes it: the decoder would repeat it in each of its errors.
func (r *reader) untag(node *yaml.Node, path []string) {
	if node.Style&yaml.TaggedStyle != 0 {
		r.fault(path, node.Line, "the tag "+short(node.Tag)+" is not read: leave it out")
		node.Tag, node.Style = "", node.Style&^yaml.TaggedStyle
	}
}

// mapping removes from the node what is no field, and the second of two fields of one name, so that later steps skip them.
func (r *reader) mapping(node *yaml.Node, path []string) any {
	m := map[string]any{}
	lines := map[string]int{}
	if number := len(node.Content) / 2; number > maxFields {
		r.fault(path, node.Line, fmt.Sprintf("%s has %d fields but may have at most %d", place(path, node), number, maxFields))
		node.Content = nil
		return nil
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		r.untag(key, path)
		first, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fault(path, key.Line, "the name of a field must be a word")
		case len(key.Value) > maxName:
			r.fault(path, key.Line, "the name of a field is too long: "+short(key.Value))
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
	above := strings.Join(path, "/")
	r.faulty[above] = true
	for above != "" && !r.leading[above] {
		r.leading[above] = true
		above = above[:max(0, strings.LastIndexByte(above, '/'))]
	}
}

// broken reports whether the form of what stands at a path, or below it, is wrong.
func (r *reader) broken(path string) bool { return r.leading[path] }

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
