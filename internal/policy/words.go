package policy

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/spelling"
)

// forms says what a text must be that a definition of the schema bounds by a pattern.
var forms = map[string]string{
	"duration": "a duration such as 500ms, 90s, 5m or 24h, or PT5M",
	"name":     "a name of lower-case letters, digits and - that begins with a letter, at most 63 characters",
	"ruleID":   "an id of letters, digits and . _ : / - that begins with a letter or a digit, at most 100 characters",
	"line":     "one line of text, at most 300 characters",
}

// problem says in plain words what the schema does not allow.
func (v *violation) problem(root *yaml.Node) string {
	node, _ := follow(root, v.path)
	subject := v.subject()
	must := func(want string) string {
		return subject + " is " + described(node) + ", but must be " + want + v.hint(node, want)
	}
	switch k := v.kind.(type) {
	case *kind.Type:
		if form, known := forms[v.def]; known {
			return must(form)
		}
		return must(typeName(k.Want))
	case *kind.Pattern:
		if form, known := forms[v.def]; known {
			return must(form)
		}
		return subject + " is an empty text"
	case *kind.Enum:
		return must(anyOf(k.Want))
	case *kind.Minimum:
		return must("at least " + number(k.Want))
	case *kind.Maximum:
		return must("at most " + number(k.Want))
	case *kind.MinLength:
		return subject + " is an empty text"
	case *kind.MinItems:
		return subject + " is an empty list"
	case *kind.UniqueItems:
		return fmt.Sprintf("%s has the same text twice: items %d and %d", subject, k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.Not:
		return subject + " is " + described(node) + ", which the worker itself uses: take another one"
	case *kind.FalseSchema:
		return "a share belongs to mode proportional only"
	case *kind.AnyOf:
		return "contains, code and pattern are missing: one of them is needed"
	case *kind.Required:
		return v.missing(k.Missing)
	case *kind.AdditionalProperties:
		return v.unknown()
	default:
		return fmt.Sprintf("%s is not allowed here (%s)", subject, strings.Join(k.KeywordPath(), "/"))
	}
}

// subject is the setting as a person would name it: base, jitter share, item 2 of code.
func (v *violation) subject() string {
	var fields []string
	subject := "the file"
	for _, step := range v.path {
		i, err := strconv.Atoi(step)
		if err != nil {
			fields = append(fields, step)
			subject = strings.Join(fields, " ")
			continue
		}
		subject = fmt.Sprintf("item %d of %s", i+1, subject)
		fields = nil // what comes below an item is told by itself: the fault names policy and rule
	}
	return subject
}

// missing words fields that are not there.
func (v *violation) missing(names []string) string {
	what := join(names, "and") + " "
	if len(names) == 1 {
		what += "is missing"
	} else {
		what += "are missing"
	}
	switch {
	case slices.Contains(v.path, "jitter"):
		return "jitter: " + what
	case len(v.path) == 2 && !slices.Contains(names, "name"):
		return what + ": a policy states base, max and maxRetries, or extends another one"
	default:
		return what
	}
}

// unknown words a field that nobody knows: the last step of the path.
func (v *violation) unknown() string {
	name := v.path[len(v.path)-1]
	if name == "<<" {
		return "merge keys (<<) are not read: use extends"
	}
	if similar := spelling.Nearest(name, v.fields); similar != "" {
		return fmt.Sprintf("there is no field %q: did you mean %s?", short(name), similar)
	}
	return fmt.Sprintf("there is no field %q, but there are %s", short(name), join(v.fields, "and"))
}

// hint helps with the mistakes that are made most.
func (v *violation) hint(node *yaml.Node, want string) string {
	switch {
	case len(v.path) == 0:
		return ""
	case v.path[len(v.path)-1] == "share":
		return ", not percent: 20 % is 0.2"
	case node.Kind == yaml.ScalarNode && v.path[len(v.path)-1] == "jitter" && !isNull(node):
		return fmt.Sprintf(": {mode: %s}", short(node.Value))
	case node.Kind == yaml.ScalarNode && want == "a text" && !isNull(node):
		return fmt.Sprintf(": put it in quotes, %q", short(node.Value))
	case node.Kind == yaml.ScalarNode && want == "a list" && !isNull(node):
		return fmt.Sprintf(": [%s]", short(node.Value))
	case want == "true or false" && slices.Contains([]string{"yes", "on", "y"}, strings.ToLower(node.Value)):
		return ": true"
	default:
		return ""
	}
}

// described is a value as it is told in a fault.
func described(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping of fields"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(node):
		return "empty"
	}
	switch node.ShortTag() {
	case "!!int", "!!float":
		return "the number " + short(node.Value)
	case "!!bool":
		return node.Value + " (yes or no)"
	default:
		return strconv.Quote(short(node.Value))
	}
}

// short keeps a long value from filling the screen.
func short(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return value
}

func typeName(want []string) string {
	names := map[string]string{
		"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
		"array": "a list", "object": "a mapping of fields",
	}
	return names[want[0]]
}

func anyOf(values []any) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
	}
	return join(words, "or")
}

// join makes "a, b or c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

func number(r *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(3), "0"), ".")
}
