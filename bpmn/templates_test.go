package bpmn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// elementTemplate is what an element template for Camunda Modeler offers. Whether it is a valid one is for `make
// lint-models` to say.
type elementTemplate struct {
	ID         string
	Version    int
	Properties []property
}

type property struct {
	Binding     map[string]string
	Value       any // a text, or true
	Constraints struct{ Pattern struct{ Value string } }
}

// templates returns the element templates by their ids.
func templates(t *testing.T) map[string]elementTemplate {
	t.Helper()
	files, err := filepath.Glob(".camunda/element-templates/*.json")
	check.Must(t, err)
	found := map[string]elementTemplate{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		check.Must(t, err)
		var one elementTemplate
		check.Must(t, json.Unmarshal(content, &one))
		check.Same(t, "hospital.example.analyze-retry."+strings.TrimSuffix(filepath.Base(file), ".json"), one.ID, "the id in %s", file)
		found[one.ID] = one
	}
	if len(found) == 0 {
		t.Fatal("no element templates")
	}
	return found
}

// bound returns the properties of a template that this is bound to. There must be one.
func (e elementTemplate) bound(t *testing.T, kind, key, value string) (all []property) {
	t.Helper()
	for _, p := range e.Properties {
		if p.Binding["type"] == kind && p.Binding[key] == value {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%q has no property for %s %s", e.ID, kind, value)
	}
	return all
}

// each calls do with a template in both languages.
func each(t *testing.T, name string, do func(elementTemplate)) {
	t.Helper()
	all := templates(t)
	for _, language := range []string{"en", "pt-BR"} {
		do(all["hospital.example.analyze-retry."+name+"."+language])
	}
}

// A link, so that there is no copy. Git for Windows may check it out as a text; the examples then have no templates.
func TestExamplesHaveTheElementTemplates(t *testing.T) {
	target, err := os.Readlink("../examples/.camunda")
	if err != nil || target != "../bpmn/.camunda" {
		t.Errorf("examples/.camunda leads to %q (%v), want ../bpmn/.camunda", target, err)
	}
}

func TestElementTemplatesBindTheSameInBothLanguages(t *testing.T) {
	all := templates(t)
	for id, english := range all {
		name, is := strings.CutSuffix(id, ".en")
		if !is {
			continue
		}
		portuguese := all[name+".pt-BR"]
		bindings := func(e elementTemplate) (all []map[string]string) {
			for _, p := range e.Properties {
				all = append(all, p.Binding)
			}
			return all
		}
		if diff := cmp.Diff(bindings(english), bindings(portuguese)); diff != "" || english.Version != portuguese.Version {
			t.Errorf("%s: versions %d and %d, bindings (-en +pt-BR):\n%s", name, english.Version, portuguese.Version, diff)
		}
	}
}

func TestElementTemplatesOfferEveryPolicyAndOutcome(t *testing.T) {
	offers := func(e elementTemplate, kind, key, value, want string) {
		offered := func(p property) bool { return p.Value == want }
		if !slices.ContainsFunc(e.bound(t, kind, key, value), offered) {
			t.Errorf("%s does not offer %s", e.ID, want)
		}
	}
	each(t, "analyze-retry", func(e elementTemplate) {
		for _, name := range policy.BuiltIns().Names() {
			offers(e, "zeebe:taskHeader", "key", contract.HeaderPolicy, name)
		}
	})
	each(t, "record-outcome", func(e elementTemplate) {
		for _, outcome := range input.Outcomes() {
			offers(e, "zeebe:input", "name", contract.Outcome, `="`+outcome+`"`)
		}
	})
}

// What the worker sends with an error must be mapped, or the process does not get it.
func TestErrorTemplatesMapEveryVariableOfADecision(t *testing.T) {
	for _, name := range []string{"retries-exhausted", "permanent-error"} {
		each(t, name, func(e elementTemplate) {
			e.bound(t, "zeebe:output", "source", "="+contract.OriginalError)
			for field := range reflect.TypeFor[contract.Decision]().Fields() {
				variable, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				e.bound(t, "zeebe:output", "source", "="+variable)
			}
		})
	}
}

// A value that a template refuses could not be entered; one that it takes wrongly would be an incident at run time.
func TestElementTemplatesTakeTheHeadersThatTheWorkerTakes(t *testing.T) {
	each(t, "analyze-retry", func(e elementTemplate) {
		pattern := func(header string) *regexp.Regexp {
			return regexp.MustCompile(e.bound(t, "zeebe:taskHeader", "key", header)[0].Constraints.Pattern.Value)
		}
		durations := pattern("base")
		for text, want := range map[string]bool{
			"500ms": true, "1.5h": true, "1h30m": true, "PT1H30M": true, "PT0.5S": true, "P1DT12H": true, "P2W": true,
			"5": false, "5 min": false, "5M": false, "P1Y": false, "pt5m": false, "1d": false, "=x": false, "PT5": false,
		} {
			_, err := retry.ParseDuration(text)
			if got := durations.MatchString(text); got != want || (err == nil) != want {
				t.Errorf("duration %q: worker %v, template %v, want both %v", text, err, got, want)
			}
		}
		retries := pattern("maxRetries")
		for text, want := range map[string]bool{"": true, "0": true, "1000": true, "1001": false, "-1": false, "2.5": false} {
			if got := retries.MatchString(text); got != want {
				t.Errorf("maxRetries %q: %v, want %v", text, got, want)
			}
		}
	})
}
