package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/term"
)

// KPIs are the KPIs of a time. Their JSON form is stable: names are added, never changed.
type KPIs struct {
	From   time.Time       `json:"from"`
	To     time.Time       `json:"to"`
	KPIs   []kpi.Indicator `json:"kpis"`
	Counts kpi.Counts      `json:"counts"`
}

var kpiLabels = map[string]string{
	"successAfterRetry": "success after retry", "meanTimeToSuccess": "mean time to success",
	"medianTimeToSuccess": "median time to success", "permanentErrors": "permanent errors",
	"retriesUsedUp": "retries used up", "claimsLost": "claims lost", "meanAttemptsToSuccess": "mean attempts to success",
}

// Text compares the KPIs with their targets.
func (k KPIs) Text() string {
	rows := [][]string{{"KPI", "RULE", "TARGET", "MEASURED", "ON", "VERDICT"}}
	for _, one := range k.KPIs {
		target, value, on := kpiValue(one.Measure, one.Target, 0), "-", "-"
		if one.Value != nil {
			value, on = kpiValue(one.Measure, *one.Value, 1), fmt.Sprint(one.MeasuredOn)
		}
		if one.Value != nil && one.Measure == kpi.Share { // a rounded share next to its target leaves no doubt so
			on = fmt.Sprintf("%d of %d", one.Part, one.MeasuredOn)
		}
		rows = append(rows, []string{kpiLabels[one.Name], one.Rule, string(one.Bound) + " " + target, value, on, string(one.Verdict)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The last %s, from %s to %s\n\n%s", term.Span(k.To.Sub(k.From)), term.Time(k.From), term.Time(k.To), term.Table("", rows))
	c := k.Counts
	fmt.Fprintf(&b, "\n%s about %s: %s %d, %s %d, %s %d.\n", term.Count(c.Decisions, "decision"), term.Count(c.Claims, "claim"),
		audit.KindRetry, c.Retries, audit.KindExhausted, c.Exhausted, audit.KindPermanent, c.Permanent)
	fmt.Fprintf(&b, "Ends of rounds: %s %d, %s %d, %s %d.\n",
		audit.KindSubmitted, c.Submitted, audit.KindResubmitted, c.Resubmitted, audit.KindAbandoned, c.Abandoned)
	fmt.Fprintf(&b, "Sent again before their time: %s %d.\n", audit.KindRedriven, c.Redriven)
	fmt.Fprintf(&b, "Rejected inputs: %d. Answers that did not reach the process: %d.\n", c.Rejected, c.Undelivered)
	return b.String()
}

// kpiValue returns a value in its measure, a share with so many decimals and a number with one more.
func kpiValue(m kpi.Measure, value float64, decimals int) string {
	switch m {
	case kpi.Share:
		return fmt.Sprintf("%.*f %%", decimals, 100*value)
	case kpi.Seconds:
		return term.About(time.Duration(value * float64(time.Second)))
	case kpi.Number:
	}
	return fmt.Sprintf("%.*f", decimals+1, value)
}
