package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/text"
)

// Claims is a list of claims. Its JSON form is stable: names are added, never changed.
type Claims struct {
	Total  int            `json:"total"`
	Claims []claims.Claim `json:"claims"`
}

// Text lists the claims, and counts them by how they stand.
func (l Claims) Text(p *text.Printer, now time.Time) string {
	if len(l.Claims) == 0 {
		return p.Sprintf("No claims.") + "\n"
	}
	counts := map[audit.Standing]int64{}
	for i := range l.Claims {
		counts[l.Claims[i].Standing]++
	}
	var parts []string
	for _, standing := range append(claims.OpenStandings(), claims.EndedStandings()...) {
		if n := counts[standing]; n > 0 {
			parts = append(parts, p.Sprintf("%s %d", p.Name("standing", string(standing)), n))
		}
	}
	return text.Table("", claimRows(p, l.Claims, now)) + "\n" + text.Wrap(strings.Join(parts, ", ")+".", "")
}

// claimRows are the rows of claims.
func claimRows(p *text.Printer, all []claims.Claim, now time.Time) [][]string {
	w := words{p}
	rows := [][]string{
		{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("REASON")},
	}
	for i := range all {
		c := &all[i]
		age, retries, reason := "-", "-", "-"
		if claims.IsOpen(c.Standing) {
			age, reason = p.About(c.Age(now)), w.reason(c)
		}
		if c.MaxRetries > 0 {
			retries = fmt.Sprintf("%d/%d", c.RetryCount, c.MaxRetries)
		}
		rows = append(rows, []string{c.ClaimID, w.standing(c, now), age, retries, reason})
	}
	return rows
}

// standing words how a claim stands, with what is known of it.
func (w words) standing(c *claims.Claim, now time.Time) string {
	name := w.Name("standing", cmp.Or(string(c.Standing), "none"))
	switch {
	case c.Standing == audit.Waiting:
		return w.Sprintf("%s, due in %s", name, w.About(c.NextRetryTime.Sub(now)))
	case c.Standing == audit.Overdue:
		return w.Sprintf("%s for %s", name, w.About(now.Sub(c.NextRetryTime)))
	case c.Standing == audit.Stopped && c.HeldBy != "":
		return name + ": " + w.Name("with", c.HeldBy)
	case c.DecidedBy != "":
		return w.Sprintf("%s, by %s", name, w.Name("with", c.DecidedBy))
	}
	return name
}

// reason returns why an open claim has failed: the code that matched, else the class of the error, else what
// was recorded last.
func (w words) reason(c *claims.Claim) string {
	switch {
	case c.Code != "":
		return c.Code
	case c.Class != "":
		return w.Name("class", string(c.Class))
	default:
		return w.Name("kind", c.Kind.String())
	}
}

// csvColumns are members of the JSON form of a claim.
var csvColumns = []string{
	"claimId", "state", "policy", "since", "opened", "nextRetryTime", "retryCount", "maxRetries", "kind",
	"errorClassification", "ruleId", "matchedCode", "with", "decidedBy", "processInstanceKey",
}

// ClaimsCSV writes claims as CSV, by the names of the JSON form.
func ClaimsCSV(out io.Writer, all []claims.Claim) error {
	w := csv.NewWriter(out)
	_ = w.Write(csvColumns) // Flush keeps the error
	for i := range all {
		var fields map[string]any
		b, err := json.Marshal(&all[i])
		if err = errors.Join(err, json.Unmarshal(b, &fields)); err != nil {
			return err
		}
		row := make([]string, len(csvColumns))
		for n, name := range csvColumns {
			if cell, known := fields[name]; known {
				row[n] = spreadsheetSafe(fmt.Sprint(cell))
			}
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
