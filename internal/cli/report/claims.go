package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/text"
)

// Claims is a list of claims.
type Claims []claims.Claim

// Text lists the claims, and counts them by how they stand and with whom they are.
func (l Claims) Text(p *text.Printer, now time.Time) string {
	if len(l) == 0 {
		return p.Sprintf("No claims.") + "\n"
	}
	footer := l.By(p, "state").line()
	if with := l.By(p, "with").line(); with != "" {
		footer += "; " + with
	}
	return text.Table("", claimRows(p, l, now)) + "\n" + text.Wrap(footer+".", "")
}

// claimRows are the rows of claims.
func claimRows(p *text.Printer, all []claims.Claim, now time.Time) [][]string {
	w := words{p}
	rows := [][]string{
		{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("REASON")},
	}
	for i := range all {
		c := &all[i]
		age, retries := "-", "-"
		if claims.IsOpen(c.Standing) {
			age = p.About(c.Age(now))
		}
		if c.MaxRetries > 0 {
			retries = fmt.Sprintf("%d/%d", c.RetryCount, c.MaxRetries)
		}
		rows = append(rows, []string{c.ClaimID, w.standing(c, now), age, retries, cmp.Or(w.reason(c), "-")})
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
	case w.with(c) != "":
		return name + ": " + w.with(c)
	case c.DecidedBy != "":
		return w.Sprintf("%s, by %s", name, w.Name("with", c.DecidedBy))
	}
	return name
}

// with names the team with which a stopped claim is, empty where that is not known.
func (w words) with(c *claims.Claim) string {
	if c.Standing != audit.Stopped {
		return ""
	}
	return w.Name("with", c.HeldBy)
}

// reason words why an open claim has failed: what is wrong with its input, else what its rule found. It is
// empty where neither is known, as of a claim that a person sent again.
func (w words) reason(c *claims.Claim) string {
	switch {
	case c.Standing == audit.Incident:
		return cmp.Or(fault(c.Message), w.Name("kind", c.Kind.String()))
	case c.Rule == "":
		return ""
	default:
		return w.cause(c.Rule, c.Code)
	}
}

// fault returns what the message of an incident says is wrong, in the language that it is in: without what it
// begins with, and without the advice at its end.
func fault(message string) string {
	_, message, _ = strings.Cut(message, ": ")
	if end := strings.LastIndex(message, ". "); end >= 0 {
		message = message[:end]
	}
	return message
}

// columns are what is said of each claim for a spreadsheet, by which claims are counted too. Keys of more
// than 15 digits are not among them: a spreadsheet rounds them.
var columns = []string{
	"claimId", "state", "with", "policy", "since", "opened", "nextRetryTime", "retryCount", "cause",
	"decidedBy",
}

// cells are what is said of a claim, by columns.
func (w words) cells(c *claims.Claim) []string {
	cells := []string{c.ClaimID, w.Name("standing", string(c.Standing)), w.with(c), c.Policy}
	for _, at := range []time.Time{c.Since, c.Opened, c.NextRetryTime} {
		cell := ""
		if !at.IsZero() {
			cell = w.Time(at)
		}
		cells = append(cells, cell)
	}
	by := w.Name("with", c.DecidedBy)
	return append(cells, strconv.Itoa(c.RetryCount), w.reason(c), by)
}

// CSV writes the claims for a spreadsheet. One in Portuguese knows a file for UTF-8 by its first character,
// and takes a comma for a part of a number.
func (l Claims) CSV(out io.Writer, p *text.Printer) error {
	rows, heads := csv.NewWriter(out), slices.Clone(columns)
	if p.Language() == text.Portuguese {
		rows.Comma = ';'
		if _, err := io.WriteString(out, "\ufeff"); err != nil {
			return err
		}
	}
	for i, name := range heads {
		heads[i] = p.Name("column", name)
	}
	_ = rows.Write(heads) // Flush keeps the error
	for i := range l {
		cells := words{p}.cells(&l[i])
		for n, cell := range cells {
			cells[n] = spreadsheetSafe(cell)
		}
		_ = rows.Write(cells)
	}
	rows.Flush()
	return rows.Error()
}

// spreadsheetSafe returns a cell that a spreadsheet does not take for a formula, without control characters.
func spreadsheetSafe(cell string) string {
	cell = text.Line(cell)
	if cell != "" && cell != "-" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// Counts are how many claims are alike in one of the columns.
type Counts map[string]int

// By counts the claims by a column.
func (l Claims) By(p *text.Printer, column string) Counts {
	counts, at := Counts{}, slices.Index(columns, column)
	for i := range l {
		counts[words{p}.cells(&l[i])[at]]++
	}
	return counts
}

// names are those of the counts, the largest first.
func (c Counts) names() []string {
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(c[b]-c[a], strings.Compare(a, b))
	})
}

// Text lists the counts.
func (c Counts) Text() string {
	var rows [][]string
	for _, name := range c.names() {
		rows = append(rows, []string{strconv.Itoa(c[name]), cmp.Or(name, "-")})
	}
	return text.Table("", rows)
}

// line lists the counts on a line, but for the claims of which nothing is said.
func (c Counts) line() string {
	var parts []string
	for _, name := range c.names() {
		if name != "" {
			parts = append(parts, fmt.Sprintf("%s %d", name, c[name]))
		}
	}
	return strings.Join(parts, ", ")
}
