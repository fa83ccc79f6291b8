package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// KPIs are the KPIs of a time, by policy. Their JSON form is stable: names are added, never changed.
type KPIs struct {
	From     time.Time    `json:"from"`
	To       time.Time    `json:"to"`
	Policies []kpi.Result `json:"policies"`
}

var kpiLabels = map[string]text.Message{
	"successAfterRetry": text.Messagef("success after retry"), "meanTimeToSuccess": text.Messagef("mean time to success"),
	"medianTimeToSuccess": text.Messagef("median time to success"), "permanentErrors": text.Messagef("permanent errors"),
	"retriesUsedUp": text.Messagef("retries used up"), "claimsLost": text.Messagef("claims lost"),
	"meanAttemptsToSuccess": text.Messagef("mean attempts to success"), "endedWithin24h": text.Messagef("ended within 24 h"),
	"endedWithin48h": text.Messagef("ended within 48 h"),
}

var verdictNames = map[kpi.Verdict]text.Message{
	kpi.Met: text.Messagef("met"), kpi.Missed: text.Messagef("missed"), kpi.NoData: text.Messagef("no data"), kpi.NoTarget: text.Messagef("no target"),
}

// Text compares the KPIs with their targets, and shows what became of the claims.
func (k KPIs) Text(p *text.Printer) string {
	var b strings.Builder
	b.WriteString(p.Sprintf("From %s to %s", p.Time(k.From), p.Time(k.To)) + "\n" + p.Zone())
	for i := range k.Policies {
		r := &k.Policies[i]
		b.WriteString("\n" + policyTitle(p, r.Policy) + "\n\n" + text.Table("  ", outcomeRows(p, r.Claims)))
		if r.Policy == claims.NoPolicy {
			continue
		}
		b.WriteString("\n" + text.Table("  ", kpiRows(p, r.KPIs)) + "\n" + text.Wrap(countsWords(p, r.Records), "  "))
	}
	if len(k.Policies) == 0 {
		b.WriteString("\n" + p.Sprintf("No claims.") + "\n")
	}
	return b.String()
}

func policyTitle(p *text.Printer, policy string) string {
	if policy == claims.NoPolicy {
		return p.Sprintf("Claims about which no policy has decided")
	}
	return p.Sprintf("Policy %s", policy)
}

// outcomeRows are what became of the claims, as a table of a name and a number.
func outcomeRows(p *text.Printer, t kpi.Outcomes) [][]string {
	number := func(n int64) string { return p.Sprintf("%d", n) }
	rows := [][]string{
		{p.Sprintf("claims sent"), number(t.Sent)},
		{p.Sprintf("accepted in the end"), p.Sprintf("%d: at once %d, after retry %d, by a person %d", t.Accepted(), t.AcceptedAtOnce, t.AcceptedAfterRetry, t.AcceptedAfterPerson)},
		{p.Sprintf("claims abandoned"), number(t.Abandoned)},
	}
	open := number(t.OpenClaims())
	if by := byState(p, t.Open); by != "" {
		open += ": " + by
	}
	rows = append(rows, []string{p.Sprintf("claims open"), open})
	if !t.OldestOpen.IsZero() {
		rows = append(rows, []string{"", p.Sprintf("the oldest failed %s", p.Minute(t.OldestOpen))})
	}
	return rows
}

func kpiRows(p *text.Printer, kpis []kpi.Indicator) [][]string {
	rows := [][]string{{p.Sprintf("KPI"), p.Sprintf("TARGET"), p.Sprintf("MEASURED"), p.Sprintf("ON"), p.Sprintf("VERDICT"), p.Sprintf("SOURCE")}}
	for _, one := range kpis {
		target, value, on, source := "-", "-", "-", "-"
		if one.Bound != "" {
			target, source = one.Bound+" "+kpiValue(p, one.Measure, one.Target, 0), text.Line(one.Source)
			source, _, _ = strings.Cut(source, " section")
		}
		if one.Value != nil {
			value, on = kpiValue(p, one.Measure, *one.Value, 1), p.Sprintf("%d", one.MeasuredOn)
		}
		if one.Value != nil && one.Measure == retry.Share { // a rounded share next to its target leaves no doubt so
			on = p.Sprintf("%d of %d", one.Part, one.MeasuredOn)
		}
		rows = append(rows, []string{p.Text(kpiLabels[one.Name]), target, value, on, p.Text(verdictNames[one.Verdict]), source})
	}
	return rows
}

// countsWords counts the records.
func countsWords(p *text.Printer, records map[string]int64) string {
	of := func(kind audit.Kind) int64 { return records[kind.String()] }
	retries, exhausted, permanent := of(audit.KindRetry), of(audit.KindExhausted), of(audit.KindPermanent)
	return p.Sprintf("Decisions %d: retry %d, retries used up %d, permanent %d. Rejected inputs %d, sent again before their time %d.",
		retries+exhausted+permanent, retries, exhausted, permanent, of(audit.KindRejected), of(audit.KindRedriven))
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
