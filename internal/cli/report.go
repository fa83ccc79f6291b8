package cli

import (
	_ "embed" // of the style
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) report() *cobra.Command {
	command := &cobra.Command{Use: "report"}
	periodFlags(command, "last")
	format := command.Flags().String("format", "text", "text or html")
	dir := command.Flags().String("dir", "", "directory to write a file into, whose path is printed")
	p.answers(command, settings, func(c *call) (any, error) {
		form, now := named(c, "format", "format", *format, []string{"text", "html"}), p.now()
		from, to := c.period(now, 31*24*time.Hour)
		if err := c.open(); err != nil {
			return nil, err
		}
		r, broken, err := reported(c, from, to, now)
		if err != nil {
			return nil, err
		}
		extension := ".txt"
		if d := r.document(c.w); form == "html" {
			extension = ".html"
			c.w.WriteString(d.page(c.w.Language()))
		} else {
			d.say(c.w)
		}
		if *dir == "" {
			return r, broken
		}
		zone := c.w.Location()
		first, last := from.In(zone), to.In(zone).Add(-time.Nanosecond)
		name := c.w.Sprintf("report_%s_%s", first.Format(time.DateOnly), last.Format(time.DateOnly))
		path, words := filepath.Join(*dir, name+extension), c.w.String()
		c.w.Reset()
		if err := os.WriteFile(path, []byte(words), 0o640); err != nil { //nolint:gosec // for its group too
			return nil, err
		}
		c.w.WriteString(path + "\n")
		return nil, broken
	})
	command.MarkFlagsMutuallyExclusive("dir", "json")
	return command
}

// mostOpen is how many open claims a report lists at most.
const mostOpen = 10

// reported makes the report of a period. broken is what is wrong with the audit trail, which the report says
// too. Without the key (its public half will do) the trail is not verified, and the report says so.
func reported(c *call, from, to, now time.Time) (r managerReport, broken, err error) {
	r.WrittenAt = now.UTC().Truncate(time.Second)
	if public, err := audit.LoadPublic(c.cfg.AuditKey()); err != nil {
		r.NotVerified = text.Messagef("%s", err)
	} else if _, err = audit.Verify(c.Context(), c.store, public, nil); err != nil {
		where, is := errors.AsType[*audit.BrokenError](err)
		if !is {
			return r, nil, err
		}
		r.NotVerified = where.Message() // the same words whatever the store's place
		broken = text.Messagef("the audit trail is not verified: %s", r.NotVerified)
	}
	measured, open, err := measure(c, from, to)
	r.kpis, r.Open, r.open = measured, len(open), open
	r.Oldest = append([]claims.Claim{}, open[:min(mostOpen, len(open))]...) // also in JSON a list
	return r, broken, err
}

// managerReport is what a manager reads about a time. Its JSON form is stable.
type managerReport struct {
	kpis

	WrittenAt time.Time `json:"writtenAt"`
	// Oldest are the claims that had been open longest at the end of the time, of so many.
	Oldest []claims.Claim `json:"oldest"`
	Open   int            `json:"open"`
	open   []claims.Claim // all of them
	// NotVerified is why the audit trail was not verified, empty where it is in order.
	NotVerified text.Message `json:"notVerified,omitzero"`
}

// mostCauses is how many causes of a policy a report lists at most.
const mostCauses = 12

// document returns the report in words.
func (r *managerReport) document(w *wording) document {
	verdict := w.Sprintf("The audit trail was verified for this report: no record was changed.")
	if r.NotVerified.Format != "" {
		verdict = w.Sprintf("The audit trail is not verified: %s. Do not rely on these figures.",
			r.NotVerified)
	}
	days := w.Day(r.From)
	if last := w.Day(r.To.Add(-time.Nanosecond)); last != days {
		days = w.Sprintf("%s to %s", days, last)
	}
	d := document{
		Title: w.Sprintf("Resubmission of claims, %s", days),
		Lead: []string{
			w.Sprintf("Written %s.", r.WrittenAt) + " " + verdict,
			w.Sprintf("Claims are those that ended in this time, and all that were open at its end. For " +
				"the KPIs an open one counts in the time of its last record."),
			w.Zone(),
		},
		Sections: []section{outcomes(w, r.Policies)},
	}
	for i := range r.Policies {
		if of := &r.Policies[i]; of.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(w, of), causes(w, of))
		}
	}
	oldest := section{
		Title: w.Sprintf("The oldest open claims: %d of %d", len(r.Oldest), r.Open),
		Note:  w.census(r.open),
		Head:  w.heads("Claim", "State", "Age", "Retry", "Reason"),
	}
	for _, row := range w.claims(r.Oldest, r.To) {
		oldest.add("", row...)
	}
	d.Sections = append(d.Sections, measuredOn(w), oldest)
	d.Sections = slices.DeleteFunc(d.Sections, func(s section) bool { return s.Rows == nil })
	return d
}

