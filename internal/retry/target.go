package retry

import (
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
	// KPI is one of [KPIs].
	KPI string `yaml:"kpi" json:"kpi"`
	// Target is a bound and a value: a share as 80%, a time as 2h or a number as 1.2.
	Target string `yaml:"target" json:"target"`
	// Source is the document that sets the target. Two documents may set one each for the same KPI.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Bound and Value are what Target of a policy says. Bound is the side of Value on which the KPI has to
	// be: ">=" for the share of what went well, else "<=" or "<". Value is a share from 0 to 1, a time in
	// seconds, or a number.
	Bound string  `yaml:"-" json:"-"`
	Value float64 `yaml:"-" json:"-"`
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

// target reads one of the targets.
func (f *faults) target(targets []Target, i int) {
	t := &targets[i]
	measure, known := KPIs()[t.KPI]
	if !known {
		f.add(true, "", "targets", text.Messagef("has the KPI %q, which there is not: known are %s",
			t.KPI, strings.Join(slices.Sorted(maps.Keys(KPIs())), ", ")))
		return
	}
	bounds := []string{"<=", "<"}
	if t.KPI == "successAfterRetry" || strings.HasPrefix(t.KPI, "endedWithin") {
		bounds = []string{">="}
	}
	value := strings.TrimLeft(t.Target, "<>= ")
	t.Bound = strings.TrimSpace(strings.TrimSuffix(t.Target, value))
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
	example := map[Measure]string{Share: "80%", Seconds: "2h", Number: "1.2"}[measure]
	f.add(err != nil || isShare != (measure == Share) || !inRange || !slices.Contains(bounds, t.Bound),
		"", "targets", text.Messagef(`has %q for %s but must be such as "%s %s"`,
			text.Shorten(t.Target, 60), t.KPI, bounds[0], example))
	again := func(o Target) bool { return o.KPI == t.KPI && o.Source == t.Source }
	f.add(slices.ContainsFunc(targets[:i], again), "", "targets",
		text.Messagef("has %s twice from one source", t.KPI))
}
