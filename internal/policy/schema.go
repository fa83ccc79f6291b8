package policy

import (
	"bytes"
	_ "embed" // the schema
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is the JSON Schema (draft 2020-12) of a policies file. Editors complete and check by it, and so does the worker:
// what a file may hold is written down once.
//
//go:embed policies.schema.json
var Schema []byte

// schema is Schema ready for use, and as plain values.
var schema = sync.OnceValues(func() (*jsonschema.Schema, map[string]any) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		panic(fmt.Sprintf("policies.schema.json: %v", err))
	}
	const name = "policies.schema.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		panic(err)
	}
	return compiler.MustCompile(name), document.(map[string]any)
})

// violation is one place of a file that the schema does not allow.
type violation struct {
	path []string
	kind jsonschema.ErrorKind
	// def is the name of the definition in the schema that is broken, such as "duration"; empty for none.
	def string
	// fields are the fields that the object may have.
	fields []string
}

// violations holds a file's plain values against the schema.
func violations(value any) (found []violation) {
	compiled, document := schema()
	var broken *jsonschema.ValidationError
	if !errors.As(compiled.Validate(value), &broken) {
		return nil
	}
	var collect func(*jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		if len(e.Causes) > 0 && !oneOfSeveral(e.ErrorKind) {
			for _, cause := range e.Causes {
				collect(cause)
			}
			return
		}
		v := violation{e.InstanceLocation, e.ErrorKind, definition(e.SchemaURL), fields(document, e.SchemaURL)}
		unknown, ok := e.ErrorKind.(*kind.AdditionalProperties)
		if !ok {
			found = append(found, v)
			return
		}
		for _, name := range unknown.Properties { // each has its own line
			v.path = below(e.InstanceLocation, name)
			found = append(found, v)
		}
	}
	collect(broken)
	return found
}

// definition is the name behind #/$defs/ in a schema's address.
func definition(url string) string {
	_, name, _ := strings.Cut(url, "#/$defs/")
	if strings.Contains(name, "/") {
		return ""
	}
	return name
}

// fields are the names that the schema at the address knows.
func fields(document map[string]any, url string) []string {
	_, pointer, _ := strings.Cut(url, "#")
	at := document
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if next, ok := at[step].(map[string]any); ok {
			at = next
		}
	}
	properties, _ := at["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// oneOfSeveral reports whether a violation says that none of several ways was taken. Its causes are why each one was not,
// which helps nobody.
func oneOfSeveral(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.AnyOf, *kind.Not:
		return true
	default:
		return false
	}
}
