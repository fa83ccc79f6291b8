package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

// text words a simulation for a person at a terminal of 80 columns.
func (s *simulated) text() string {
	var b strings.Builder
	b.WriteString(wrap(s.setting(), ""))
	for _, p := range s.Policies {
		b.WriteString(wrap(fmt.Sprintf("Policy %s, version %s, takes the error for %s (rule %s).", p.Policy, p.PolicyVersion, p.Classification, p.RuleID), ""))
	}
	b.WriteString("\n" + s.table())
	b.WriteString(s.wavesText())
	b.WriteString(s.bandsText())
	return b.String()
}

func (s *simulated) setting() string {
	submitted := "all at once"
	if s.scenario.Arrivals > 0 {
		submitted = "over " + spell(s.scenario.Arrivals)
	}
	var down []string
	for _, o := range s.scenario.Outages {
		down = append(down, outageWords(o))
	}
	text := fmt.Sprintf("%s submitted %s; the insurer is down %s; every failure says %q; seed %d.",
		count(s.Claims, "claim"), submitted, strings.Join(down, " and "), plain(shorten(s.Error)), s.Seed)
	if s.FailureRate > 0 {
		text += fmt.Sprintf(" Without an outage %g %% of the tries fail too.", 100*s.FailureRate)
	}
	return text
}

func outageWords(o simulate.Outage) string {
	if o.Begin == 0 {
		return "for " + spell(o.End)
	}
	return fmt.Sprintf("for %s from %s on", spell(o.End-o.Begin), spell(o.Begin))
}

// nameColumns is how wide the table's column of a policy is: as wide as 1000000 (100 %).
const nameColumns = 15

// table has a column for each policy, and with two of them the difference.
func (s *simulated) table() string {
	var b strings.Builder
	row := func(label string, cells ...string) {
		fmt.Fprintf(&b, "%-31s", label)
		for i, c := range cells {
			width := nameColumns
			if i == 2 {
				width = 13 // the difference
			}
			fmt.Fprintf(&b, "  %*s", width, c)
		}
		b.WriteString("\n")
	}
	heads := []string{}
	for _, p := range s.Policies {
		heads = append(heads, cut(p.Policy, nameColumns))
	}
	if len(s.Policies) == 2 {
		heads = append(heads, "difference")
	}
	row("", heads...)
	for _, f := range s.figures() {
		cells := []string{}
		for i := range s.Policies {
			cells = append(cells, f.cell(f.of(&s.Policies[i])))
		}
		if len(s.Policies) == 2 {
			cells = append(cells, f.difference(f.of(&s.Policies[0]), f.of(&s.Policies[1])))
		}
		row(f.label, cells...)
	}
	return b.String()
}

// figure is one line of the table. Its value is nil where there is none.
type figure struct {
	label string
	// rare is for a line that is left out where it is 0 for all policies.
	rare bool
	of   func(*simulatedPolicy) *float64
	// words is for a value, apart for a difference of two that is more than 0.
	words, apart func(float64) string
}

func (f *figure) cell(value *float64) string {
	if value == nil {
		return "-"
	}
	return f.words(*value)
}

func (f *figure) difference(a, b *float64) string {
	switch {
	case a == nil || b == nil:
		return "-"
	case *a == *b:
		return "0"
	case *b > *a:
		return "+" + f.apart(*b-*a)
	default:
		return "-" + f.apart(*a-*b)
	}
}

func (s *simulated) figures() []figure {
	number := func(v float64) string { return fmt.Sprint(int(v)) }
	ratio := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	share := func(v float64) string {
		if int(v) == s.Claims {
			return fmt.Sprintf("%d (100 %%)", int(v))
		}
		return fmt.Sprintf("%d (%.1f %%)", int(v), min(100*v/float64(s.Claims), 99.9)) // nearly all are not all
	}
	span := func(v float64) string { return spell(time.Duration(v) * time.Second) }
	always := func(get func(*simulatedPolicy) int) func(*simulatedPolicy) *float64 {
		return func(p *simulatedPolicy) *float64 { v := float64(get(p)); return &v }
	}
	maybe := func(get func(*simulatedPolicy) *int64) func(*simulatedPolicy) *float64 {
		return func(p *simulatedPolicy) *float64 {
			if get(p) == nil {
				return nil
			}
			v := float64(*get(p))
			return &v
		}
	}
	all := []figure{
		{"accepted at the first try", true, always(func(p *simulatedPolicy) int { return p.AtOnce }), share, number},
		{"survivors: accepted after all", false, always(func(p *simulatedPolicy) int { return p.Survivors }), share, number},
		{"exhausted: all retries used", false, always(func(p *simulatedPolicy) int { return p.Exhausted }), share, number},
		{"stopped by the deadline", true, always(func(p *simulatedPolicy) int { return p.Deadline }), share, number},
		{"stopped as permanent", true, always(func(p *simulatedPolicy) int { return p.Permanent }), share, number},
		{"tries for each claim", false, func(p *simulatedPolicy) *float64 { return &p.TriesPerClaim }, ratio, ratio},
		{"wasted: retries in an outage", false, always(func(p *simulatedPolicy) int { return p.WastedTries }), number, number},
		{"time to success, median", false, maybe(func(p *simulatedPolicy) *int64 { return p.P50 }), span, span},
		{"time to success, 95 of 100", false, maybe(func(p *simulatedPolicy) *int64 { return p.P95 }), span, span},
		{"time to success, longest", false, maybe(func(p *simulatedPolicy) *int64 { return p.Max }), span, span},
		{"most retries in any minute", false, always(func(p *simulatedPolicy) int { return p.LargestWave.Retries }), number, number},
		{"the same without jitter", false, always(func(p *simulatedPolicy) int { return p.LargestWavePlain.Retries }), number, number},
		{"last survivor, after the outage", false, maybe(func(p *simulatedPolicy) *int64 { return p.LastAccepted }), span, span},
	}
	return slices.DeleteFunc(all, func(f figure) bool {
		return f.rare && !slices.ContainsFunc(s.Policies, func(p simulatedPolicy) bool { return *f.of(&p) > 0 })
	})
}

