package report

import (
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
		s = text.Table("", claimRows(p, l.Claims, now)) + "\n" + s
	}
	return s
}

// summary counts the claims by state.
func (l Claims) summary(p *text.Printer) string {
	counts := map[audit.Standing]int64{}
	for i := range l.Claims {
		counts[l.Claims[i].Standing]++
	}
	if len(counts) == 0 {
		return p.Sprintf("No claims.")
	}
	return byState(p, counts) + "."
}

// byState words how many claims stand how, empty where there is none.
func byState(p *text.Printer, counts map[audit.Standing]int64) string {
	var parts []string
	for _, state := range append(claims.OpenStandings(), claims.EndedStandings()...) {
		if n := counts[state]; n > 0 {
			parts = append(parts, p.Sprintf("%s %d", stateNames[state], n))
		}
	}
	return strings.Join(parts, ", ")
}

// claimRows are the rows of claims.
func claimRows(p *text.Printer, all []claims.Claim, now time.Time) [][]string {
	rows := [][]string{{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("REASON")}}
	for i := range all {
		c := &all[i]
		rows = append(rows, []string{text.Line(c.ClaimID), stateWords(p, c, now), ageOf(c, now), retriesOf(c), reasonOf(p, c)})
	}
	return rows
}

// ageOf returns the age of an open claim in whole minutes, hours or days.
func ageOf(c *claims.Claim, now time.Time) string {
	age := c.Age(now)
	switch {
	case !claims.IsOpen(c.Standing):
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

// stateWords returns the state of a claim, with what is known of it.
func stateWords(p *text.Printer, c *claims.Claim, now time.Time) string {
	name := p.Text(stateNames[c.Standing])
	switch {
	case c.Standing == audit.Waiting:
		return p.Sprintf("%s, due in %s", name, p.About(c.NextRetryTime.Sub(now)))
	case c.Standing == audit.Overdue:
		return p.Sprintf("%s for %s", name, p.About(now.Sub(c.NextRetryTime)))
	case c.Standing == audit.Stopped && c.HeldBy != "":
		return name + ": " + withWords(p, c.HeldBy)
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
	case !claims.IsOpen(c.Standing):
		return "-"
	case c.Code != "":
		return text.Line(c.Code)
	case c.Class != "":
		return p.Text(classNames[c.Class])
	default:
		return p.Text(kindTexts[c.Kind])
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
