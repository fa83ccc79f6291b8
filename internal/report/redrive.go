package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/text"
)

// RedriveText says that a claim is sent again, or would be.
func RedriveText(c *redrive.Claim, order redrive.Order, now time.Time) string {
	claim, stood, when := text.Line(c.ClaimID), english.standing(&c.Known, now), "now"
	if advice := english.advice(c.Facts.RetryDecision.Advice); advice != "" {
		stood += "; " + advice
	}
	if wait, err := contract.ParseISODuration(c.Wait); err == nil && wait > 0 {
		when = fmt.Sprintf("in %s, as retry %d", text.Span(wait), c.RetryCount+1)
	}
	if c.Result == redrive.Planned {
		return fmt.Sprintf("Claim %s would be sent again %s.\n", claim, when) + text.Hanging("It: ", stood)
	}
	return fmt.Sprintf("Claim %s is sent again %s.\n", claim, when) + text.Hanging("Before: ", stood) +
		text.Hanging("Record: ", fmt.Sprintf("%s at %s, ordered by %s, redrive %s", c.Recorded, text.Time(c.RecordedAt), text.Line(order.DecidedBy), c.RedriveID)) +
		text.Hanging("Reason: ", text.Line(order.Justification))
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

// Preview lists the claims that were chosen among the decisions since a time ago, before anything is sent,
// and which of them may have arrived all the same.
func (r *Redrive) Preview(since time.Duration) string {
	var b strings.Builder
	rows := [][]string{{"STATUS", "RULE", "DECIDED", "SEND", "CLAIM"}}
	refused, check := map[redrive.Fault]int{}, 0
	for i := range r.Claims {
		c := &r.Claims[i]
		send := "yes"
		switch {
		case c.Fault != "":
			send = "no"
			refused[c.Fault]++
		case c.Advice != "":
			send = c.Advice
			check++
		}
		rows = append(rows, []string{
			redrive.Status(&c.Claim), text.Line(c.Rule), text.Minute(c.Last.At), send, text.Line(c.ClaimID),
		})
	}
	if r.Selected > 0 {
		b.WriteString(text.Table("", rows) + "\n")
	}
	fmt.Fprintf(&b, "%s chosen, of the decisions of the last %s; %d to send again.\n",
		text.Count(r.Selected, "claim"), text.Span(since), r.Count(redrive.Planned))
	if check > 0 {
		fmt.Fprintf(&b, "%d of them may have arrived (CHECK_STATUS): ask for the protocol's status first.\n", check)
	}
	for _, fault := range []redrive.Fault{redrive.MaxRetriesExceeded, redrive.InvalidRetryState} {
		if n := refused[fault]; n > 0 {
			fmt.Fprintf(&b, "%d not without --force: %s.\n", n, fault)
		}
	}
	return b.String()
}

// Results lists what became of each claim.
func (r *Redrive) Results() string {
	var b strings.Builder
	for i := range r.Claims {
		c := &r.Claims[i]
		became := c.Message
		switch {
		case c.Fault != "":
			became = string(c.Fault) + ": " + became
		case c.Result == redrive.Done:
			became = c.Recorded.String()
		}
		b.WriteString(text.Hanging(fmt.Sprintf("%-11s  ", c.Result), text.Line(c.ClaimID)+"  "+text.Line(became)))
	}
	return b.String()
}

// Summary counts the results.
func (r *Redrive) Summary() string {
	if r.DryRun {
		return "Nothing was sent: a dry run.\n"
	}
	parts := []string{fmt.Sprintf("\n%d of %s sent again", r.Done, text.Count(r.Selected, "claim"))}
	for _, result := range []redrive.Result{redrive.Refused, redrive.Unconfirmed, redrive.Failed, redrive.NotTried} {
		if n := r.Count(result); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(result), "_", " ")))
		}
	}
	return strings.Replace(strings.Join(parts, ", "), ", ", "; ", 1) + ".\n"
}
