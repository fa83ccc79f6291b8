package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// KPIs are the KPIs of a time, by policy. Their JSON form is stable: names are added, never changed.
type KPIs struct {
	From     time.Time    `json:"from"`
	To       time.Time    `json:"to"`
	Policies []kpi.Result `json:"policies"`
}

// Text shows what became of the claims, and compares the KPIs with their targets.
func (k KPIs) Text(p *text.Printer) string {
	d := Document{
		Title:    p.Sprintf("From %s to %s", p.Time(k.From), p.Time(k.To)),
		Lead:     []string{strings.TrimSpace(p.Zone())},
		Sections: []Section{outcomes(p, k.Policies)},
	}
	for i := range k.Policies {
		if r := &k.Policies[i]; r.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(p, r))
		}
	}
	return d.text()
}

// outcomes is the table of claims by outcome and policy.
func outcomes(p *text.Printer, results []kpi.Result) Section {
	table := [][]string{
		{""},
		{p.Sprintf("Sent")},
		{p.Sprintf("Accepted at once")},
		{p.Sprintf("Accepted after retry")},
		{p.Sprintf("Accepted after a person sent it again")},
		{p.Sprintf("Open")},
		{p.Sprintf("Abandoned")},
	}
	var all [6]int64
	column := func(name string, numbers [6]int64) {
		table[0] = append(table[0], name)
		for i, n := range numbers {
			all[i] += n
			table[1+i] = append(table[1+i], p.Sprintf("%d", n))
		}
	}
	for i := range results {
		t, name := &results[i].Claims, results[i].Policy
		if name == claims.NoPolicy {
			name = p.Sprintf("no policy decided")
		}
		column(name, [...]int64{
			t.Sent,
			t.AcceptedAtOnce,
			t.AcceptedAfterRetry,
			t.AcceptedAfterPerson,
			t.OpenClaims(),
			t.Abandoned,
		})
	}
	column(p.Sprintf("All"), all)
	return Section{Title: p.Sprintf("Claims by outcome"), Table: table}
}

// indicators is the table of the KPIs of a policy.
func indicators(p *text.Printer, r *kpi.Result) Section {
	rows := [][]string{{
		p.Sprintf("KPI"),
		p.Sprintf("TARGET"),
		p.Sprintf("MEASURED"),
		p.Sprintf("ON"),
		p.Sprintf("VERDICT"),
		p.Sprintf("SOURCE"),
	}}
	for _, one := range r.KPIs {
		target, value, on, source := "-", "-", "-", "-"
		if one.Bound != "" {
			target = one.Bound + " " + kpiValue(p, one.Measure, one.Target, 0)
			source, _, _ = strings.Cut(one.Source, " section")
		}
		if one.Value != nil {
			value, on = kpiValue(p, one.Measure, *one.Value, 1), p.Sprintf("%d", one.MeasuredOn)
			if one.Measure == retry.Share { // a rounded share next to its target leaves no doubt so
				on = p.Sprintf("%d of %d", one.Part, one.MeasuredOn)
			}
		}
		rows = append(rows, []string{
			p.Name("kpi", one.Name), target, value, on, p.Name("verdict", string(one.Verdict)), source,
		})
	}
	return Section{Title: p.Sprintf("KPIs of policy %s", r.Policy), Table: rows}
}

// kpiValue returns a value in its measure, a share with so many decimals and a number with one more.
func kpiValue(p *text.Printer, m retry.Measure, value float64, decimals int) string {
	switch m {
	case retry.Share:
		return p.Decimal(fmt.Sprintf("%.*f %%", decimals, 100*value))
	case retry.Seconds:
		return p.About(time.Duration(value * float64(time.Second)))
	case retry.Number:
	}
	return p.Decimal(fmt.Sprintf("%.*f", decimals+1, value))
}