// causes is the table of the reasons for which submissions under a policy failed.
func causes(w *wording, of *kpi.Result) section {
	s := section{
		Title: w.Sprintf("Why submissions failed, policy %s", of.Policy),
		Head:  w.heads("Failures", "Class", "Cause", "Rule"),
	}
	rest := int64(0)
	for i, c := range of.Causes {
		if i >= mostCauses {
			rest += c.Failures
			continue
		}
		cause := w.cause(c.RuleID, c.MatchedCode)
		s.add("", w.Sprintf("%d", c.Failures), w.Name("failure", c.Class), cause, c.RuleID)
	}
	if rest > 0 {
		s.add("", w.Sprintf("%d", rest), "", w.Sprintf("other causes"), "")
	}
	return s
}

// causeKinds are what the codes of rules are, by how the IDs of the rules begin.
var causeKinds = map[string]errtext.Kind{
	"transient.50": errtext.HTTP,
	"http.":        errtext.HTTP,
	"smtp.":        errtext.SMTP,
	"tiss.":        errtext.Glosa,
}

// inWords writes a phrase of a table without the signs by which it is looked for.
var inWords = strings.NewReplacer("*", "…", "..", "…")

// cause words why a submission failed: the code that its rule found with the term of that, or where a rule
// looks for phrases what it is about, and the phrase.
func (w *wording) cause(rule, code string) string {
	if code = text.Line(code); code == "" {
		return w.Sprintf("no rule knows the text")
	}
	if words := w.Name("cause", code); words != code {
		return code + ": " + words
	}
	for ofRule, kind := range causeKinds {
		if meaning := errtext.Meaning(kind, code); strings.HasPrefix(rule, ofRule) && meaning != code {
			return meaning
		}
	}
	code = inWords.Replace(code)
	if about := w.Name("rule", rule); about != rule {
		return about + " (" + code + ")"
	}
	return code
}

// document is a report in words. The tags make the body of a page in HTML of it.
type document struct {
	XMLName  xml.Name  `xml:"body"`
	Title    string    `xml:"h1"`
	Lead     []string  `xml:"p"`
	Sections []section `xml:"section"`
}

// section is a part of a document: a table, with a note where there is something to say about it.
type section struct {
	Title string   `xml:"h2"`
	Note  string   `xml:"p,omitempty"`
	Head  []string `xml:"table>thead>tr>th"`
	Rows  []row    `xml:"table>tbody>tr"`
}

// row is a row of a table. Grade is the verdict in it, which a page shows in colours too.
type row struct {
	Grade string   `xml:"class,attr,omitempty"`
	Cells []string `xml:"td"`
}

func (s *section) add(grade string, cells ...string) { s.Rows = append(s.Rows, row{grade, cells}) }

// say is the document for a terminal.
func (d *document) say(w *wording) {
	w.WriteString(d.Title + "\n\n")
	for _, lead := range d.Lead {
		w.WriteString(text.Wrap("", lead))
	}
	for _, section := range d.Sections {
		w.WriteString("\n" + section.Title + "\n")
		if section.Note != "" {
			w.WriteString(text.Wrap("  ", section.Note))
		}
		table := [][]string{section.Head}
		for _, row := range section.Rows {
			table = append(table, row.Cells)
		}
		w.table("  ", table)
	}
}

//go:embed page.css
var style string

// page is the document in HTML, for a screen and for A4. It needs nothing from elsewhere.
func (d *document) page(in text.Language) string {
	body, _ := xml.MarshalIndent(d, "", " ") // texts can be written
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="%s">
<head>
<meta charset="utf-8">
<title>%s</title>
<style>
%s</style>
</head>
%s
</html>
`, in, html.EscapeString(d.Title), style, body)
}
