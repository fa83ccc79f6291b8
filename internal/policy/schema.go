package policy

import (
	"bytes"
	_ "embed" // the schema
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"hospital.example/analyze-retry/internal/spelling"
)

// Schema is the JSON Schema (draft 2020-12) of a policies file. Editors complete and check by it, and so does the worker.
// Its errorMessage is what both say where the schema's own words would not help.
//
//go:embed policies.schema.json
var Schema []byte

// schema returns Schema compiled, and as plain values.
var schema = sync.OnceValues(func() (*jsonschema.Schema, any) {
	const name = "policies.schema.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		panic(err)
	}
	return compiler.MustCompile(name), document
})

// violation is one place of a file that the schema does not allow.
type violation struct {
	path    []string
	problem string
}

// violations checks the values of a file against the schema.
func violations(value any) (found []violation) {
	compiled, document := schema()
	var invalid *jsonschema.ValidationError
	if !errors.As(compiled.Validate(value), &invalid) {
		return nil
	}
	english := message.NewPrinter(language.English)
	var collect func(*jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		rules := subschema(document, e.SchemaURL)
		switch k := e.ErrorKind.(type) {
		case *kind.AdditionalProperties:
			properties, _ := rules["properties"].(map[string]any)
			for _, name := range k.Properties { // each has its own line
				found = append(found, violation{below(e.InstanceLocation, name), unknownField(name, slices.Sorted(maps.Keys(properties)))})
			}
			return
		case *kind.AnyOf: // its causes say why each of the ways was not taken
		default:
			for _, cause := range e.Causes {
				collect(cause)
			}
			if len(e.Causes) > 0 {
				return
			}
		}
		problem, worded := rules["errorMessage"].(string)
		if !worded {
			problem = e.ErrorKind.LocalizedString(english)
		}
		found = append(found, violation{e.InstanceLocation, problem})
	}
	collect(invalid)
	return found
}

// subschema returns the part of the schema at an address such as policies.schema.json#/$defs/policy.
func subschema(document any, url string) map[string]any {
	_, pointer, _ := strings.Cut(url, "#")
	for step := range strings.FieldsFuncSeq(pointer, func(c rune) bool { return c == '/' }) {
		switch parent := document.(type) {
		case map[string]any:
			document = parent[step]
		case []any:
			i, _ := strconv.Atoi(step)
			document = parent[i]
		}
	}
	part, _ := document.(map[string]any)
	return part
}

func unknownField(name string, known []string) string {
	if similar := spelling.Nearest(name, known); similar != "" {
		return "there is no such field: did you mean " + similar + "?"
	}
	return "there is no such field: known are " + strings.Join(known, ", ")
}
