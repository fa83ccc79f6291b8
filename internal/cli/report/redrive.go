package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/text"
)

// RedriveText returns the result of redriving a claim, or the expected result of a dry run, with the reason.
func RedriveText(c *redrive.Claim) string {
	var became string
	switch {
	case c.Finding != nil:
		became = c.Finding.Check + ": " + c.Finding.What
	case c.Result == redrive.Done:
		became = fmt.Sprintf("%s at %s", c.Recorded, text.Time(c.RecordedAt))
	case c.Result == redrive.Planned:
		became = english.advice(c.Facts.RetryDecision.Advice)
	}
	if c.Wait != "" {
		became += fmt.Sprintf(", retry %d in %s", c.RetryCount+1, english.iso(c.Wait))
	}
	return text.Hanging(fmt.Sprintf("%-11s  ", c.Result), text.Line(c.ClaimID+"  "+became))
}

// Redrive is what redrive answers about several claims. Its JSON form is stable.
type Redrive struct {
	DryRun   bool `json:"dryRun"`
	Selected int  `json:"selected"`
	// Done are the claims that are sent again, NotDone all others.
	Done    int             `json:"done"`
	NotDone int             `json:"notDone"`
	Claims  []redrive.Claim `json:"claims"`
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

// Preview lists the claims that were chosen among the decisions since a time ago, before anything is sent:
// whether they are sent again, why not, and which of them may have arrived all the same.
func (r *Redrive) Preview(since time.Duration) string {
	rows := [][]string{{"STATUS", "RULE", "SEND", "CLAIM"}}
	check, refused := 0, map[string]int{}
	for i := range r.Claims {
		c := &r.Claims[i]
		send := cmp.Or(c.Advice, "yes")
		if c.Finding != nil {
			send = c.Finding.Check
			refused[c.Finding.Check+": "+c.Finding.What]++
		} else if c.Advice != "" {
			check++
		}
		rows = append(rows, []string{redrive.Status(&c.Claim), c.Rule, send, c.ClaimID})
	}
	var b strings.Builder
	b.WriteString(text.Table("", rows))
	fmt.Fprintf(&b, "\n%s chosen, of the decisions of the last %s; %d to send again.\n",
		text.Count(r.Selected, "claim"), text.Span(since), r.Count(redrive.Planned))
	if check > 0 {
		fmt.Fprintf(&b, "%d may have arrived (CHECK_STATUS): ask for the protocol's status first.\n", check)
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		b.WriteString(text.Hanging(fmt.Sprintf("%d not: ", refused[why]), text.Line(why)))
	}
	return b.String()
}

// Results lists what became of each claim.
func (r *Redrive) Results() (s string) {
	for i := range r.Claims {
		s += RedriveText(&r.Claims[i])
	}
	return s
}

// Summary counts what was done.
func (r *Redrive) Summary() string {
	if r.DryRun {
		return "Nothing was sent: a dry run.\n"
	}
	return fmt.Sprintf("\n%d of %s sent again.\n", r.Done, text.Count(r.Selected, "claim"))
}
