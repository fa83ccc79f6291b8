package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/text"
)

// The columns of the table: time since the start, what happened, class, what follows.
const (
	heading   = "%-16s  %-52s %9s\n"
	layout    = "%6s  %-38s  %-9s  %s"
	textWidth = 38
	width     = 80
)

// tag is an XML tag. In the table only the text between them is of interest.
var tag = regexp.MustCompile(`<[^<>]*>`)

// row adds a line about the submission that is being dealt with.
func (p *play) row(c *claim, class, then string) {
	said := strings.Join(strings.Fields(tag.ReplaceAllString(c.answer, " ")), " ")
	if said == "" {
		said = "(an error without a text)"
	}
	line := fmt.Sprintf(layout, p.clock(), text.Shorten(said, textWidth), class, then)
	fmt.Fprintln(&c.rows, strings.TrimRight(line, " "))
}

// note adds what else happened: an incident, a correction, a person's decision.
func (p *play) note(c *claim, what string) {
	c.rows.WriteString(text.Hanging(fmt.Sprintf("%6s  ", p.clock()), what))
}

// clock words the time since the start as hours and minutes.
func (p *play) clock() string {
	d := p.now.Sub(p.began)
	return fmt.Sprintf("%d:%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// show prints what happened to each claim.
func (p *play) show(out io.Writer, elapsed time.Duration) {
	ended := map[string]int{}
	fmt.Fprintf(out, layout+"\n", "time", "what happened", "class", "then")
	for _, c := range p.claims {
		ended[c.outcome]++
		fmt.Fprintln(out, strings.Repeat("─", width))
		fmt.Fprintf(out, heading+"%s", c.Claim, c.Shows, c.outcome, c.rows.String())
	}
	fmt.Fprintf(out, `%s

%d claims: %d submitted, %d abandoned, %d incident.
%d submissions, %s on the engine's clock, %.1f s on yours.

Ask the store that the worker has left behind:

%s history CLM-2026-004214
%[9]s claims
%[9]s kpi
`, strings.Repeat("━", width), len(p.claims), ended["SUBMITTED"], ended["ABANDONED"], ended["INCIDENT"],
		p.submissions, text.About(p.now.Sub(p.began)), elapsed.Seconds(), p.store()+" "+p.program.Path)
}
