package policy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// object is what these tests read of an object in the schema.
type object struct {
	Properties map[string]struct {
		Description string
		Enum        []any
		Default     any
		Properties  map[string]struct {
			Description string
			Enum        []any
		}
	}
}

func schema(t *testing.T) (definitions map[string]object) {
	t.Helper()
	var s struct {
		Defs map[string]object `json:"$defs"`
	}
	check.Must(t, json.Unmarshal(policy.Schema, &s))
	return s.Defs
}

// fields are the names of a struct's exported fields in a policies file, with those of embedded ones.
func fields(t *testing.T, of any) (names []string) {
	t.Helper()
	for field := range reflect.TypeOf(of).Fields() {
		if field.Anonymous {
			names = append(names, fields(t, reflect.New(field.Type).Elem().Interface())...)
			continue
		}
		if !field.IsExported() {
			continue
		}
		asJSON, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		check.Same(t, field.Tag.Get("yaml"), asJSON, "name of %s", field.Name)
		names = append(names, asJSON)
	}
	slices.Sort(names)
	return names
}

func TestSchemaAndPolicyHaveTheSameFields(t *testing.T) {
	defs := schema(t)
	withoutClass := slices.DeleteFunc(fields(t, policy.Rule{}), func(name string) bool { return name == "class" })
	for _, tt := range []struct {
		name      string
		want, got []string
	}{
		{"policy", fields(t, policy.Entry{}), slices.Sorted(maps.Keys(defs["policy"].Properties))},
		{"jitter", fields(t, policy.Jitter{}), slices.Sorted(maps.Keys(defs["policy"].Properties["jitter"].Properties))},
		{"target", fields(t, policy.Target{}), slices.Sorted(maps.Keys(defs["target"].Properties))},
		{"rule", fields(t, policy.Rule{}), slices.Sorted(maps.Keys(defs["rule"].Properties))},
		{"inDoubtRule", withoutClass, slices.Sorted(maps.Keys(defs["inDoubtRule"].Properties))},
		{"unless", fields(t, policy.Condition{}), slices.Sorted(maps.Keys(defs["unless"].Properties))},
		{"glosa", fields(t, policy.Glosa{}), slices.Sorted(maps.Keys(defs["glosa"].Properties))},
		{"terms", fields(t, policy.Terms{}), slices.Sorted(maps.Keys(defs["terms"].Properties))},
	} {
		check.Same(t, tt.want, tt.got, "%s in the schema", tt.name)
	}
}

func TestEveryFieldOfSchemaIsDescribed(t *testing.T) {
	for name, def := range schema(t) {
		for property, p := range def.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, property)
			}
			for inner, q := range p.Properties {
				if q.Description == "" {
					t.Errorf("%s.%s.%s has no description", name, property, inner)
				}
			}
		}
	}
}

func TestEditorsFindSchemaOfBuiltInPolicies(t *testing.T) {
	for _, file := range glob(t, "builtin/*.yaml") {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		named, found := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		if !found {
			t.Errorf("%s does not begin with the line that names the schema", file)
			continue
		}
		if schema, err := os.ReadFile(filepath.Join("builtin", named)); err != nil || string(schema) != string(policy.Schema) {
			t.Errorf("%s names %s: %v", file, named, err)
		}
	}
}

// The smallest policy that can be written.
const smallest = "policies:\n  - {name: mine, base: 5m, max: 1h, maxRetries: 3"

func TestDefaultsOfSchemaAreThoseOfPolicy(t *testing.T) {
	set, err := policy.Parse("smallest.yaml", []byte(smallest+"}\n"))
	check.Must(t, err)
	entry, _ := set.Entry("mine")
	text, err := json.Marshal(entry)
	check.Must(t, err)
	var got map[string]any
	check.Must(t, json.Unmarshal(text, &got))
	for name, p := range schema(t)["policy"].Properties {
		if p.Default != nil && p.Default != got[name] {
			t.Errorf("%s: the schema says %v, the policy has %v", name, p.Default, got[name])
		}
	}
}

func TestEveryEnumValueIsAccepted(t *testing.T) {
	defs := schema(t)
	try := func(setting string) {
		if _, err := policy.Parse("words.yaml", []byte(smallest+", "+setting+"}\n")); err != nil {
			t.Error(err)
		}
	}
	for name, p := range defs["policy"].Properties {
		for _, word := range p.Enum {
			try(name + ": " + word.(string))
		}
	}
	for _, mode := range defs["policy"].Properties["jitter"].Properties["mode"].Enum {
		share := ""
		if retry.JitterMode(mode.(string)) == retry.JitterProportional {
			share = ", share: 0.5"
		}
		try("jitter: {mode: " + mode.(string) + share + "}")
	}
	for _, class := range defs["rule"].Properties["class"].Enum {
		try("rules: [{id: a, contains: [A], class: " + class.(string) + "}]")
	}
	for _, class := range defs["glosa"].Properties["class"].Enum {
		try("inDoubt: [{id: a, glosa: {table: tabela-38, in: answer, class: " + class.(string) + "}}]")
	}
}

// Every table that a condition may name, with every sign of it, is one that texts are read with.
func TestSchemaNamesTheTablesOfConditions(t *testing.T) {
	defs := schema(t)
	for def, tables := range map[string][]any{"glosa": defs["glosa"].Properties["table"].Enum, "terms": defs["terms"].Properties["table"].Enum} {
		for _, name := range tables {
			table := evidence.TableOf(name.(string))
			if table == nil || (def == "terms") != (len(table.Signs()) > 0) {
				t.Errorf("%s: the table %s is %+v", def, name, table)
				continue
			}
			for _, sign := range table.Signs() {
				if _, err := policy.Parse("signs.yaml", []byte(smallest+", inDoubt: [{id: a, terms: {table: "+table.Name+", sign: ["+sign+"]}}]}\n")); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
