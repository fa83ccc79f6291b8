package feel

import (
	"os"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func TestFacts(t *testing.T) {
	text, err := os.ReadFile("testdata/variables.json")
	check.Must(t, err)
	variables := FromJSON(text).(map[string]any)
	facts, err := os.ReadFile("testdata/facts.tsv")
	check.Must(t, err)
	for line := range strings.Lines(string(facts)) {
		expression, want, isFact := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isFact {
			continue // a heading, or a blank line
		}
		e, err := Parse(expression)
		if why, refused := strings.CutPrefix(want, "refused: "); refused {
			check.Fails(t, err, why)
			continue
		}
		check.Must(t, err)
		got := e.Eval(now, func(name string) (any, bool) {
			v, ok := variables[name]
			return v, ok
		})
		check.Same(t, want, string(ToJSON(got)), "%s", expression)
	}
}

// Whatever a model says, it is refused or has a value.
func FuzzParse(f *testing.F) {
	facts, err := os.ReadFile("testdata/facts.tsv")
	check.Must(f, err)
	for line := range strings.Lines(string(facts)) {
		expression, _, _ := strings.Cut(line, "\t")
		f.Add(expression)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if e, err := Parse(text); err == nil {
			ToJSON(e.Eval(now, func(name string) (any, bool) { return name, name != "x" }))
		}
	})
}
