package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/text"
)

// Redrive is what redrive answers about the claims that were chosen. Its JSON form is stable; before they are
// sent it is a plan.
type Redrive struct {
	Claims []redrive.Claim `json:"claims"`
}

// Count returns how many claims have this result.
func (r *Redrive) Count(result redrive.Result) (n int) {
	for i := range r.Claims {
		if r.Claims[i].Result == result {
			n++
		}
	}
	return n
}

// Preview lists the claims of a plan, with where they were chosen from: which may have arrived, whether they
// are to be sent again, and why not.
func (r *Redrive) Preview(p *text.Printer, from text.Message) string {
	rows := [][]string{
		{p.Sprintf("STATUS"), p.Sprintf("RULE"), p.Sprintf("CHECK"), p.Sprintf("SEND"), p.Sprintf("CLAIM")},
	}
	arrived, refused := 0, map[string]int{}
	for i := range r.Claims {
		c := &r.Claims[i]
		send := p.Sprintf("yes")
		if c.Result != redrive.Planned {
			send = p.Sprintf("no")
			refused[why(p, c)]++
		}
		if c.Check != "" {
			arrived++
		}
		rows = append(rows, []string{redrive.Status(&c.Claim), c.Rule, c.Check, send, c.ClaimID})
	}
	var b strings.Builder
	planned := r.Count(redrive.Planned)
	b.WriteString(text.Table("", rows) + "\n")
	b.WriteString(p.Sprintf("%d claims %s; %d to send again.", len(r.Claims), from, planned) + "\n")
	if arrived > 0 {
		b.WriteString(text.Wrap(p.Sprintf("%d of these may have arrived: CHECK_STATUS after a time-out or "+
			"a lost connection, for example, DUPLICATE where the insurer says so.", arrived), ""))
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		b.WriteString(text.Hanging(p.Sprintf("%d not: ", refused[why]), text.Line(why)))
	}
	b.WriteString(p.Sprintf("Nothing was sent. With --json this is a plan, for --plan and --reason.") + "\n")
	return b.String()
}

// Results lists what became of each claim.
func (r *Redrive) Results(p *text.Printer) (s string) {
	for i := range r.Claims {
		c := &r.Claims[i]
		became := why(p, c)
		if c.Result == redrive.Done {
			became = p.Name("kind", c.Recorded.String())
		}
		s += text.Hanging(fmt.Sprintf("%-11s  ", c.Result), text.Line(c.ClaimID+"  "+became))
	}
	return s
}

// why says why a claim is not sent again, after the name of the fault where that has one.
func why(p *text.Printer, c *redrive.Claim) string {
	if c.Fault == "" {
		return p.Text(c.Why)
	}
	return string(c.Fault) + ": " + p.Text(c.Why)
}
