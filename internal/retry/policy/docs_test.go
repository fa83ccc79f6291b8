package policy_test

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestExampleInDocsHasNoFinding(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policies.md")
	check.Must(t, err)
	_, example, begins := strings.Cut(string(page), "```yaml\n")
	example, _, ends := strings.Cut(example, "```\n")
	if !begins || !ends {
		t.Fatal("there is no example")
	}
	set := parse(t, example)
	check.Same(t, nil, set.Lint(0), "findings")
	dental, _ := set.Get("dental")
	for said, rule := range map[string]string{
		"No cover for this": "dental.no-cover", "coverage unknown, no cover": "unknown", "HTTP/1.1 502 gone": "http.gateway",
		"connection reset by peer": "dental.away", "codigoGlosa: 3112": "dental.glosa", "codigoGlosa: 1308": "tiss.answer-glosa",
	} {
		check.Same(t, rule, dental.Classify(said).ID, "rule of %q", said)
	}
}

func TestCasesInDocsHoldOfTheExample(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policies.md")
	check.Must(t, err)
	blocks := strings.Split(string(page), "```")
	block := func(begins string) string {
		i := slices.IndexFunc(blocks, func(b string) bool { return strings.HasPrefix(b, begins) })
		return strings.TrimPrefix(blocks[max(i, 0)], "yaml\n")
	}
	set := parse(t, block("yaml\n# yaml-language-server"))
	cases, err := policy.ParseCases("cases.yaml", []byte(block("yaml\ncases:")))
	check.Must(t, err)
	for _, c := range cases {
		p, _ := set.Get(cmp.Or(c.Policy, "tiss"))
		got := c.Of(p, time.Unix(0, 0))
		want := policy.Answer{Class: cmp.Or(c.Class, got.Class), Rule: cmp.Or(c.Rule, got.Rule), Wait: cmp.Or(c.Wait, got.Wait)}
		check.Same(t, want, got, "%s", c.Text)
	}
}

func TestExamplePoliciesByInsurerHaveNoFinding(t *testing.T) {
	page, err := os.ReadFile("../../../examples/policies-by-insurer.yaml")
	check.Must(t, err)
	check.Same(t, nil, parse(t, string(page)).Lint(0), "findings")
}

func TestDocsExplainEveryField(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policies.md")
	check.Must(t, err)
	for _, v := range []any{retry.Settings{}, retry.Target{}, retry.Rule{}, errtext.GlosaCondition{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" && name != "in" { // which is shown with its value
				check.Contains(t, string(page), "`"+name+"`")
			}
		}
	}
}

func TestDocsExplainEveryCheck(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policies.md")
	check.Must(t, err)
	for _, file := range glob(t, "testdata/lint/*.yaml") {
		if name, _, _ := strings.Cut(filepath.Base(file), "."); name != "good" {
			check.Contains(t, string(page), "`"+name+"`")
		}
	}
}
