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

// form reads a file, and collects its faults.
type form struct {
	file   string
	faults text.Faults
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
	slices.SortStableFunc(f.faults, func(a, b text.Finding) int {
		return cmp.Or(a.Line-b.Line, strings.Compare(a.What.String(), b.What.String()))
	})
	return slices.CompactFunc(f.faults, func(a, b text.Finding) bool { return a.OneLine() == b.OneLine() })
}

// decode reads YAML into a value and notes the faults of its form. It returns the items of its only field, a
// list.
func (f *form) decode(content []byte, into any, field string) []yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if all, read := errors.AsType[*yaml.TypeError](err); read {
		for _, problem := range all.Errors {
			f.refused(problem)
		}
	} else if err != nil && !errors.Is(err, io.EOF) {
		line, problem := placed(err.Error())
		f.add(line, text.Messagef("is not YAML: %s", problem))
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		f.add(second.Line, text.Messagef("a second YAML document begins here (---), but only one is read"))
	}
	var lists map[string][]yaml.Node
	_ = yaml.Unmarshal(content, &lists) // the decoder has said what is wrong
	for i := range lists[field] {
		f.overlooked(&lists[field][i])
	}
	if len(lists[field]) == 0 && f.faults == nil {
		f.add(0, text.Messagef("the file holds no %[1]s: it begins with %[1]s: and a list of them", field))
	}
	return lists[field]
}

// overlooked reports mistakes that the decoder accepts: a missing value, which it treats as an absent field,
// 010, which it reads as 8, and 2.5, which it cuts to 2.
func (f *form) overlooked(node *yaml.Node) {
	for i, n := range node.Content {
		f.overlooked(n)
		mapping := node.Kind == yaml.MappingNode
		switch tag := n.ShortTag(); {
		case mapping && i%2 == 0: // the name of a field
		case tag == "!!null":
			f.add(n.Line, text.Messagef("a value is missing here: state one, or leave the field out"))
		case !mapping: // an item of a list is a text
		case (tag == "!!int" || tag == "!!float") && !plainNumber.MatchString(n.Value):
			f.add(n.Line, text.Messagef(
				"%s must be a number of 0 or more in plain decimal digits, or quoted if it is a text",
				quoted(n.Value)))
		case tag == "!!float" && slices.Contains(counts, node.Content[i-1].Value):
			f.add(n.Line, text.Messagef("%s must be a whole number", quoted(n.Value)))
		}
	}
}

// counts are the fields that hold whole numbers.
var counts = []string{"maxRetries", "retryCount"}

var (
	plainNumber  = regexp.MustCompile(`^(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?$`)
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
	unknownField = regexp.MustCompile(`^field (.+) not found in type .+$`)
	wrongType    = regexp.MustCompile("^cannot unmarshal !!\\w+(?: `(.*)`)? into (\\S+)$")
	listType     = regexp.MustCompile(`^errtext\.[a-z]\w*$`) // of a condition, each of which has its own
)

// values describes, for each Go type that the decoder names, what a person has to write.
var values = map[string]text.Message{
	"string":   text.Messagef("one text"),
	"bool":     text.Messagef("true or false"),
	"int":      text.Messagef("a whole number"),
	"float64":  text.Messagef("a number, such as 2 or 0.2 (a fifth, 20 %%)"),
	"[]string": text.Messagef("a list in brackets, such as [PORTAL CLOSED, PORTAL FECHADO]"),
}

// placed returns the line that the decoder names, and the problem there.
func placed(problem string) (line int, rest string) {
	at := yamlLine.FindStringSubmatch(problem)
	line, _ = strconv.Atoi(at[1])
	return line, strings.TrimPrefix(problem, at[0])
}

// refused notes a fault that the decoder has found.
func (f *form) refused(problem string) {
	line, problem := placed(problem)
	what := text.Messagef("%s", problem)
	if found := unknownField.FindStringSubmatch(problem); found != nil {
		what = text.Messagef("there is no field %s here", text.Shorten(found[1], 60))
		if near := text.Nearest(found[1], fields); near != "" && near != found[1] {
			what = text.Messagef("%s: did you mean %s?", what, near)
		}
	} else if found := wrongType.FindStringSubmatch(problem); found != nil {
		wanted, known := values[listType.ReplaceAllString(found[2], "[]string")]
		if !known {
			wanted = text.Messagef(
				"fields with values, each after its name, or a list of such with a - before each")
		}
		what = text.Messagef("%s must be %s", cmp.Or(found[1], "the value"), wanted)
	}
	f.add(line, what)
}

// fields are the names of all fields of the files.
var fields = fieldsOf(fieldsOf(nil, reflect.TypeFor[document]()), reflect.TypeFor[caseFile]())

// fieldsOf adds the names of a type's fields, and of their fields.
func fieldsOf(names []string, t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return names
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name != "" && name != "-" && !slices.Contains(names, name) {
			names = fieldsOf(append(names, name), field.Type)
		}
	}
	return names
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
