package bpmn_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/input"
)

var update = flag.Bool("update", false, "rewrite the element templates")

// templatesFolder is where Camunda Modeler looks for templates of the diagrams next to it and below it.
const templatesFolder = ".camunda/element-templates"

// templateVersion is the version of all templates. Raise it with every change of a template that was released: Camunda
// Modeler offers an update of the element only then.
const templateVersion = 1

// elementTemplate is an element template for Camunda 8, by the schema that it names.
type elementTemplate struct {
	Schema           string            `json:"$schema"`
	Name             string            `json:"name"`
	ID               string            `json:"id"`
	Version          int               `json:"version"`
	Description      string            `json:"description"`
	DocumentationRef string            `json:"documentationRef"`
	Keywords         []string          `json:"keywords"`
	Category         map[string]string `json:"category"`
	Engines          map[string]string `json:"engines"`
	Icon             map[string]string `json:"icon,omitempty"`
	AppliesTo        []string          `json:"appliesTo"`
	ElementType      map[string]string `json:"elementType,omitempty"`
	EntriesVisible   bool              `json:"entriesVisible,omitempty"`
	Groups           []group           `json:"groups,omitempty"`
	Properties       []property        `json:"properties"`
}

type group struct {
	ID            string `json:"id"`
	Label         string `json:"label"`
	Tooltip       string `json:"tooltip,omitempty"`
	OpenByDefault bool   `json:"openByDefault"`
}

type property struct {
	ID          string            `json:"id,omitempty"`
	Label       string            `json:"label,omitempty"`
	Description string            `json:"description,omitempty"`
	Placeholder string            `json:"placeholder,omitempty"`
	Group       string            `json:"group,omitempty"`
	Type        string            `json:"type"`
	Value       any               `json:"value,omitempty"` // a text, or true
	Feel        string            `json:"feel,omitempty"`
	Optional    bool              `json:"optional,omitempty"`
	Choices     []choice          `json:"choices,omitempty"`
	Binding     map[string]string `json:"binding"`
	Constraints *constraints      `json:"constraints,omitempty"`
	Condition   *condition        `json:"condition,omitempty"`
}

type choice struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type constraints struct {
	NotEmpty bool     `json:"notEmpty"`
	Pattern  *pattern `json:"pattern,omitempty"`
}

type pattern struct {
	Value   string `json:"value"`
	Message string `json:"message"`
}

// condition holds where the property has one of the values.
type condition struct {
	Property string   `json:"property"`
	OneOf    []string `json:"oneOf"`
	Type     string   `json:"type"`
}

// templates returns the contents of every template by the name of its file.
func templates(t *testing.T) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for _, l := range []lang.Language{lang.English, lang.Portuguese} {
		for name, made := range (words{l}).all() {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			check.Must(t, e.Encode(made))
			contents[name+"."+string(l)+".json"] = b.String()
		}
	}
	return contents
}

func TestElementTemplatesAreUpToDate(t *testing.T) {
	want, got := templates(t), map[string]string{}
	present, err := filepath.Glob(templatesFolder + "/*")
	check.Must(t, err)
	if *update {
		for _, path := range present {
			check.Must(t, os.Remove(path))
		}
		check.Must(t, os.MkdirAll(templatesFolder, 0o750))
		for name, content := range want {
			check.Must(t, os.WriteFile(filepath.Join(templatesFolder, name), []byte(content), 0o600))
		}
		return
	}
	for _, path := range present {
		content, err := os.ReadFile(path)
		check.Must(t, err)
		got[filepath.Base(path)] = string(content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the element templates are stale (-want +got); run go test ./bpmn -update:\n%.4000s", diff)
	}
}

// A link, so that there is no copy. Git for Windows may check it out as a text; the examples then have no templates.
func TestExamplesHaveTheElementTemplates(t *testing.T) {
	target, err := os.Readlink("../examples/.camunda")
	if err != nil || target != "../bpmn/.camunda" {
		t.Errorf("examples/.camunda leads to %q (%v), want ../bpmn/.camunda", target, err)
	}
}

func TestElementTemplatesNameEveryPolicy(t *testing.T) {
	check.Same(t, policy.BuiltIns().Names(), slices.Sorted(maps.Keys(policies)), "policies with Portuguese words")
}

func TestElementTemplatesNameEveryOutcome(t *testing.T) {
	for _, l := range []lang.Language{lang.English, lang.Portuguese} {
		for _, outcome := range input.Outcomes() {
			if (words{l}).outcome(outcome) == outcome {
				t.Errorf("%s: no words for the outcome %s", l, outcome)
			}
		}
	}
}

// A value that a template refuses could not be entered; one that it takes wrongly would be an incident at run time.
func TestElementTemplatesTakeTheHeadersThatTheWorkerTakes(t *testing.T) {
	durations := regexp.MustCompile(durationPattern)
	for _, text := range []string{"500ms", "90s", "1.5h", "1h30m", "PT5M", "PT1H30M", "PT0.5S", "P1D", "P1DT12H", "P2W"} {
		if _, err := retry.ParseDuration(text); err != nil || !durations.MatchString(text) {
			t.Errorf("duration %q: worker %v, template %v, want both to take it", text, err, durations.MatchString(text))
		}
	}
	for _, text := range []string{"5", "5 min", "5M", "P1Y", "P1M", "pt5m", "1d", "=x", "PT5"} {
		if _, err := retry.ParseDuration(text); err == nil || durations.MatchString(text) {
			t.Errorf("duration %q: worker %v, template %v, want both to refuse it", text, err, durations.MatchString(text))
		}
	}
	retries := regexp.MustCompile(maxRetriesPattern)
	for text, want := range map[string]bool{"": true, "0": true, "5": true, "1000": true, "1001": false, "-1": false, "2.5": false, "many": false} {
		if got := retries.MatchString(text); got != want {
			t.Errorf("maxRetries %q: %v, want %v", text, got, want)
		}
	}
	if retry.RetriesCeiling != 1000 {
		t.Errorf("the template takes 1000 retries, the worker %d", retry.RetriesCeiling)
	}
}

func TestElementTemplatesHaveDistinctIDs(t *testing.T) {
	var ids []string
	for name, content := range templates(t) {
		var made elementTemplate
		check.Must(t, json.Unmarshal([]byte(content), &made))
		if slices.Contains(ids, made.ID) || made.ID == "" {
			t.Errorf("%s: the id %q is empty or another's", name, made.ID)
		}
		ids = append(ids, made.ID)
	}
}