// cut shortens a name to so many columns.
func cut(name string, columns int) string {
	if len(name) <= columns {
		return name
	}
	return name[:columns-3] + "..."
}

// wavesText draws the waves of one policy with and without jitter, or those of two policies.
func (s *simulated) wavesText() string {
	type drawn struct {
		name  string
		waves []int
	}
	var charts []drawn
	for _, p := range s.Policies {
		charts = append(charts, drawn{p.Policy, p.Waves})
	}
	if len(charts) == 1 {
		charts = append(charts, drawn{"the same without jitter", s.Policies[0].WavesPlain})
	}
	most := 0
	for _, c := range charts {
		for _, n := range c.waves {
			most = max(most, n)
		}
	}
	if most == 0 {
		return "\nNothing is tried again.\n"
	}
	width := time.Duration(s.WaveSeconds) * time.Second
	columns := int((s.span + width - 1) / width)
	down := func(column int) bool { return s.downIn(time.Duration(column)*width, width) }
	var b strings.Builder
	fmt.Fprintf(&b, "\nRetries in each %s; the outage is shaded.\n", spell(width))
	for _, c := range charts {
		fmt.Fprintf(&b, "\n%9s%s\n", "", c.name)
		for row, line := range columnChart(c.waves, columns, most, down) {
			label := ""
			if row == 0 {
				label = fmt.Sprint(most)
			}
			fmt.Fprintf(&b, "%8s │%s\n", label, strings.TrimRight(line, " "))
		}
		line, labels := timeAxis(columns, width)
		fmt.Fprintf(&b, "%8s └%s\n%10s%s\n", "0", line, "", labels)
	}
	return b.String()
}

// downIn reports whether any outage has a part in a step of time.
func (s *simulated) downIn(from, width time.Duration) bool {
	for _, o := range s.scenario.Outages {
		if o.Begin < from+width && from < o.End {
			return true
		}
	}
	return false
}

// bandsText draws when a claim is tried again, beside the length of the first outage.
func (s *simulated) bandsText() string {
	longest := time.Duration(0)
	for _, p := range s.plays {
		for _, b := range bandsOf(p.policy, s.Error) {
			longest = max(longest, b.to)
		}
	}
	if longest == 0 {
		return ""
	}
	outage := s.scenario.Outages[0].End - s.scenario.Outages[0].Begin
	width := max(longest, outage)/(bandColumns-1) + 1
	columns := bandColumns
	var b strings.Builder
	fmt.Fprintf(&b, "\nWhen a claim is tried again after its first failure, as long as it fails; the\nlength of the first outage, %s, is shaded.\n", spell(outage))
	for _, p := range s.plays {
		fmt.Fprintf(&b, "\n%s", wrap(p.policy.Name+deadlineWords(p.policy), strings.Repeat(" ", 9)))
		bands := bandsOf(p.policy, s.Error)
		for i, one := range bands {
			const shown = 6
			if len(bands) > 2*shown && i >= shown && i < len(bands)-shown {
				if i == shown {
					fmt.Fprintf(&b, "     ... %d more ...\n", len(bands)-2*shown)
				}
				continue
			}
			fmt.Fprintf(&b, "%4d %21s │%s\n", i+1, one.words(), strings.TrimRight(bandLine(one, columns, width, outage), " "))
		}
		line, labels := timeAxis(columns, width)
		fmt.Fprintf(&b, "%26s └%s\n%28s%s\n", "", line, "", labels)
	}
	return b.String()
}

func (b band) words() string {
	if b.from == b.to {
		return spell(b.from)
	}
	return spell(b.from) + " to " + spell(b.to)
}

// spell words a span of time, to the second where it is short and to the hour where it is days.
func spell(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 10*time.Minute && d%time.Minute != 0:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day && d%time.Hour < time.Minute:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 2*day:
		return fmt.Sprintf("%d h %02d", d/time.Hour, d%time.Hour/time.Minute)
	case d%day < time.Hour:
		return fmt.Sprintf("%d days", d/day)
	default:
		return fmt.Sprintf("%d d %02d h", d/day, d%day/time.Hour)
	}
}

func deadlineWords(p *retry.Policy) string {
	if p.Deadline == 0 {
		return ""
	}
	return fmt.Sprintf(", nothing later than %s after the first failure", spell(p.Deadline))
}
