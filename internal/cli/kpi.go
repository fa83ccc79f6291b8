package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry"
)

func (p *program) kpi() *cobra.Command {
	command := &cobra.Command{Use: "kpi"}
	since := spanFlag(command.Flags(), "since", "7d", "how far back to measure")
	periodFlags(command, "")
	command.MarkFlagsMutuallyExclusive("since", "day", "week", "month", "from")
	command.MarkFlagsMutuallyExclusive("since", "to")
	return p.answers(command, settings, func(c *call) (any, error) {
		from, to := c.period(p.now(), *since)
		if err := c.open(); err != nil {
			return nil, err
		}
		answer, _, err := measure(c, from, to)
		if err != nil {
			return nil, err
		}
		answer.say(c.w)
		return answer, nil
	})
}

// measure returns the KPIs of a period by policy, and the claims that were open at its end. A policy that is
// not in force any more has no targets.
func measure(c *call, from, to time.Time) (measured kpis, open []claims.Claim, err error) {
	measured.From, measured.To = from.UTC(), to.UTC()
	set, err := policies("")
	if err != nil {
		return measured, nil, err
	}
	tally, open, err := kpi.Measure(c.Context(), c.store, from, to)
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

// say shows what became of the claims, and compares the KPIs with their targets.
func (k *kpis) say(w *wording) {
	d := document{
		Title:    w.Sprintf("From %s to %s", k.From, k.To),
		Lead:     []string{w.Zone()},
		Sections: []section{outcomes(w, k.Policies)},
	}
	for i := range k.Policies {
		if r := &k.Policies[i]; r.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(w, r))
		}
	}
	d.Sections = append(d.Sections, measuredOn(w))
	d.say(w)
}

// outcomes is the table of claims by outcome and policy.
func outcomes(w *wording, results []kpi.Result) section {
	s := section{Title: w.Sprintf("Claims by outcome"), Head: []string{""}}
	for i := range results {
		name := results[i].Policy
		if name == claims.NoPolicy {
			name = w.Sprintf("no policy")
			s.Note = w.Sprintf("Claims of no known policy, such as those of a rejected input, or those " +
				"whose recording task names none, count for no KPI.")
		}
		s.Head = append(s.Head, name)
	}
	s.Head = append(s.Head, w.Sprintf("All"))
	row := func(name string, of func(kpi.Outcomes) int64) {
		cells, all := []string{name}, int64(0)
		for i := range results {
			n := of(results[i].Claims)
			cells, all = append(cells, w.Sprintf("%d", n)), all+n
		}
		s.add("", append(cells, w.Sprintf("%d", all))...)
	}
	row(w.Sprintf("Claims"), func(o kpi.Outcomes) int64 { return o.Total })
	row(w.Sprintf("Accepted at once"), func(o kpi.Outcomes) int64 { return o.AcceptedAtOnce })
	row(w.Sprintf("Accepted after a failure"), func(o kpi.Outcomes) int64 { return o.AcceptedAfterRetry })
	row(w.Sprintf("Accepted after a person sent it again"),
		func(o kpi.Outcomes) int64 { return o.AcceptedAfterPerson })
	row(w.Sprintf("Open at the end"), kpi.Outcomes.OpenClaims)
	row(w.Sprintf("Abandoned"), func(o kpi.Outcomes) int64 { return o.Abandoned })
	return s
}

// bounds are written as in the documents.
var bounds = strings.NewReplacer("<=", "≤", ">=", "≥")

// indicators is the table of the KPIs of a policy.
func indicators(w *wording, r *kpi.Result) section {
	s := section{
		Title: w.Sprintf("KPIs of policy %s", r.Policy),
		Head:  w.heads("KPI", "Target", "Measured", "On", "Verdict", "Source"),
	}
	for _, one := range r.KPIs {
		target, value, on, source := "-", "-", "-", "-"
		if one.Bound != "" {
			target = kpiValue(w, one.Measure, one.Target, "%.4g %%")
			if one.Measure == retry.Seconds { // as it is stated
				target = w.Span(time.Duration(one.Target * float64(time.Second)))
			}
			target = bounds.Replace(one.Bound) + " " + target
			source, _, _ = strings.Cut(one.Source, " section")
		}
		if one.Value != nil {
			value, on = kpiValue(w, one.Measure, *one.Value, "%.1f %%"), w.Sprintf("%d", one.MeasuredOn)
			if one.Measure == retry.Share { // a rounded share next to its target leaves no doubt so
				on = w.Sprintf("%d of %d", one.Part, one.MeasuredOn)
			}
		}
		verdict := string(one.Verdict)
		s.add(verdict, w.Name("kpi", one.Name), target, value, on, w.Name("verdict", verdict), source)
	}
	return s
}

// measuredOn says of what each KPI is a share or a mean.
func measuredOn(w *wording) section {
	s := section{
		Title: w.Sprintf("What the KPIs are measured on"),
		Head:  w.heads("KPI", "On"),
	}
	for _, name := range kpi.Names() {
		s.add("", w.Name("kpi", name), w.Name("on", name))
	}
	return s
}

// kpiValue returns a value in its measure, a share in this format. What is cut of a mean is rounded up: one
// that misses its target by a little does not look like it.
func kpiValue(w *wording, m retry.Measure, value float64, share string) string {
	switch m {
	case retry.Share:
		return w.Decimal(fmt.Sprintf(share, 100*value))
	case retry.Seconds:
		d, unit := time.Duration(value*float64(time.Second)), time.Second
		switch {
		case d > 4*24*time.Hour:
			unit = time.Hour
		case d > 10*time.Minute:
			unit = time.Minute
		}
		return w.About(d + unit - 1)
	case retry.Number:
	}
	return w.Decimal(fmt.Sprintf("%.4g", math.Ceil(100*value-1e-9)/100))
}
