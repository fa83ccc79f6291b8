// Command schema writes the JSON Schema of a policies file, by which editors complete and check it. The
// worker does not use it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/retry/policy"
)

func main() {
	text, err := generate()
	if err == nil {
		err = os.WriteFile("policies.schema.json", text, 0o644) //nolint:gosec // it is read by everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// generate returns the schema of the Go types that a file is read into.
func generate() ([]byte, error) {
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[policy.Duration](): {
			Type:    "string",
			Pattern: `^([0-9.]+(ms|s|m|h))+$|^P[0-9.WDTHMS]+$`,
		},
		reflect.TypeFor[[]string](): {
			Type:  "array",
			Items: &jsonschema.Schema{Types: []string{"string", "number"}},
		},
	}
	// A condition holds another one as its unless, which holds none.
	var fields []reflect.StructField
	for field := range reflect.TypeFor[errtext.Condition]().Fields() {
		if field.Name != "Unless" {
			fields = append(fields, field)
		}
	}
	unless, err := jsonschema.ForType(reflect.StructOf(fields), &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	types[reflect.TypeFor[errtext.Condition]()] = &jsonschema.Schema{
		Type:       "object",
		Properties: unless.Properties,
	}
	entry, err := jsonschema.For[policy.Entry](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	for _, rules := range []string{"rules", "inDoubt"} {
		entry.Properties[rules].Items.Properties["unless"] = unless.CloneSchemas()
	}
	complete(entry)
	return json.MarshalIndent(&jsonschema.Schema{
		Schema:               "https://json-schema.org/draft/2020-12/schema",
		ID:                   "https://hospital.example/analyze-retry/policies.schema.json",
		Title:                "Retry policies",
		Description:          "Policies beside the built-in ones. docs/policies.md explains each field.",
		Type:                 "object",
		Required:             []string{"policies"},
		AdditionalProperties: entry.AdditionalProperties,
		Properties:           map[string]*jsonschema.Schema{"policies": {Type: "array", Items: entry}},
	}, "", "  ")
}

// complete adds to an object what its Go type does not say.
func complete(object *jsonschema.Schema) {
	object.Required = slices.DeleteFunc(object.Required, func(name string) bool {
		return slices.Contains(optional, name)
	})
	for name, property := range object.Properties {
		property.Enum = append(property.Enum, words[name]...)
		if name == "team" {
			property.Pattern = retry.TeamForm.String()
		}
		for _, inner := range []*jsonschema.Schema{property, property.Items} {
			if inner != nil && inner.Properties != nil {
				complete(inner)
			}
		}
	}
}

// optional are fields that need not be stated although JSON always has them.
var optional = []string{"jitter", "maxRetries", "jobOverrides"}

// words are the values of fields that have a few.
var words = map[string][]any{
	"precision":    {"minute", "second", "millisecond"},
	"ids":          {"claim", "any"},
	"unknown":      {"UNKNOWN", "TRANSIENT", "PERMANENT"},
	"onEmptyError": {"reject", "unknown"},
	"class":        {"TRANSIENT", "PERMANENT"},
	"in":           {errtext.InAnswer},
}
