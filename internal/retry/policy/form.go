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
func (f *form) add(line int, subject, what string) {
	f.faults = append(f.faults, text.Finding{
		Severity: text.Error, Check: "refused", File: f.file, Line: line, Subject: subject, What: what,
	})
}

// err returns the faults in the order of the lines, each once; nil for none.
func (f *form) err() error {
	if f.faults == nil {
		return nil
	}
	slices.SortStableFunc(f.faults, func(a, b text.Finding) int {
		return cmp.Or(a.Line-b.Line, strings.Compare(a.What, b.What))
	})
	return slices.Compact(f.faults)
}

// decode reads YAML into a value and notes the faults of its form. It returns the items of its only field, a
// list.
func (f *form) decode(content []byte, into any, field string) []yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if all, read := errors.AsType[*yaml.TypeError](err); read {
		for _, problem := range all.Errors {
			f.refused("", problem)
		}
	} else if err != nil && !errors.Is(err, io.EOF) {
		f.refused("is not YAML: ", err.Error())
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		f.add(second.Line, "", "a second YAML document begins here (---), but only one is read")
	}
	var lists map[string][]yaml.Node
	_ = yaml.Unmarshal(content, &lists) // the decoder has said what is wrong
	for i := range lists[field] {
		f.overlooked(&lists[field][i])
	}
	if len(lists[field]) == 0 && f.faults == nil {
		f.add(0, "", "the file holds no "+field+": it begins with "+field+": and a list of them")
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
			f.add(n.Line, "", "a value is missing here: state one, or leave the field out")
		case !mapping: // an item of a list is a text
		case (tag == "!!int" || tag == "!!float") && !plainNumber.MatchString(n.Value):
			f.add(n.Line, "", quoted(n.Value)+
				" must be a number of 0 or more in plain decimal digits, or quoted if it is a text")
		case tag == "!!float" && slices.Contains(counts, node.Content[i-1].Value):
			f.add(n.Line, "", quoted(n.Value)+" must be a whole number")
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
var values = map[string]string{
	"string":   "one text",
	"bool":     "true or false",
	"int":      "a whole number",
	"float64":  "a number, such as 2 or 0.2 (a fifth, 20 %)",
	"[]string": "a list in brackets, such as [PORTAL CLOSED, PORTAL FECHADO]",
}

// refused notes a fault that the decoder has found.
func (f *form) refused(prefix, problem string) {
	at := yamlLine.FindStringSubmatch(problem)
	line, _ := strconv.Atoi(at[1])
	problem = strings.TrimPrefix(problem, at[0])
	if found := unknownField.FindStringSubmatch(problem); found != nil {
		problem = "there is no field " + text.Shorten(found[1], 60) + " here"
		if near := text.Nearest(found[1], fields); near != "" && near != found[1] {
			problem += ": did you mean " + near + "?"
		}
	} else if found := wrongType.FindStringSubmatch(problem); found != nil {
		wanted := values[listType.ReplaceAllString(found[2], "[]string")]
		problem = cmp.Or(found[1], "the value") + " must be " + cmp.Or(wanted,
			"fields with values, each after its name, or a list of such with a - before each")
	}
	f.add(line, "", prefix+problem)
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
func meant(name string, known []string) string {
	if similar := text.Nearest(name, known); similar != "" {
		return "did you mean " + similar + "?"
	}
	return "known are " + strings.Join(known, ", ")
}

// quoted quotes a value. A long one is cut, so that it does not fill the screen.
func quoted(value string) string { return strconv.Quote(text.Shorten(value, 60)) }
