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

// countable are the columns by which claims are counted.
var countable = []string{"with", "cause", "policy", "state"}

func (p *program) claims() *cobra.Command {
	command := &cobra.Command{
		Use:   "claims [PART]",
		Short: "List where every claim is, and for how long",
		Long: `Lists the claims that failed and have not ended, the oldest first, or with PART
those with it in their ID, ended ones too: waiting for their next retry, overdue
(its time has come, and nothing was heard since), stopped by a BPMN error,
dead-letter, incident (the input was rejected), or redriven by a person.

--state submitted and --state abandoned list claims that ended, without --from
those of the 30 days before --to or before now.`,
		Example: `  worker claims --state stopped,dead-letter --older-than 2d`,
		Args:    cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	states := flags.StringSlice("state", nil, "only these states, with commas between them")
	with := flags.String("with", "", "only claims that are with this `TEAM`")
	policy := flags.String("policy", "", "only claims about which this policy decided last")
	by := flags.String("by", "", "count them by with, cause, policy or state")
	older := spanFlag(flags, "older-than", "", "only claims so old")
	periodIn := periodFlags(command)
	forSheet := flags.Bool("csv", false, "print CSV, in pt-BR as Excel in Brazil reads it")
	p.answers(command, aStore, func(c *call) (any, string, error) {
		column, err := named("by", "column", *by, countable)
		if err != nil {
			return nil, "", err
		}
		now := p.now()
		within := periodIn(now, c.printer.Location())
		query := claims.Query{Part: strings.Join(c.args, ""), From: within.from, To: within.to}
		if *older > 0 {
			query.To = now.Add(1 - *older)
		}
		for _, word := range *states {
			state, err := named("state", "standing", word, claims.Standings())
			if err != nil {
				return nil, "", err
			}
			query.States = append(query.States, state)
		}
		all, err := claims.List(c.Context(), c.store, query, now)
		if err != nil {
			return nil, "", err
		}
		list, err := chosen(all, *with, *policy)
		switch {
		case err != nil:
			return nil, "", err
		case *forSheet:
			return nil, "", list.CSV(c.OutOrStdout(), c.printer) // its cells are harmless
		case column != "":
			return nil, list.By(c.printer, column).Text(), nil
		}
		return listed{len(list), list}, list.Text(c.printer, now), nil
	})
	command.MarkFlagsMutuallyExclusive("csv", "json", "by")
	for _, end := range []string{"to", "day", "week", "month"} {
		command.MarkFlagsMutuallyExclusive("older-than", end)
	}
	return command
}

// listed is a list of claims. Its JSON form is stable: names are added, never changed.
type listed struct {
	Total  int       `json:"total"`
	Claims claimList `json:"claims"`
}

// chosen returns the claims that are with a team and about which a policy decided last; either is empty for
// any. A name has to be known: by the policies in force, by the bundled models, or by a claim.
func chosen(all claimList, with, policy string) (claimList, error) {
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
	with, noTeam := named("with", "with", with, teams)
	policy, noPolicy := named("policy", "policy", policy, names)
	return slices.DeleteFunc(all, func(c claims.Claim) bool {
		return with != "" && with != c.HeldBy || policy != "" && policy != c.Policy
	}), cmp.Or(noTeam, noPolicy)
}

// named returns the known name that a word of a flag means: it, or what people call it in a language. Without
// a word it is empty.
func named[Name ~string](flag, group, word string, known []Name) (Name, error) {
	if word == "" {
		return "", nil
	}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	known = slices.DeleteFunc(known, func(name Name) bool { return name == "" })
	for _, name := range known {
		for _, called := range []string{
			string(name),
			text.In(text.English).Name(group, string(name)),
			text.In(text.Portuguese).Name(group, string(name)),
		} {
			if strings.EqualFold(word, called) {
				return name, nil
			}
		}
	}
	return "", usageError{text.Messagef("--%s is %q; known are %s", flag, word, fmt.Sprint(known))}
}

// claimList is a list of claims.
type claimList []claims.Claim

// Text lists the claims, and counts them by how they stand and with whom they are.
func (l claimList) Text(p *text.Printer, now time.Time) string {
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
	w := wording{p}
	rows := [][]string{
		{p.Sprintf("CLAIM"), p.Sprintf("STATE"), p.Sprintf("AGE"), p.Sprintf("RETRY"), p.Sprintf("REASON")},
	}
	for i := range all {
		c := &all[i]
		age, retries := "-", "-"
		if claims.IsOpen(c.Standing) {
			age = p.About(now.Sub(c.Opened))
		}
		if c.MaxRetries > 0 {
			retries = fmt.Sprintf("%d/%d", c.RetryCount, c.MaxRetries)
		}
		rows = append(rows, []string{c.ClaimID, w.standing(c, now), age, retries, cmp.Or(w.reason(c), "-")})
	}
	return rows
}

// standing words how a claim stands, with what is known of it.
func (w wording) standing(c *claims.Claim, now time.Time) string {
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
func (w wording) with(c *claims.Claim) string {
	if c.Standing != audit.Stopped {
		return ""
	}
	return w.Name("with", c.HeldBy)
}

// reason words why an open claim has failed: what is wrong with its input, else what its rule found. It is
// empty where neither is known, as of a claim that a person sent again.
func (w wording) reason(c *claims.Claim) string {
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
func (w wording) cells(c *claims.Claim) []string {
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
func (l claimList) CSV(out io.Writer, p *text.Printer) error {
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
		cells := wording{p}.cells(&l[i])
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

// counts are how many claims are alike in one of the columns.
type counts map[string]int

// By counts the claims by a column.
func (l claimList) By(p *text.Printer, column string) counts {
	n, at := counts{}, slices.Index(columns, column)
	for i := range l {
		n[wording{p}.cells(&l[i])[at]]++
	}
	return n
}

// names are those of the counts, the largest first.
func (c counts) names() []string {
	return slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(c[b]-c[a], strings.Compare(a, b))
	})
}

// Text lists the counts.
func (c counts) Text() string {
	var rows [][]string
	for _, name := range c.names() {
		rows = append(rows, []string{strconv.Itoa(c[name]), cmp.Or(name, "-")})
	}
	return text.Table("", rows)
}

// line lists the counts on a line, but for the claims of which nothing is said.
func (c counts) line() string {
	var parts []string
	for _, name := range c.names() {
		if name != "" {
			parts = append(parts, fmt.Sprintf("%s %d", name, c[name]))
		}
	}
	return strings.Join(parts, ", ")
}
