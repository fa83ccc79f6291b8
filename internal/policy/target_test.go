package policy_test

import (
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTargetIsReadInTheUnitOfItsKPI(t *testing.T) {
	const sla = "contract"
	for written, want := range map[string]retry.Target{
		`{kpi: successAfterRetry, target: ">= 80%", source: contract}`:       {KPI: "successAfterRetry", Bound: ">=", Value: 0.8, Source: sla},
		`{kpi: claimsLost, target: "<3%"}`:                                   {KPI: "claimsLost", Bound: "<", Value: 0.03},
		`{kpi: endedWithin24h, target: ">= 99.5%"}`:                          {KPI: "endedWithin24h", Bound: ">=", Value: 0.995},
		`{kpi: meanTimeToSuccess, target: "<= 1h30m"}`:                       {KPI: "meanTimeToSuccess", Bound: "<=", Value: 5400},
		`{kpi: medianTimeToSuccess, target: "< PT1M"}`:                       {KPI: "medianTimeToSuccess", Bound: "<", Value: 60},
		`{kpi: meanAttemptsToSuccess, target: "<= 1.2", source: "contract"}`: {KPI: "meanAttemptsToSuccess", Bound: "<=", Value: 1.2, Source: sla},
	} {
		p, _ := parse(t, smallest+", targets: ["+written+"]}\n").Get("mine")
		check.Same(t, []retry.Target{want}, p.Targets, "%s", written)
	}
}

func TestTargetsAreInheritedOrStatedAsAWhole(t *testing.T) {
	set := parse(t, `policies:
- {name: same, extends: tiss}
- {name: none, extends: tiss, targets: []}
- {name: below, extends: none}
- {name: own, extends: tiss, targets: [{kpi: claimsLost, target: "<= 1%"}]}
`)
	for name, want := range map[string]int{"tiss": 8, "same": 8, "none": 0, "below": 0, "own": 1, "rn-bil-005": 4, "smtp": 0} {
		p, _ := set.Get(name)
		entry, _ := set.Entry(name)
		check.Same(t, want, len(p.Targets), "targets of %s", name)
		check.Same(t, want, len(entry.Targets), "targets of %s as written", name)
	}
}

func TestSchemaAndRuleKnowTheSameKPIs(t *testing.T) {
	var names []string
	for _, kpi := range schema(t)["target"].Properties["kpi"].Enum {
		names = append(names, kpi.(string))
	}
	for kpi, measure := range retry.KPIs() {
		value := map[retry.Measure]string{retry.Share: "1%", retry.Seconds: "1s", retry.Number: "1"}[measure]
		bound := "<"
		if strings.HasPrefix(kpi, "ended") || strings.HasPrefix(kpi, "success") {
			bound = ">="
		}
		if _, err := policy.Parse("kpi.yaml", []byte(smallest+", targets: [{kpi: "+kpi+", target: '"+bound+value+"'}]}\n")); err != nil || !slices.Contains(names, kpi) {
			t.Errorf("%s: %v", kpi, err)
		}
	}
	check.Same(t, len(retry.KPIs()), len(names), "KPIs of the schema")
}
