package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestSchemaFileIsGenerated(t *testing.T) {
	want, err := generate()
	check.Must(t, err)
	got, err := os.ReadFile("../policies.schema.json")
	check.Must(t, err)
	check.Same(t, string(want), string(got), "policies.schema.json; if a field changed, run make generate")
}

func TestSchemaAcceptsBuiltInPoliciesAndRefusesUnknownFields(t *testing.T) {
	text, err := generate()
	check.Must(t, err)
	var s jsonschema.Schema
	check.Must(t, json.Unmarshal(text, &s))
	schema, err := s.Resolve(nil)
	check.Must(t, err)
	files, err := filepath.Glob("../builtin/*.yaml")
	check.Must(t, err)
	valid := 0
	for _, file := range append(files, "../testdata/broken/unknown_fields.yaml") {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		var value any
		check.Must(t, yaml.Unmarshal(text, &value))
		if err := schema.Validate(value); err == nil {
			valid++
		} else if filepath.Dir(file) == "../builtin" {
			t.Errorf("%s: %v", file, err)
		}
	}
	check.Same(t, len(files), valid, "files that are valid")
}
