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

// Target is the value that a KPI of the policy's claims is to reach. Package kpi measures the KPIs. A target
// changes no decision.
type Target struct {
	// KPI is one of [KPIs]. Bound is the side of Value on which it has to be: ">=" for the share of what went
	// well, else "<=" or "<".
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
		"successAfterRetry":     Share,
		"meanTimeToSuccess":     Seconds,
		"medianTimeToSuccess":   Seconds,
		"permanentErrors":       Share,
		"retriesUsedUp":         Share,
		"claimsLost":            Share,
		"meanAttemptsToSuccess": Number,
		"endedWithin24h":        Share,
		"endedWithin48h":        Share,
	}
}

// ParseTarget reads a target as a policies file has it: a bound and a value, which is a share as 80%, a time
// as 2h or a number as 1.2.
func ParseTarget(kpi, target, source string) (Target, error) {
	measure, known := KPIs()[kpi]
	if !known {
		names := strings.Join(slices.Sorted(maps.Keys(KPIs())), ", ")
		return Target{}, fmt.Errorf("has the KPI %q, which there is not: known are %s", kpi, names)
	}
	bounds := []string{"<=", "<"}
	if kpi == "successAfterRetry" || strings.HasPrefix(kpi, "endedWithin") {
		bounds = []string{">="}
	}
	value := strings.TrimLeft(target, "<>= ")
	t := Target{KPI: kpi, Bound: strings.TrimSpace(strings.TrimSuffix(target, value)), Source: source}
	number, isShare := strings.CutSuffix(value, "%")
	var err error
	if t.Value, err = strconv.ParseFloat(number, 64); isShare {
		t.Value /= 100
	}
	if measure == Seconds {
		span, wrong := ParseDuration(value)
		t.Value, err = span.Seconds(), wrong
	}
	inRange := t.Value >= 0 && t.Value <= math.MaxFloat64 && (measure != Share || t.Value <= 1)
	if err != nil || isShare != (measure == Share) || !inRange || !slices.Contains(bounds, t.Bound) {
		example := map[Measure]string{Share: "80%", Seconds: "2h", Number: "1.2"}[measure]
		return Target{}, fmt.Errorf(`has %q for %s but must be such as "%s %s"`,
			text.Shorten(target, 60), kpi, bounds[0], example)
	}
	return t, nil
}
