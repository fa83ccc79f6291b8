package policy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, text string) *policy.Set {
	t.Helper()
	set, err := policy.Parse("test.yaml", []byte(text))
	check.Must(t, err)
	return set
}

const hourly = `
policies:
  - {name: hourly, base: 1h, max: 4h, maxRetries: 3, rules: [{id: own, class: PERMANENT, contains: [CLOSED]}]}
`

func TestPolicyOfFileReplacesAndExtendsBuiltIn(t *testing.T) {
	set := parse(t, "policies:\n  - {name: tiss, extends: tiss, maxRetries: 7}\n  - {name: more, extends: tiss}\n")
	tiss, _ := set.Get("tiss")
	more, _ := set.Get("more")
	builtIn := policy.BuiltIn("tiss")
	if tiss.MaxRetries != 7 || tiss.Base != builtIn.Base || len(tiss.Rules) != len(builtIn.Rules) {
		t.Errorf("tiss has %d retries, base %v and %d rules", tiss.MaxRetries, tiss.Base, len(tiss.Rules))
	}
	check.Same(t, len(policy.BuiltIns().Names())+1, len(set.Names()), "policies")
	check.Same(t, 7, more.MaxRetries, "maxRetries of a policy that extends the tiss of the file")
	if set.Origin("tiss") != "test.yaml" || tiss.Version() == builtIn.Version() || builtIn.MaxRetries != 5 {
		t.Error("the built-in policy is not told from the file's")
	}
}

func TestPolicyInheritsAndItsOwnRulesComeFirst(t *testing.T) {
	set := parse(t, `
policies:
  - name: parent
    base: 30s
    factor: 3
    max: 10m
    jitter: 0.5
    precision: second
    maxRetries: 9
    deadline: 0s
    timeZone: UTC
    ids: any
    unknown: PERMANENT
    onEmptyError: unknown
    jobOverrides: true
    rules: [{id: parents, class: TRANSIENT, contains: [CLOSED, BUSY]}]
    inDoubt: [{id: landed, contains: [BUSY]}]
  - {name: child, extends: parent, maxRetries: 2, rules: [{id: own, class: TRANSIENT, contains: [CLOSED]}]}
`)
	known, _ := set.Get("child")
	parent, _ := set.Get("parent")
	child := known.Settings
	if ids := fmt.Sprint(child.Rules[0].ID, " ", child.Rules[1].ID); ids != "own parents" {
		t.Errorf("the rules are %s", ids)
	}
	check.Same(t, "parent", child.Extends, "what it extends")
	child.Extends, child.Name, child.MaxRetries, child.Rules = "", parent.Name, parent.MaxRetries, parent.Rules
	check.Same(t, spelled(t, parent.Settings), spelled(t, child), "what the child does not state")
}

func TestAnchorsAndMergesAreRead(t *testing.T) {
	set := parse(t, "policies: [&a {name: a, extends: tiss, maxRetries: 2}, {<<: [*a], name: b}, {<<: {extends: a}, name: c}]")
	for _, name := range []string{"b", "c"} {
		p, _ := set.Get(name)
		check.Same(t, 2, p.MaxRetries, "maxRetries of %s", name)
	}
}

// The parent's default is not what the parent says: a child of another precision has its own.
func TestDefaultIsNotInherited(t *testing.T) {
	set := parse(t, "policies:\n  - {name: a, base: 1m, max: 1h, maxRetries: 1}\n  - {name: b, extends: a, precision: second}\n")
	if b, _ := set.Get("b"); b.Min != retry.Duration(time.Second) {
		t.Errorf("min is %v", b.Min)
	}
}

func spelled(t *testing.T, entry retry.Settings) string {
	t.Helper()
	text, err := json.MarshalIndent(entry, "", "  ")
	check.Must(t, err)
	return string(text)
}

func TestPolicyWrittenInFullIsTheSamePolicy(t *testing.T) {
	for _, p := range policy.BuiltIns().All() {
		entry := p.Settings
		entry.Extends = ""
		again, _ := parse(t, `{"policies": [`+spelled(t, entry)+`]}`).Get(p.Name)
		check.Same(t, p.Version(), again.Version(), "version of %s, read again", p.Name)
	}
}

func TestNumbersAndDatesOfTextsAreKeptAsWritten(t *testing.T) {
	set := parse(t, `{policies: [{name: a, description: 2026-11-21, base: PT1M30S, max: P1D, maxRetries: 3, rules: [{id: x, class: TRANSIENT, contains: [NO, 0503]}]}]}`)
	a, _ := set.Get("a")
	if a.Description != "2026-11-21" || fmt.Sprint(a.Rules[0].Contains) != "[NO 0503]" || a.Base != retry.Duration(90*time.Second) || a.Max != retry.Duration(24*time.Hour) {
		t.Errorf("read as %+v", a.Settings)
	}
}

func TestVersionOfSetChangesWithItsPolicies(t *testing.T) {
	versions := func(s *policy.Set) string { return strings.Join(s.Versions(), " ") }
	three := []string{versions(policy.BuiltIns()), versions(parse(t, hourly)), versions(parse(t, strings.Replace(hourly, "4h", "5h", 1)))}
	if slices.Sort(three); len(slices.Compact(three)) != 3 {
		t.Errorf("the versions are %v", three)
	}
	check.Same(t, versions(parse(t, "# a comment\n"+hourly)), versions(parse(t, hourly)), "versions with and without a comment")
}

func TestTargetsAreInheritedOrStatedAsAWhole(t *testing.T) {
	set := parse(t, `policies:
- {name: same, extends: tiss}
- {name: none, extends: tiss, targets: []}
- {name: below, extends: none}
- {name: own, extends: tiss, targets: [{kpi: claimsLost, target: "<= 1%"}]}
`)
	for name, want := range map[string]int{"tiss": 10, "same": 10, "none": 0, "below": 0, "own": 1, "rn-bil-005": 6, "smtp": 0} {
		p, _ := set.Get(name)
		check.Same(t, want, len(p.Targets), "targets of %s", name)
	}
}

func TestTargetIsReadInTheUnitOfItsKPI(t *testing.T) {
	for written, want := range map[string]retry.Target{
		`{kpi: successAfterRetry, target: ">= 80%", source: contract}`: {KPI: "successAfterRetry", Bound: ">=", Value: 0.8, Source: "contract"},
		`{kpi: claimsLost, target: "<3%"}`:                             {KPI: "claimsLost", Bound: "<", Value: 0.03},
		`{kpi: meanTimeToSuccess, target: "<= 1h30m"}`:                 {KPI: "meanTimeToSuccess", Bound: "<=", Value: 5400},
		`{kpi: medianTimeToSuccess, target: "< PT1M"}`:                 {KPI: "medianTimeToSuccess", Bound: "<", Value: 60},
		`{kpi: meanAttemptsToSuccess, target: "<= 1.2"}`:               {KPI: "meanAttemptsToSuccess", Bound: "<=", Value: 1.2},
	} {
		p, _ := parse(t, "policies:\n- {name: mine, extends: smtp, targets: ["+written+"]}\n").Get("mine")
		want.Target = p.Targets[0].Target
		check.Same(t, []retry.Target{want}, p.Targets, "%s", written)
	}
}
