package policy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
)

// form reads a file, and collects its faults.
type form struct {
	file   string
	faults text.Findings
}

// add adds a fault. A subject is needed only where the line does not show it.
func (f *form) add(line int, what text.Message) *text.Finding {
	f.faults = append(f.faults, text.Finding{
		Severity: text.Error, Check: "refused", File: f.file, Line: line, What: what,
	})
	return &f.faults[len(f.faults)-1]
}

// err returns the faults in the order of the lines, each once; nil for none.
func (f *form) err() error {
	if f.faults == nil {
		return nil
	}
	return text.Findings(byLine(f.faults))
}

// byLine returns findings in the order of their lines, each once.
func byLine(found []text.Finding) []text.Finding {
	slices.SortStableFunc(found, func(a, b text.Finding) int {
		return cmp.Or(a.Line-b.Line, strings.Compare(a.What.String(), b.What.String()))
	})
	return slices.CompactFunc(found, func(a, b text.Finding) bool { return a.OneLine() == b.OneLine() })
}

// decode reads a file into a struct of one field, a list, whose items are yet to be read by [form.fill].
func (f *form) decode(content []byte, into any) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var file, second yaml.Node
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		at := yamlLine.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(at[1])
		f.add(line, text.Messagef("is not YAML: %s", strings.TrimPrefix(err.Error(), at[0])))
		return
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		f.add(second.Line, text.Messagef("a second YAML document begins here (---), but only one is read"))
	}
	for _, node := range file.Content {
		f.fill(into, node)
	}
	list := reflect.ValueOf(into).Elem()
	if list.Field(0).Len() == 0 && f.faults == nil {
		f.add(0, text.Messagef("the file holds no %[1]s: it begins with %[1]s: and a list of them",
			list.Type().Field(0).Tag.Get("yaml")))
	}
}

// yamlLine is the line that the decoder names.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// fill reads YAML into a value, over what that holds, and reports whether all of it has the form of its type.
func (f *form) fill(value any, node *yaml.Node) (right bool) {
	before := len(f.faults)
	f.check(node, reflect.TypeOf(value).Elem())
	if err := node.Decode(value); err != nil && len(f.faults) == before { // such as an anchor within itself
		f.add(node.Line, text.Messagef("%s", err.Error()))
	}
	return len(f.faults) == before
}

// check notes where YAML has another form than its type, also what the decoder would take for something else:
// a missing value for an absent field, 010 for 8, and 2.5 for 2. It takes such values out, so that the
// decoder reads the rest.
func (f *form) check(node *yaml.Node, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	number, isNumber := numbers[t.Kind()]
	switch {
	case node.Kind == yaml.AliasNode || t == reflect.TypeFor[yaml.Node]():
		// It is checked where it stands, and by itself.
	case node.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		f.fields(node, t)
	case node.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range node.Content {
			f.check(item, t.Elem())
		}
	case node.ShortTag() == "!!null":
		f.add(node.Line, text.Messagef("a value is missing here: state one, or leave the field out"))
	case isNumber && !number.MatchString(node.Value) || node.Decode(reflect.New(t).Interface()) != nil:
		what := text.Messagef("the value must be %s", values[t.Kind()])
		if node.Kind == yaml.ScalarNode {
			what = text.Messagef("%s must be %s", quoted(node.Value), values[t.Kind()])
		}
		f.add(node.Line, what)
		*node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: node.Line}
	}
}

// numbers are what numbers look like.
var numbers = map[reflect.Kind]*regexp.Regexp{
	reflect.Int:     regexp.MustCompile(`^(0|[1-9][0-9]*)$`),
	reflect.Float64: regexp.MustCompile(`^(0|[1-9][0-9]*)?(\.[0-9]+)?$`),
}

// values are what values are called. Those of the kind Int64 are durations.
var values = map[reflect.Kind]text.Message{
	reflect.String: text.Messagef("one text"),
	reflect.Bool:   text.Messagef("true or false"),
	reflect.Int:    text.Messagef("a whole number of 0 or more in plain decimal digits"),
	reflect.Float64: text.Messagef("a number of 0 or more in plain decimal digits, such as 2 or 0.2 " +
		"(a fifth, 20 %%)"),
	reflect.Int64: text.Messagef("a duration with its unit, such as 500ms, 90s, 5m or 24h, or PT5M"),
	reflect.Slice: text.Messagef("a list, such as [PORTAL CLOSED, PORTAL FECHADO] " +
		"or one item a line after a -"),
	reflect.Struct: text.Messagef("fields with values, each after its name"),
}

// fields checks the fields of a mapping that is read into a struct.
func (f *form) fields(node *yaml.Node, t reflect.Type) {
	types := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name != "" && name != "-" {
			types[name] = field.Type
		}
	}
	lines := map[string]int{}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		of, known := types[name.Value]
		switch first, again := lines[name.Value]; {
		case name.ShortTag() == "!!merge":
			if value.Kind == yaml.MappingNode { // else aliases, which are checked where they stand
				f.fields(value, t)
			}
		case again:
			f.add(name.Line, text.Messagef("the field %s is there twice, first in line %s", name.Value,
				strconv.Itoa(first)))
		case known:
			f.check(value, of)
		default:
			f.add(name.Line, text.Messagef("there is no field %s here: %s", quoted(name.Value),
				meant(name.Value, slices.Sorted(maps.Keys(types)))))
		}
		lines[name.Value] = name.Line
	}
}

// meant guesses which of the known names a name stands for.
func meant(name string, known []string) text.Message {
	if similar := text.Nearest(name, known); similar != "" {
		return text.Messagef("did you mean %s?", similar)
	}
	return text.Messagef("known are %s", strings.Join(known, ", "))
}

// quoted quotes a value. A long one is cut, so that it does not fill the screen.
func quoted(value string) string { return strconv.Quote(text.Shorten(value, 60)) }
