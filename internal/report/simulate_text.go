package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
	"hospital.example/analyze-retry/internal/term"
)

// Text words the simulation, with drawings of its waves and waits.
func (s *Simulation) Text() string {
	var b strings.Builder
	b.WriteString(term.Wrap(s.setting(), ""))
	for _, p := range s.Policies {
		b.WriteString(term.Wrap(fmt.Sprintf("Policy %s, version %s, takes the error for %s (rule %s).", p.Policy, p.PolicyVersion, p.Classification, p.RuleID), ""))
	}
	b.WriteString("\n" + s.table())
	b.WriteString(s.wavesText())
	b.WriteString(s.bandsText())
	return b.String()
}

func (s *Simulation) setting() string {
	submitted := "all at once"
	if s.scenario.Arrivals > 0 {
		submitted = "over " + term.Span(s.scenario.Arrivals)
	}
	var down []string
	for _, o := range s.scenario.Outages {
		down = append(down, outageWords(o))
	}
	text := fmt.Sprintf("%s submitted %s; the insurer is down %s; every failure says %q; seed %d.",
		term.Count(s.Claims, "claim"), submitted, strings.Join(down, " and "), english.shown(s.Error), s.Seed)
	if s.FailureRate > 0 {
		text += fmt.Sprintf(" Without an outage %g %% of the tries fail too.", 100*s.FailureRate)
	}
	return text
}

func outageWords(o simulate.Outage) string {
	if o.Begin == 0 {
		return "for " + term.Span(o.End)
	}
	return fmt.Sprintf("for %s from %s on", term.Span(o.End-o.Begin), term.Span(o.Begin))
}

// table has a column for each policy, and with two of them the difference.
func (s *Simulation) table() string {
	rows := [][]string{{""}}
	for _, p := range s.Policies {
		rows[0] = append(rows[0], term.Shorten(p.Policy, 15)) // as wide as 1000000 (100 %)
	}
	if len(s.Policies) == 2 {
		rows[0] = append(rows[0], "difference")
	}
	// add adds a line. write is for a value, apart for a difference.
	add := func(label string, write, apart func(float64) string, value func(*simulatedPolicy) float64) {
		row, values := []string{label}, []float64{}
		for i := range s.Policies {
			v := value(&s.Policies[i])
			row, values = append(row, orDash(write, v)), append(values, v)
		}
		if len(values) == 2 {
			row = append(row, difference(apart, values[0], values[1]))
		}
		rows = append(rows, row)
	}
	// addRare leaves out a line that is 0 for all policies.
	addRare := func(label string, write, apart func(float64) string, value func(*simulatedPolicy) float64) {
		if slices.ContainsFunc(s.Policies, func(p simulatedPolicy) bool { return value(&p) > 0 }) {
			add(label, write, apart, value)
		}
	}
	number := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	ratio := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	span := func(v float64) string { return term.About(time.Duration(v) * time.Second) }
	share := func(v float64) string {
		if int(v) == s.Claims {
			return number(v) + " (100 %)"
		}
		return fmt.Sprintf("%.0f (%.1f %%)", v, min(100*v/float64(s.Claims), 99.9)) // nearly all are not all
	}
	addRare("accepted at the first try", share, number, func(p *simulatedPolicy) float64 { return float64(p.AtOnce) })
	add("survivors: accepted after all", share, number, func(p *simulatedPolicy) float64 { return float64(p.Survivors) })
	add("exhausted: all retries used", share, number, func(p *simulatedPolicy) float64 { return float64(p.Exhausted) })
	addRare("stopped by the deadline", share, number, func(p *simulatedPolicy) float64 { return float64(p.Deadline) })
	addRare("stopped as permanent", share, number, func(p *simulatedPolicy) float64 { return float64(p.Permanent) })
	add("tries for each claim", ratio, ratio, func(p *simulatedPolicy) float64 { return p.TriesPerClaim })
	add("wasted: retries in an outage", number, number, func(p *simulatedPolicy) float64 { return float64(p.WastedTries) })
	add("time to success, median", span, span, func(p *simulatedPolicy) float64 { return orNaN(p.P50) })
	add("time to success, 95 of 100", span, span, func(p *simulatedPolicy) float64 { return orNaN(p.P95) })
	add("time to success, longest", span, span, func(p *simulatedPolicy) float64 { return orNaN(p.Max) })
	add("most retries in any minute", number, number, func(p *simulatedPolicy) float64 { return float64(p.LargestWave.Retries) })
	add("the same without jitter", number, number, func(p *simulatedPolicy) float64 { return float64(p.LargestWavePlain.Retries) })
	add("last survivor, after the outage", span, span, func(p *simulatedPolicy) float64 { return orNaN(p.LastAccepted) })
	return term.Table("", rows)
}

// orNaN returns a value, NaN where there is none.
func orNaN(value *int64) float64 {
	if value == nil {
		return math.NaN()
	}
	return float64(*value)
}

