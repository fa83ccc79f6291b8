package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/testing/check"
)

// policies.schema.json is the JSON Schema of a policies file, by which editors complete and check it. It is made
// of the Go types that a file is read into; the worker does not use it.
func TestTheSchemaIsOfTheTypesThatAFileIsReadInto(t *testing.T) {
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[retry.Duration](): {
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
	check.Must(t, err)
	types[reflect.TypeFor[errtext.Condition]()] = &jsonschema.Schema{Type: "object", Properties: unless.Properties}
	entry, err := jsonschema.For[retry.Settings](&jsonschema.ForOptions{TypeSchemas: types})
	check.Must(t, err)
	for _, rules := range []string{"rules", "inDoubt"} {
		entry.Properties[rules].Items.Properties["unless"] = unless.CloneSchemas()
	}
	complete(entry)
	text, err := json.MarshalIndent(&jsonschema.Schema{
		Schema:               "https://json-schema.org/draft/2020-12/schema",
		ID:                   "https://hospital.example/analyze-retry/policies.schema.json",
		Title:                "Retry policies",
		Description:          "Policies beside the built-in ones. docs/policies.md explains each field.",
		Type:                 "object",
		Required:             []string{"policies"},
		AdditionalProperties: entry.AdditionalProperties,
		Properties:           map[string]*jsonschema.Schema{"policies": {Type: "array", Items: entry}},
	}, "", "  ")
	check.Must(t, err)
	checkGolden(t, "policies.schema.json", string(text))
}

// complete adds to an object what its Go type does not say.
func complete(object *jsonschema.Schema) {
	optional := []string{"jitter", "maxRetries", "jobOverrides"} // although JSON always has them
	words := map[string][]any{
		"precision":    {"minute", "second", "millisecond"},
		"ids":          {"claim", "any"},
		"unknown":      {"UNKNOWN", "TRANSIENT", "PERMANENT"},
		"onEmptyError": {"reject", "unknown"},
		"class":        {"TRANSIENT", "PERMANENT"},
		"in":           {errtext.InAnswer},
	}
	object.Required = slices.DeleteFunc(object.Required, func(name string) bool { return slices.Contains(optional, name) })
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

func TestSchemaAcceptsBuiltInPoliciesAndRefusesUnknownFields(t *testing.T) {
	content, err := os.ReadFile("policies.schema.json")
	check.Must(t, err)
	var s jsonschema.Schema
	check.Must(t, json.Unmarshal(content, &s))
	schema, err := s.Resolve(nil)
	check.Must(t, err)
	for _, file := range append(glob(t, "builtin/*.yaml"), "testdata/broken/unknown_fields.yaml") {
		content, err := os.ReadFile(file)
		check.Must(t, err)
		var value any
		check.Must(t, yaml.Unmarshal(content, &value))
		valid := schema.Validate(value) == nil
		check.Same(t, filepath.Dir(file) == "builtin", valid, "%s is valid", file)
	}
}
