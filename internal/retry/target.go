package retry

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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

// ParseTarget reads a target as a policies file has it: a bound and a value, which is a share as 80%, a time as 2h or a number
// as 1.2.
func ParseTarget(kpi, target, source string) (Target, error) {
	measure, known := KPIs()[kpi]
	if !known {
		return Target{}, fmt.Errorf("has the KPI %q, which there is not: known are %s", kpi, strings.Join(slices.Sorted(maps.Keys(KPIs())), ", "))
	}
	value := strings.TrimLeft(target, "<>=")
	t := Target{KPI: kpi, Bound: strings.TrimSuffix(target, value), Source: source}
	bounds := []string{"<=", "<"}
	if kpi == "successAfterRetry" || strings.HasPrefix(kpi, "endedWithin") {
		bounds = []string{">="}
	}
	var err error
	t.Value, err = measure.parse(strings.TrimSpace(value))
	if err != nil || !slices.Contains(bounds, t.Bound) || !(t.Value >= 0) || measure == Share && t.Value > 1 || math.IsInf(t.Value, 0) {
		must := map[Measure][2]string{Share: {"a share in percent", "80%"}, Seconds: {"a duration", "2h"}, Number: {"a number", "1.2"}}[measure]
		return Target{}, fmt.Errorf(`has %q for %s but must have %s and %s: "%s %s"`, text.Shorten(target, 60), kpi,
			strings.Join(bounds, " or "), must[0], bounds[0], must[1])
	}
	return t, nil
}

// parse reads a value of the measure.
func (m Measure) parse(s string) (float64, error) {
	if m == Seconds {
		d, err := ParseDuration(s)
		return d.Seconds(), err
	}
	number, isShare := strings.CutSuffix(s, "%")
	value, err := strconv.ParseFloat(number, 64)
	if isShare {
		value /= 100
	}
	if isShare != (m == Share) {
		err = strconv.ErrSyntax
	}
	return value, err
}
