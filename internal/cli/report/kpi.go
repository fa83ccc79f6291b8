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
	d.Sections = append(d.Sections, measuredOn(p))
	return d.text()
}

// outcomes is the table of claims by outcome and policy.
func outcomes(p *text.Printer, results []kpi.Result) Section {
	table := [][]string{
		{""},
		{p.Sprintf("Claims")},
		{p.Sprintf("Accepted at once")},
		{p.Sprintf("Accepted after retry")},
		{p.Sprintf("Accepted after a person sent it again")},
		{p.Sprintf("Open at the end")},
		{p.Sprintf("Abandoned")},
	}
	note := ""
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
			name = p.Sprintf("no policy")
			note = p.Sprintf("Claims of no known policy, such as those that never failed, count for no KPI.")
		}
		column(name, [...]int64{
			t.Total,
			t.AcceptedAtOnce,
			t.AcceptedAfterRetry,
			t.AcceptedAfterPerson,
			t.OpenClaims(),
			t.Abandoned,
		})
	}
	column(p.Sprintf("All"), all)
	return Section{Title: p.Sprintf("Claims by outcome"), Note: note, Table: table}
}

// bounds are written as in the documents.
var bounds = strings.NewReplacer("<=", "≤", ">=", "≥")

// indicators is the table of the KPIs of a policy.
func indicators(p *text.Printer, r *kpi.Result) Section {
	rows := [][]string{{
		p.Sprintf("KPI"),
		p.Sprintf("Target"),
		p.Sprintf("Measured"),
		p.Sprintf("On"),
		p.Sprintf("Verdict"),
		p.Sprintf("Source"),
	}}
	grades := map[int]string{}
	for i, one := range r.KPIs {
		grades[i+1] = string(one.Verdict)
		target, value, on, source := "-", "-", "-", "-"
		if one.Bound != "" {
			target = bounds.Replace(one.Bound) + " " + kpiValue(p, one.Measure, one.Target, 0)
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
	return Section{Title: p.Sprintf("KPIs of policy %s", r.Policy), Table: rows, Grades: grades}
}

// measuredOn says of what each KPI is a share or a mean.
func measuredOn(p *text.Printer) Section {
	s := Section{
		Title: p.Sprintf("What the KPIs are measured on"),
		Table: [][]string{{p.Sprintf("KPI"), p.Sprintf("On")}},
	}
	for _, name := range kpi.Names() {
		s.Table = append(s.Table, []string{p.Name("kpi", name), p.Name("on", name)})
	}
	return s
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
