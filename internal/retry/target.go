package retry

import (
	"fmt"
	"math"
	"strings"

	"hospital.example/analyze-retry/internal/text"
)

// Target is the value that a KPI of the policy's claims is to reach. Package kpi measures the KPIs. A target changes no decision.
type Target struct {
	// KPI is one of [KPIs]. Bound is the side of Value on which it has to be: ">=" for the share of what went well, else "<=" or "<".
	KPI, Bound string
	// Value is a share from 0 to 1, a time in seconds, or a number.
	Value float64
	// Source is the document that sets the target. Two documents may set one each for the same KPI.
	Source string
}

// Measure is what a KPI counts in.
type Measure string

// The measures. A share is from 0 to 1.
const (
	Share   Measure = "share"
	Seconds Measure = "seconds"
	Number  Measure = "number"
)

// KPIs returns the KPIs that a policy may set a target for, and the measure of each.
func KPIs() map[string]Measure {
	return map[string]Measure{
		"successAfterRetry": Share, "meanTimeToSuccess": Seconds, "medianTimeToSuccess": Seconds, "permanentErrors": Share,
		"retriesUsedUp": Share, "claimsLost": Share, "meanAttemptsToSuccess": Number, "endedWithin24h": Share, "endedWithin48h": Share,
	}
}

// targetFaults returns what is wrong with the targets of a policy.
func targetFaults(targets []Target) (faults []error) {
	measures := KPIs()
	type key struct{ kpi, source string }
	taken := map[key]bool{}
	for _, t := range targets {
		fault := func(wrong bool, problem string, args ...any) {
			if wrong {
				faults = append(faults, &SettingError{Setting: "targets", Problem: text.Messagef("%s", fmt.Sprintf(problem, args...))})
			}
		}
		measure, known := measures[t.KPI]
		fault(!known, "has the KPI %q, which there is not", t.KPI)
		if good := t.KPI == "successAfterRetry" || strings.HasPrefix(t.KPI, "endedWithin"); good {
			fault(t.Bound != ">=", "has the bound %q for %s but must have >=", t.Bound, t.KPI)
		} else {
			fault(t.Bound != "<=" && t.Bound != "<", "has the bound %q for %s but must have <= or <", t.Bound, t.KPI)
		}
		fault(math.IsNaN(t.Value) || math.IsInf(t.Value, 0) || t.Value < 0, "has %v for %s but must have a number, 0 or more", t.Value, t.KPI)
		fault(measure == Share && t.Value > 1, "has %v%% for %s but must have at most 100%%", t.Value*100, t.KPI)
		fault(taken[key{t.KPI, t.Source}], "has %s twice from one source", t.KPI)
		taken[key{t.KPI, t.Source}] = true
	}
	return faults
}
