package policy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestExampleInDocsHasNoWarning(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	check.Must(t, err)
	_, example, begins := strings.Cut(string(text), "```yaml\n")
	example, _, ends := strings.Cut(example, "```\n")
	if !begins || !ends {
		t.Fatal("there is no example")
	}
	set := parse(t, example)
	for _, name := range []string{"dental", "tiss"} {
		check.Same(t, "test.yaml", set.Origin(name), "origin of %s", name)
		for _, f := range set.Lint(name, 0) {
			if f.Severity != policy.SevereInformation {
				t.Errorf("%+v", f)
			}
		}
	}
	dental, _ := set.Get("dental")
	for text, rule := range map[string]string{
		"No cover for this": "dental.no-cover", "coverage unknown, no cover": "unknown", "HTTP/1.1 503 gone": "http.gateway", "claim 503 refused": "unknown",
		"socket timed out": "dental.away", "codigoGlosa: 1011": "dental.glosa", "codigoGlosa: 1308": "unknown",
	} {
		check.Same(t, rule, dental.Classify(text).RuleID, "rule of %q", text)
	}
}

func TestExamplePoliciesByInsurerHaveNoWarning(t *testing.T) {
	text, err := os.ReadFile("../../examples/policies-by-insurer.yaml")
	check.Must(t, err)
	set := parse(t, string(text))
	for _, name := range []string{"unimed", "amil"} {
		check.Same(t, "test.yaml", set.Origin(name), "origin of %s", name)
		for _, f := range set.Lint(name, 0) {
			if f.Severity != policy.SevereInformation {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestDocsExplainEveryField(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	check.Must(t, err)
	for _, def := range []string{"policy", "target", "rule", "glosa"} {
		for name := range schema(t)[def].Properties {
			if name != "in" { // which is shown with its value
				check.Contains(t, string(text), "`"+name+"`")
			}
		}
	}
}

// Each condition has an example in its row, and the rules of the examples are valid.
func TestDocsShowEveryConditionByAnExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	check.Must(t, err)
	for name := range schema(t)["unless"].Properties {
		_, row, found := strings.Cut(string(text), "\n| `"+name+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		_, example, shown := strings.Cut(row, "`"+name+": ")
		if !found || !shown {
			t.Errorf("%s has no example in %q", name, row)
			continue
		}
		parse(t, smallest+", inDoubt: [{id: a, "+name+": "+strings.TrimSuffix(example, "` |")+"}]}\n")
	}
}

// docs/tiss.md has the source of each rule: it names each one, or the beginning of several, and no other.
func TestDocsNameEveryRuleOfTiss(t *testing.T) {
	text, err := os.ReadFile("../../docs/tiss.md")
	check.Must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Precedence\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := regexp.MustCompile("`([a-z]+\\.[A-Za-z.*-]+)`").FindAllStringSubmatch(section, -1)
	used := map[string]bool{}
	for _, r := range policy.BuiltIn("tiss").Rules {
		found := false
		for _, n := range named {
			beginning, several := strings.CutSuffix(n[1], "*")
			if r.ID == n[1] || several && strings.HasPrefix(r.ID, beginning) {
				found, used[n[1]] = true, true
			}
		}
		if !found {
			t.Errorf("%s is not named", r.ID)
		}
	}
	for _, n := range named {
		if !used[n[1]] {
			t.Errorf("%s is no rule", n[1])
		}
	}
}

// docs/smtp.md has a row for each code, under the class that the policy gives it, and names each rule.
func TestDocsHaveEveryReplyCodeUnderItsClass(t *testing.T) {
	page, err := os.ReadFile("../../docs/smtp.md")
	check.Must(t, err)
	_, tables, _ := strings.Cut(string(page), "\n## Codes that are tried again\n")
	transient, permanent, found := strings.Cut(tables, "\n## Codes that are not tried again\n")
	if !found {
		t.Fatal("the page has no two tables")
	}
	smtp := policy.BuiltIn("smtp")
	for _, row := range evidence.TableOf(evidence.TableSMTP).Rows {
		listed := map[retry.Class]string{retry.Transient: transient, retry.Permanent: permanent}
		check.Contains(t, listed[smtp.Classify(row.Code+" no").Class], "\n| "+row.Code+" | "+row.Term+" | ")
	}
	for _, r := range smtp.Rules {
		check.Contains(t, string(page), "`"+r.ID+"`")
	}
}
