package cli

import (
	_ "embed" // of the style
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) report() *cobra.Command {
	command := &cobra.Command{
		Use:   "report",
		Short: "Write the report of a month, week or day for a manager",
		Long: `Writes two pages about a time, by default the last month: claims by outcome,
KPIs against targets, causes, the oldest claims that were open at its end. It
verifies the audit trail, if the key is there, and exits with 1 where that was
changed. Of a past time it is the same whenever it is written.`,
		Example: `  worker report --month 2026-11 --lang pt-BR --format html > novembro.html`,
	}
	periodIn := periodFlags(command)
	format := command.Flags().String("format", "text", "text or html")
	dir := command.Flags().String("dir", "", "directory to write a file into, whose path is printed")
	p.answers(command, aStore, func(c *call) (any, string, error) {
		form, err := named("format", "format", *format, []string{"text", "html"})
		if err != nil {
			return nil, "", err
		}
		now, zone := p.now(), c.printer.Location()
		within := periodIn(now, zone)
		if within == (period{}) {
			within = calendar[2].period(dayOf(now.In(zone)), -1, zone) // the last month
		}
		within, err = within.until(now, 31*day)
		if err != nil {
			return nil, "", err
		}
		r, broken, err := reported(c, within, now)
		if err != nil {
			return nil, "", err
		}
		words := r.document(c.printer).text()
		if form == "html" {
			words = r.document(c.printer).page()
		}
		if *dir == "" {
			return r, words, broken
		}
		first, last := within.from.In(zone), within.to.In(zone).Add(-time.Nanosecond)
		path := filepath.Join(*dir, fmt.Sprintf("report_%s_%s.%s", first.Format(time.DateOnly),
			last.Format(time.DateOnly), map[string]string{"text": "txt", "html": "html"}[form]))
		err = os.WriteFile(path, []byte(words), 0o640) //nolint:gosec // for its group too
		if err != nil {
			return nil, "", err
		}
		return nil, path + "\n", broken
	})
	command.MarkFlagsMutuallyExclusive("dir", "json")
	return command
}

// mostOpen is how many open claims a report lists at most.
const mostOpen = 10

// reported makes the report of a period. broken is what is wrong with the audit trail, which the report says
// too. Without the key (its public half will do) the trail is not verified, and the report says so.
func reported(c *call, within period, now time.Time) (r managerReport, broken, err error) {
	r.WrittenAt = now.UTC().Truncate(time.Second)
	public, err := audit.LoadPublic(c.cfg.AuditKey())
	if err != nil {
		r.NotVerified = text.Messagef("%s", err.Error())
	} else {
		_, broken = audit.Verify(c.Context(), c.store, public, nil)
	}
	where, is := errors.AsType[*audit.BrokenError](broken)
	switch {
	case is: // the same words whatever the store's place
		r.NotVerified = where.Message()
		broken = text.Messagef("the audit trail is not verified: %s", r.NotVerified)
	case broken != nil:
		r.NotVerified = text.Messagef("%s", broken.Error())
	}
	measured, open, err := measure(c, within)
	r.kpis, r.Oldest, r.Open = measured, open[:min(mostOpen, len(open))], len(open)
	return r, broken, err
}

// managerReport is what a manager reads about a time. Its JSON form is stable.
type managerReport struct {
	kpis

	WrittenAt time.Time `json:"writtenAt"`
	// Oldest are the claims that had been open longest at the end of the time, of so many.
	Oldest []claims.Claim `json:"oldest"`
	Open   int            `json:"open"`
	// NotVerified is why the audit trail was not verified, empty where it is in order.
	NotVerified text.Message `json:"notVerified,omitzero"`
}

// mostCauses is how many causes of a policy a report lists at most.
const mostCauses = 12

// document returns the report in words.
func (r *managerReport) document(p *text.Printer) document {
	last := r.To.Add(-time.Nanosecond)
	d := document{
		Language: p.Language(),
		Title:    p.Sprintf("Resubmission of claims, %s to %s", p.Day(r.From), p.Day(last)),
		Lead: []string{
			p.Sprintf("Written %s.", p.Time(r.WrittenAt)) + " " + r.verdict(p),
			p.Sprintf("Claims are those that ended in this time, and all that were open at its end. For " +
				"the KPIs an open one counts in the time of its last record."),
			p.Zone(),
		},
		Sections: []section{outcomes(p, r.Policies)},
	}
	for i := range r.Policies {
		if of := &r.Policies[i]; of.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(p, of), causes(p, of))
		}
	}
	oldest := section{
		Title: p.Sprintf("The oldest open claims: %d of %d", len(r.Oldest), r.Open),
		Table: claimRows(p, r.Oldest, r.To),
	}
	for i, word := range oldest.Table[0] {
		first, size := utf8.DecodeRuneInString(word)
		oldest.Table[0][i] = string(first) + strings.ToLower(word[size:])
	}
	d.Sections = append(d.Sections, measuredOn(p), oldest)
	return d
}

