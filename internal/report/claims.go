package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Claims is a list of claims. Its JSON form is stable: names are added, never changed.
type Claims struct {
	Total  int            `json:"total"`
	Claims []claims.Claim `json:"claims"`
}

// stateNames are the states in words.
var stateNames = map[audit.Standing]text.Message{
	audit.Waiting:    text.Messagef("waiting"),
	audit.Overdue:    text.Messagef("overdue"),
	audit.Stopped:    text.Messagef("stopped"),
	audit.DeadLetter: text.Messagef("dead letter"),
	audit.Incident:   text.Messagef("incident"),
	audit.Redriven:   text.Messagef("sent again"),
	audit.Submitted:  text.Messagef("accepted"),
	audit.Abandoned:  text.Messagef("abandoned"),
}

// withNames are the words of the task headers onExhausted and onPermanent that this project's models use. Others stay as they are.
var withNames = map[string]text.Message{
	"billing": text.Messagef("billing"), "registration": text.Messagef("registration"), "dead-letter": text.Messagef("the dead letters"), "administration": text.Messagef("administration"), "operations": text.Messagef("operations"),
}

// Text lists the claims, and counts them by state.
func (l Claims) Text(p *text.Printer, now time.Time) string {
	s := text.Wrap(l.summary(p), "")
	if len(l.Claims) > 0 {
		s = text.Table("", narrowRows(p, l.Claims, now)) + "\n" + s
	}
	return s
}

// summary counts the claims by state.
func (l Claims) summary(p *text.Printer) string {
	counts := map[audit.Standing]int{}
	for i := range l.Claims {
		counts[l.Claims[i].State]++
	}
	var parts []string
	for _, state := range append(claims.OpenStandings(), claims.EndedStandings()...) {
		if n := counts[state]; n > 0 {
			parts = append(parts, p.Sprintf("%s %d", stateNames[state], n))
		}
	}
	if parts == nil {
		return p.Sprintf("No claims.")
	}
	return strings.Join(parts, ", ") + "."
}

// narrowRows are the rows of claims that fit a terminal.
func narrowRows(p *text.Printer, all []claims.Claim, now time.Time) [][]string {
	rows := [][]string{{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("REASON")}}
	for i := range all {
		c := &all[i]
		rows = append(rows, []string{text.Line(c.ClaimID), stateWords(p, c, now), ageOf(c, now), retriesOf(c), shortReason(p, c)})
	}
	return rows
}

// ageOf returns the age of an open claim in whole minutes, hours or days.
func ageOf(c *claims.Claim, now time.Time) string {
	age := c.Age(now)
	switch {
	case !claims.IsOpen(c.State):
		return "-"
	case age < time.Hour:
		return fmt.Sprintf("%d min", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", age/time.Hour)
	default:
		return fmt.Sprintf("%d d", age/(24*time.Hour))
	}
}

func retriesOf(c *claims.Claim) string {
	if c.MaxRetries == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.RetryCount, c.MaxRetries)
}

// wideRows are the rows of claims for a page.
func wideRows(p *text.Printer, all []claims.Claim, now time.Time) [][]string {
	rows := [][]string{{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("SINCE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("POLICY"), p.Sprintf("REASON")}}
	for i := range all {
		c := &all[i]
		rows = append(rows, []string{text.Line(c.ClaimID), stateWords(p, c, now), p.Minute(c.Since), ageOf(c, now), retriesOf(c), c.Policy, reasonOf(p, c)})
	}
	return rows
}

// stateWords returns the state of a claim, with what is known of it.
func stateWords(p *text.Printer, c *claims.Claim, now time.Time) string {
	name := p.Text(stateNames[c.State])
	switch {
	case c.State == audit.Waiting:
		return p.Sprintf("%s, due in %s", name, p.About(c.NextRetryTime.Sub(now)))
	case c.State == audit.Overdue:
		return p.Sprintf("%s for %s", name, p.About(now.Sub(c.NextRetryTime)))
	case c.State == audit.Stopped && c.With != "":
		return name + ": " + withWords(p, c.With)
	case c.DecidedBy != "":
		return p.Sprintf("%s, by %s", name, text.Line(c.DecidedBy))
	}
	return name
}

func withWords(p *text.Printer, with string) string {
	if name, known := withNames[with]; known {
		return p.Text(name)
	}
	return text.Line(with)
}

// reasonOf returns why an open claim has failed: the code that matched, else the class of the error, else what was recorded last.
func reasonOf(p *text.Printer, c *claims.Claim) string {
	switch {
	case !claims.IsOpen(c.State):
		return "-"
	case c.MatchedCode != "":
		return text.Line(c.MatchedCode)
	case c.Classification != "":
		if s, known := classNames[retry.Class(c.Classification)]; known {
			return p.Text(s)
		}
		return text.Line(c.Classification)
	}
	for kind, s := range kindTexts {
		if kind.String() == c.Kind {
			return p.Text(s)
		}
	}
	return text.Line(c.Kind)
}

// shortReason returns the reason without the code that a translation has behind it in brackets, in at most 17 characters.
func shortReason(p *text.Printer, c *claims.Claim) string {
	reason := reasonOf(p, c)
	if c.MatchedCode == "" {
		reason, _, _ = strings.Cut(reason, " (")
	}
	return text.Shorten(reason, 17)
}

// ClaimsCSV writes claims as CSV, with the names of the JSON form and times in RFC 3339.
func ClaimsCSV(out io.Writer, all []claims.Claim) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{ // Flush keeps the error
		"claimId", "state", "policy", "since", "opened", "nextRetryTime", "retryCount", "maxRetries", "kind",
		"errorClassification", "ruleId", "matchedCode", "with", "decidedBy", "processInstanceKey",
	})
	instant := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for i := range all {
		c := &all[i]
		row := []string{
			c.ClaimID, string(c.State), c.Policy, instant(c.Since), instant(c.Opened), instant(c.NextRetryTime),
			strconv.Itoa(c.RetryCount), strconv.Itoa(c.MaxRetries), c.Kind, c.Classification, c.RuleID,
			c.MatchedCode, c.With, c.DecidedBy, c.ProcessInstanceKey,
		}
		for n, cell := range row {
			row[n] = spreadsheetSafe(cell)
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// spreadsheetSafe returns a cell that a spreadsheet does not take for a formula, without control characters.
func spreadsheetSafe(cell string) string {
	cell = text.Line(cell)
	if cell != "" && cell != "-" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
