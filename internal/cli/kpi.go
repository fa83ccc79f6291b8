package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) kpi() *cobra.Command {
	command := &cobra.Command{
		Use:   "kpi",
		Short: "Measure the KPIs of each policy against its targets",
		Long: `Measures the KPIs of each policy over a time against its own targets, and shows
what became of each claim: of those that ended in the time, by the outcome that
the process reports, and of all that were open at its end. For the KPIs an open
one counts in the time of its last record.`,
		Example: `  worker kpi --week last --lang pt-BR`,
	}
	since := spanFlag(command.Flags(), "since", "7d", "how far back to measure")
	periodIn := periodFlags(command)
	for _, name := range []string{"day", "week", "month", "from", "to"} {
		command.MarkFlagsMutuallyExclusive("since", name)
	}
	return p.answers(command, aStore, func(c *call) (any, string, error) {
		within, err := periodIn(p.now(), c.printer.Location()).until(p.now(), *since)
		if err != nil {
			return nil, "", err
		}
		answer, _, err := measure(c, within)
		if err != nil {
			return nil, "", err
		}
		return answer, answer.Text(c.printer), nil
	})
}

// measure returns the KPIs of a period by policy, and the claims that were open at its end. A policy that is
// not in force any more has no targets.
func measure(c *call, within period) (measured kpis, open []claims.Claim, err error) {
	measured.From, measured.To = within.from.UTC(), within.to.UTC()
	set, err := policies("")
	if err != nil {
		return measured, nil, err
	}
	tally, open, err := kpi.Measure(c.Context(), c.store, within.from, within.to)
	if err != nil {
		return measured, nil, err
	}
	measured.Policies = tally.Results(func(name string) []retry.Target {
		if p, known := set.Get(name); known {
			return p.Targets
		}
		return nil
	})
	return measured, open, nil
}

// kpis are the KPIs of a time, by policy. Their JSON form is stable: names are added, never changed.
type kpis struct {
	From     time.Time    `json:"from"`
	To       time.Time    `json:"to"`
	Policies []kpi.Result `json:"policies"`
}

// Text shows what became of the claims, and compares the KPIs with their targets.
func (k kpis) Text(p *text.Printer) string {
	d := document{
		Title:    p.Sprintf("From %s to %s", p.Time(k.From), p.Time(k.To)),
		Lead:     []string{p.Zone()},
		Sections: []section{outcomes(p, k.Policies)},
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
func outcomes(p *text.Printer, results []kpi.Result) section {
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
	return section{Title: p.Sprintf("Claims by outcome"), Note: note, Table: table}
}

// bounds are written as in the documents.
var bounds = strings.NewReplacer("<=", "≤", ">=", "≥")

// indicators is the table of the KPIs of a policy.
func indicators(p *text.Printer, r *kpi.Result) section {
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
	return section{Title: p.Sprintf("KPIs of policy %s", r.Policy), Table: rows, Grades: grades}
}

// measuredOn says of what each KPI is a share or a mean.
func measuredOn(p *text.Printer) section {
	s := section{
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