// causes is the table of the reasons for which submissions under a policy failed.
func causes(p *text.Printer, of *kpi.Result) section {
	s := section{Title: p.Sprintf("Why submissions failed, policy %s", of.Policy), Table: [][]string{{
		p.Sprintf("Failures"), p.Sprintf("Class"), p.Sprintf("Cause"), p.Sprintf("Rule"),
	}}}
	w, rest := wording{p}, int64(0)
	for i, c := range of.Causes {
		if i >= mostCauses {
			rest += c.Failures
			continue
		}
		s.Table = append(s.Table, []string{
			p.Sprintf("%d", c.Failures),
			p.Name("failure", c.Class),
			w.cause(c.RuleID, c.MatchedCode),
			c.RuleID,
		})
	}
	if rest > 0 {
		s.Table = append(s.Table, []string{p.Sprintf("%d", rest), "", p.Sprintf("other causes"), ""})
	}
	return s
}

// causeTables are what the codes of rules are of, by how the IDs of the rules begin.
var causeTables = []struct{ rule, table string }{
	{"transient.50", errtext.TableHTTP},
	{"http.", errtext.TableHTTP},
	{"smtp.", errtext.TableSMTP},
	{"tiss.", errtext.TableGlosas},
}

// cause words why a submission failed: the code that its rule found, with the term of that.
func (w wording) cause(rule, code string) string {
	if code = text.Line(code); code == "" {
		return w.Sprintf("no rule knows the text")
	}
	if words := w.Name("cause", code); words != code {
		return code + ": " + words
	}
	for _, of := range causeTables {
		if strings.HasPrefix(rule, of.rule) {
			return errtext.Meaning(of.table, code)
		}
	}
	return code
}

// verdict tells the reader whether the trail is in order.
func (r *managerReport) verdict(p *text.Printer) string {
	if r.NotVerified.Format != "" {
		return p.Sprintf("The audit trail is not verified: %s. Do not rely on these figures.", r.NotVerified)
	}
	return p.Sprintf("The audit trail was verified for this report: no record was changed.")
}

// document is a report in words, without a format.
type document struct {
	Language text.Language
	Title    string
	Lead     []string
	Sections []section
}

// section is a part of a document: a table whose first row is its head, a note, or both.
type section struct {
	Title, Note string
	Table       [][]string
	// Grades are the verdicts of rows, which a page shows in colours too.
	Grades map[int]string
}

// text is the document for a terminal.
func (d document) text() string {
	var b strings.Builder
	b.WriteString(d.Title + "\n\n")
	for _, lead := range d.Lead {
		b.WriteString(text.Wrap(lead, ""))
	}
	for _, section := range d.Sections {
		b.WriteString("\n" + section.Title + "\n")
		if section.Note != "" {
			b.WriteString(text.Wrap(section.Note, "  "))
		}
		b.WriteString(text.Table("  ", section.Table))
	}
	return b.String()
}

//go:embed page.css
var style string

// page is the document in HTML, for a screen and for A4. It needs nothing from elsewhere.
func (d document) page() string {
	var b strings.Builder
	put := func(format string, texts ...string) {
		escaped := make([]any, len(texts))
		for i, s := range texts {
			escaped[i] = html.EscapeString(s)
		}
		fmt.Fprintf(&b, format, escaped...)
	}
	put("<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", string(d.Language))
	put("<title>%s</title>\n", d.Title)
	b.WriteString("<style>\n" + style + "</style>\n</head>\n<body>\n")
	put("<h1>%s</h1>\n", d.Title)
	for _, lead := range d.Lead {
		put("<p>%s</p>\n", lead)
	}
	for _, section := range d.Sections {
		put("<h2>%s</h2>\n", section.Title)
		if section.Note != "" {
			put("<p>%s</p>\n", section.Note)
		}
		b.WriteString("<table>\n")
		for i, row := range section.Table {
			begin, cell, end := "<tr>", "td", "</tr>\n"
			if grade := section.Grades[i]; grade != "" {
				begin = `<tr class="` + grade + `">`
			}
			if i == 0 {
				begin, cell, end = "<thead><tr>", "th", "</tr></thead>\n"
			}
			b.WriteString(begin)
			for _, words := range row {
				put("<"+cell+">%s</"+cell+">", words)
			}
			b.WriteString(end)
		}
		b.WriteString("</table>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}
