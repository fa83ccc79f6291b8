package cli

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

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) claims() *cobra.Command {
	command := &cobra.Command{Use: "claims [PART]", Args: cobra.MaximumNArgs(1)}
	flags := command.Flags()
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	with := flags.String("with", "", "only claims that are with this `TEAM`")
	policy := flags.String("policy", "", "only claims about which this policy decided last")
	by := flags.String("by", "", "count them by a column of --csv, as with or cause")
	older := spanFlag(flags, "older-than", "", "only claims so old")
	periodFlags(command, "")
	forSheet := flags.Bool("csv", false, "print CSV, in pt-BR as Excel in Brazil reads it")
	p.answers(command, settings, func(c *call) (any, error) {
		column, now := named(c, "by", "column", *by, columns), p.now()
		query := claims.Query{Part: strings.Join(c.args, "")}
		query.From, query.To = c.period(now, 0)
		if young := now.Add(1 - *older); *older > 0 && (query.To.IsZero() || young.Before(query.To)) {
			query.To = young
		}
		for _, word := range *states {
			query.States = append(query.States, named(c, "state", "standing", word, claims.Standings()))
		}
		if err := c.open(); err != nil {
			return nil, err
		}
		all, err := claims.List(c.Context(), c.store, query, now)
		if err != nil {
			return nil, err
		}
		list, err := chosen(c, all, *with, *policy)
		switch {
		case err != nil:
			return nil, err
		case c.wrong != nil:
			return nil, c.wrong
		case *forSheet:
			return nil, c.w.csv(c.OutOrStdout(), list) // its cells are harmless
		case column != "":
			counts := c.w.counts(list, column)
			c.w.table("", counts)
			return counts, nil
		}
		answer := listed{len(list), list}
		answer.say(c.w, now)
		return answer, nil
	})
	command.MarkFlagsMutuallyExclusive("csv", "json", "by")
	return command
}

// listed is a list of claims. Its JSON form is stable: names are added, never changed.
type listed struct {
	Total  int            `json:"total"`
	Claims []claims.Claim `json:"claims"`
}

// chosen returns the claims that are with a team and about which a policy decided last; either is empty for
// any. A name has to be known: by the policies in force, by the bundled models, or by a claim.
func chosen(c *call, all []claims.Claim, with, policy string) ([]claims.Claim, error) {
	if with == "" && policy == "" {
		return all, nil
	}
	set, err := policies("")
	if err != nil {
		return nil, err
	}
	teams, names := []string{"billing", "registration", "operations"}, append(set.Names(), claims.NoPolicy)
	for _, p := range set.All() {
		for i := range p.Rules {
			teams = append(teams, p.Rules[i].Team)
		}
	}
	for i := range all {
		teams, names = append(teams, all[i].HeldBy), append(names, all[i].Policy)
	}
	with, policy = named(c, "with", "with", with, teams), named(c, "policy", "policy", policy, names)
	return slices.DeleteFunc(all, func(c claims.Claim) bool {
		return with != "" && with != c.HeldBy || policy != "" && policy != c.Policy
	}), nil
}

// named returns the known name that a word of a flag means: it, or what people call it in a language. Without
// a word it is empty.
func named[Name ~string](c *call, flag, group, word string, known []Name) Name {
	if word == "" {
		return ""
	}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	known = slices.DeleteFunc(known, func(name Name) bool { return name == "" })
	var names []string
	for _, name := range known {
		if means(word, group, string(name)) {
			return name
		}
		names = append(names, c.w.Name(group, string(name)))
	}
	c.wrong.when(true, text.Messagef("--%s is %q; known are %s", flag, word, strings.Join(names, ", ")))
	return ""
}

// means reports whether a word is a name of a group, or what people call that in a language.
func means(word, group, name string) bool {
	return strings.EqualFold(word, name) ||
		strings.EqualFold(word, text.In(text.English).Name(group, name)) ||
		strings.EqualFold(word, text.In(text.Portuguese).Name(group, name))
}