func orDash(write func(float64) string, value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return write(value)
}

func difference(write func(float64) string, a, b float64) string {
	switch {
	case a == b:
		return "0"
	case b > a:
		return "+" + write(b-a)
	default:
		return orDash(func(d float64) string { return "-" + write(d) }, a-b)
	}
}

// wavesText draws the waves of one policy with and without jitter, or those of two policies.
func (s *Simulation) wavesText() string {
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
	fmt.Fprintf(&b, "\nRetries in each %s; the outage is shaded.\n", term.Span(width))
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
func (s *Simulation) downIn(from, width time.Duration) bool {
	for _, o := range s.scenario.Outages {
		if o.Begin < from+width && from < o.End {
			return true
		}
	}
	return false
}

// bandsText draws when a claim is tried again, compared with the length of the first outage.
func (s *Simulation) bandsText() string {
	outage := s.scenario.Outages[0].End - s.scenario.Outages[0].Begin
	longest, label := time.Duration(0), 0
	for _, p := range s.Policies {
		for _, b := range p.bands {
			longest, label = max(longest, b.TotalLongest), max(label, len(bandWords(&b)))
		}
	}
	if longest == 0 {
		return ""
	}
	columns := 80 - len("99  ") - label - len(" |")
	width := max(longest, outage)/time.Duration(columns-1) + 1
	var b strings.Builder
	fmt.Fprintf(&b, "\nWhen a claim is tried again after its first failure, as long as it fails; the\nlength of the first outage, %s, is shaded.\n", term.Span(outage))
	for i, p := range s.plays {
		fmt.Fprintf(&b, "\n%s", term.Wrap(p.Policy.Name+deadlineWords(p.Policy), "    "))
		bands := s.Policies[i].bands
		for i, one := range bands {
			const shown = 6
			if len(bands) > 2*shown && i >= shown && i < len(bands)-shown {
				if i == shown {
					fmt.Fprintf(&b, "    ... %d more ...\n", len(bands)-2*shown)
				}
				continue
			}
			fmt.Fprintf(&b, "%2d  %*s │%s\n", i+1, label, bandWords(&one), strings.TrimRight(bandLine(&one, columns, width, outage), " "))
		}
		line, labels := timeAxis(columns, width)
		fmt.Fprintf(&b, "%*s └%s\n%*s%s\n", label+4, "", line, label+6, "", labels)
	}
	return b.String()
}

func deadlineWords(p *retry.Policy) string {
	if p.Deadline == 0 {
		return ""
	}
	return fmt.Sprintf(", nothing later than %s after the first failure", term.Span(p.Deadline))
}

// The sizes of the drawings: with their labels they fit 80 columns.
const (
	chartColumns = 68
	chartRows    = 7
)

// columnChart draws values as columns of eighths of a character, from the top row down; most is what fills all rows.
func columnChart(values []int, columns, most int, shaded func(column int) bool) []string {
	eighths := []rune("▁▂▃▄▅▆▇█")
	rows := make([]string, chartRows)
	for row := range rows {
		var b strings.Builder
		for column := range columns {
			value := 0
			if column < len(values) {
				value = values[column]
			}
			// A column that is there at all is seen: it is rounded up.
			full := (value*chartRows*8 + most - 1) / most
			part := full - 8*(chartRows-1-row)
			switch {
			case part >= 8:
				b.WriteRune('█')
			case part > 0:
				b.WriteRune(eighths[part-1])
			case shaded(column):
				b.WriteRune('░')
			default:
				b.WriteRune(' ')
			}
		}
		rows[row] = b.String()
	}
	return rows
}

// bandLine draws a band as a bar.
func bandLine(one *retry.Scheduled, columns int, width, shaded time.Duration) string {
	var b strings.Builder
	for column := range columns {
		from := time.Duration(column) * width
		switch {
		case one.TotalShortest < from+width && from <= one.TotalLongest:
			b.WriteRune('█')
		case from < shaded:
			b.WriteRune('░')
		default:
			b.WriteRune(' ')
		}
	}
	return b.String()
}

// timeAxis returns a line with ticks, and the times below them.
func timeAxis(columns int, width time.Duration) (line, labels string) {
	const apart = 10 // columns from one tick to the next, at least, so that the times do not touch
	span := time.Duration(columns) * width
	tick := stepOf(span, max(columns/apart, 1))
	var below strings.Builder
	marks := []rune(strings.Repeat("─", columns))
	for at := time.Duration(0); at < span; at += tick {
		column := int(at / width)
		marks[column] = '┬'
		if column+len(axisTime(at)) <= columns { // or its time would stand out
			below.WriteString(strings.Repeat(" ", column-below.Len()) + axisTime(at))
		}
	}
	return string(marks), below.String()
}

// axisTime returns the time of a tick.
func axisTime(at time.Duration) string {
	if at == 0 {
		return "0"
	}
	return term.Span(at)
}
