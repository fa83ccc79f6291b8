package policy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
)

// Faults are all faults of a file, in the order of its lines. They are the error of [Parse], [Open] and [ParseCases].
type Faults text.Findings

// Error returns a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].OneLine()
	}
	return strings.Join(lines, "\n")
}

// add adds a fault. A subject is needed only where the line does not show it.
func (f *Faults) add(line int, subject, what string) {
	*f = append(*f, text.Finding{Severity: text.Error, Check: "refused", Line: line, Subject: subject, What: what})
}

// of returns the faults as those of a file, each once; nil for none.
func (f Faults) of(file string) error {
	if f == nil {
		return nil
	}
	for i := range f {
		f[i].File = file
	}
	slices.SortStableFunc(f, func(a, b text.Finding) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.What, b.What)) })
	return slices.Compact(f)
}

// decode reads a file into a value and notes the faults of its form. It returns the YAML, nil if there is none that can be read.
func (f *Faults) decode(s []byte, into any) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(s))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); errors.Is(err, io.EOF) || err != nil && !f.refused(err) {
		return nil
	}
	var root, second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		f.add(second.Line, "", "a second YAML document begins here (---), but only one is read")
	}
	if err := yaml.Unmarshal(s, &root); err != nil {
		return nil // of which the decoder has told
	}
	f.overlooked(&root)
	return root.Content[0]
}

// overlooked notes what the decoder takes and nobody means: a value that was forgotten, which it takes for one that is not there,
// 010, which it reads as 8, 2.5, which it cuts to 2, and fields that << brings, which would stand in no line of the policy.
func (f *Faults) overlooked(node *yaml.Node) {
	for i, n := range node.Content {
		switch tag := n.ShortTag(); {
		case tag == "!!merge":
			f.add(n.Line, "", "<< is not for policies: write the fields out, or extend a policy that has them")
		case node.Kind != yaml.MappingNode || i%2 == 0:
		case tag == "!!null":
			f.add(n.Line, "", node.Content[i-1].Value+" has no value: state one, or leave the field out")
		case (tag == "!!int" || tag == "!!float") && !plainNumber.MatchString(n.Value):
			f.add(n.Line, "", quoted(n.Value)+" must be a number of 0 or more in plain decimal digits, or quoted if it is a text")
		case tag == "!!float" && slices.Contains([]string{"maxRetries", "retryCount"}, node.Content[i-1].Value):
			f.add(n.Line, "", quoted(n.Value)+" must be a whole number")
		}
		f.overlooked(n)
	}
}

var (
	plainNumber  = regexp.MustCompile(`^(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?$`)
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownField = regexp.MustCompile(`^field (.+) not found in type \w+\.(\w+)$`)
)

// plainer has words for those who know neither the YAML decoder nor Go, in the place of its own. They are replaced in turn.
var plainer = []struct {
	its   *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^mapping key "(.+)" already defined at line (\d+)$`), "$1 is there twice: first in line $2"},
	{regexp.MustCompile("^cannot unmarshal !!\\w+ `(.*)`"), `"$1"`},
	{regexp.MustCompile(`^cannot unmarshal !!\w+`), "the value"},
	{regexp.MustCompile(` into string$`), " must be one text"},
	{regexp.MustCompile(` into bool$`), " must be true or false"},
	{regexp.MustCompile(` into int$`), " must be a whole number"},
	{regexp.MustCompile(` into float64$`), " must be a number, such as 2 or 0.2 (a fifth, 20 %)"},
	{regexp.MustCompile(` into \[\]string$`), " must be a list in brackets, such as [PORTAL CLOSED, PORTAL FECHADO]"},
	{regexp.MustCompile(` into \S+$`), " must be fields with values, each after its name, or a list of such with a - before each"},
	{
		regexp.MustCompile(`^found character that cannot start any token$`),
		"indent with blanks, not with tabs, and quote a text that begins with a sign",
	},
}

// refused notes an error of the YAML decoder. It reports whether the decoder could read the rest of the file.
func (f *Faults) refused(err error) (rest bool) {
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
		}
		for _, p := range plainer {
			problem = p.its.ReplaceAllString(problem, p.words)
		}
		f.add(line, "", prefix+problem)
	}
	return rest
}

// fields are the fields of the files by the Go type that has them.
var fields = fieldsOf(map[string][]string{}, reflect.TypeFor[document](), reflect.TypeFor[caseFile]())

// fieldsOf adds those of some types, and of the types of their fields.
func fieldsOf(all map[string][]string, types ...reflect.Type) map[string][]string {
	for _, t := range types {
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || all[t.Name()] != nil {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != "" && name != "-" {
				all[t.Name()] = append(all[t.Name()], name)
				fieldsOf(all, field.Type)
			}
		}
		slices.Sort(all[t.Name()])
	}
	return all
}

// meant guesses which of the known names a name stands for.
func meant(name string, known []string) string {
	if similar := text.Nearest(name, known); similar != "" {
		return "did you mean " + similar + "?"
	}
	return "known are " + strings.Join(known, ", ")
}

// lastLine returns the line in which a node ends.
func lastLine(node *yaml.Node) int {
	for len(node.Content) > 0 {
		node = node.Content[len(node.Content)-1]
	}
	return node.Line
}

// lineOf returns the line of a field of a mapping, or its first line if it has no such field.
func lineOf(node *yaml.Node, field string) int {
	if key, _ := child(node, field); key != nil {
		return key.Line
	}
	return node.Line
}

// child returns a field of a mapping and its value, that of an alias where it is one; nil if it has no such field.
func child(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node = target(node); node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], target(node.Content[i+1])
		}
	}
	return nil, nil
}

// items returns the items of the list that a field of a mapping is.
func items(node *yaml.Node, name string) []*yaml.Node {
	if _, list := child(node, name); list != nil && list.Kind == yaml.SequenceNode {
		return list.Content
	}
	return nil
}

func target(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}