// say lists the claims, and counts them by how they stand and with whom they are.
func (l *listed) say(w *wording, now time.Time) {
	if l.Total == 0 {
		w.sayf("No claims.")
		return
	}
	heads := w.heads("CLAIM", "STATE", "AGE", "RETRY", "REASON")
	w.table("", append([][]string{heads}, w.claims(l.Claims, now)...))
	w.WriteString("\n" + text.Wrap("", w.census(l.Claims)))
}

// census counts claims by how they stand and with whom they are.
func (w *wording) census(all []claims.Claim) string {
	var counts []string
	for _, column := range []string{"state", "with"} {
		var parts []string
		for _, row := range w.counts(all, column) {
			if row[1] != "-" {
				parts = append(parts, row[1]+" "+row[0])
			}
		}
		if parts != nil {
			counts = append(counts, strings.Join(parts, ", "))
		}
	}
	return strings.Join(counts, "; ") + "."
}

// claims are the rows of claims.
func (w *wording) claims(all []claims.Claim, now time.Time) (rows [][]string) {
	for i := range all {
		c := &all[i]
		age, retries := "-", "-"
		if claims.IsOpen(c.Standing) {
			age = w.About(now.Sub(c.Opened))
		}
		if c.MaxRetries > 0 {
			retries = fmt.Sprintf("%d/%d", c.RetryCount, c.MaxRetries)
		}
		rows = append(rows, []string{c.ClaimID, w.standing(c, now), age, retries, cmp.Or(w.reason(c), "-")})
	}
	return rows
}

// standing words how a claim stands, with what is known of it.
func (w *wording) standing(c *claims.Claim, now time.Time) string {
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
func (w *wording) with(c *claims.Claim) string {
	if c.Standing != audit.Stopped {
		return ""
	}
	return w.Name("with", c.HeldBy)
}

// reason words why an open claim has failed: what is wrong with its input, else what its rule found. It is
// empty where neither is known, as of a claim that a person sent again.
func (w *wording) reason(c *claims.Claim) string {
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
	message = strings.TrimPrefix(message, "INVALID_ERROR_MESSAGE: ")
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
func (w *wording) cells(c *claims.Claim) []string {
	standing, policy := w.Name("standing", string(c.Standing)), w.Name("policy", c.Policy)
	cells := []string{c.ClaimID, standing, w.with(c), policy}
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

// csv writes the claims for a spreadsheet. One in Portuguese knows a file for UTF-8 by its first character,
// and takes a comma for a part of a number.
func (w *wording) csv(out io.Writer, list []claims.Claim) error {
	file, rows := csv.NewWriter(out), [][]string{nil}
	if w.Language() == text.Portuguese {
		file.Comma = ';'
		_, _ = io.WriteString(out, "\ufeff") // if this fails, what follows does
	}
	for _, name := range columns {
		rows[0] = append(rows[0], w.Name("column", name))
	}
	for i := range list {
		rows = append(rows, w.cells(&list[i]))
		for n, cell := range rows[i+1] {
			rows[i+1][n] = spreadsheetSafe(cell)
		}
	}
	return file.WriteAll(rows)
}

// spreadsheetSafe returns a cell that a spreadsheet neither takes for a formula nor writes anew as a number,
// such as 007 and 1E5, without control characters.
func spreadsheetSafe(cell string) string {
	const digits = 11 // of more Excel shows no number as it is
	cell = text.Line(cell)
	isFormula := cell != "" && cell != "-" && strings.ContainsRune("=+-@\t", rune(cell[0]))
	n, err := strconv.ParseFloat(cell, 64)
	isNumber := err == nil && (strconv.FormatFloat(n, 'f', -1, 64) != cell || len(cell) > digits)
	if isFormula || isNumber {
		return "'" + cell
	}
	return cell
}

// counts counts claims by a column: rows of a number and what it is of, the largest first.
func (w *wording) counts(list []claims.Claim, column string) (rows [][]string) {
	counts, at := map[string]int{}, slices.Index(columns, column)
	for i := range list {
		counts[cmp.Or(w.cells(&list[i])[at], "-")]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for _, name := range names {
		rows = append(rows, []string{strconv.Itoa(counts[name]), name})
	}
	return rows
}
