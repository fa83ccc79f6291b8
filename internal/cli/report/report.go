package report

import (
	"strings"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Report is what a manager reads about a time. Its JSON form is stable: names are added, never changed.
type Report struct {
	KPIs

	WrittenAt time.Time `json:"writtenAt"`
	// Oldest are the claims that had been open longest at the end of the time, of so many.
	Oldest []claims.Claim `json:"oldest"`
	Open   int            `json:"open"`
	// NotVerified is why the audit trail was not verified, empty where it is in order.
	NotVerified text.Message `json:"notVerified,omitzero"`
}

// mostCauses is how many causes of a policy a report lists at most.
const mostCauses = 12

// Document returns the report in words.
func (r *Report) Document(p *text.Printer) Document {
	last := r.To.Add(-time.Nanosecond)
	d := Document{
		Language: p.Language(),
		Title:    p.Sprintf("Resubmission of claims, %s to %s", p.Day(r.From), p.Day(last)),
		Lead: []string{
			p.Sprintf("Written %s.", p.Time(r.WrittenAt)) + " " + r.verdict(p),
			p.Sprintf("Claims are those that ended in this time, and all that were open at its end. For " +
				"the KPIs an open one counts in the time of its last record."),
			strings.TrimSpace(p.Zone()),
		},
		Sections: []Section{outcomes(p, r.Policies)},
	}
	for i := range r.Policies {
		if of := &r.Policies[i]; of.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(p, of), causes(p, of))
		}
	}
	oldest := Section{
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
func causes(p *text.Printer, of *kpi.Result) Section {
	s := Section{Title: p.Sprintf("Why submissions failed, policy %s", of.Policy), Table: [][]string{{
		p.Sprintf("Failures"), p.Sprintf("Class"), p.Sprintf("Cause"), p.Sprintf("Rule"),
	}}}
	rest := int64(0)
	for i, c := range of.Causes {
		if i >= mostCauses {
			rest += c.Failures
			continue
		}
		s.Table = append(s.Table, []string{
			p.Sprintf("%d", c.Failures), p.Name("failure", c.Class), causeWords(p, &c), c.RuleID,
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

// causeWords returns a cause with the term of its code.
func causeWords(p *text.Printer, c *kpi.Cause) string {
	code := text.Line(c.MatchedCode)
	if code == "" {
		return p.Sprintf("no rule knows the text")
	}
	if words := p.Name("cause", code); words != code {
		return code + ": " + words
	}
	for _, of := range causeTables {
		if strings.HasPrefix(c.RuleID, of.rule) {
			return errtext.Meaning(of.table, code)
		}
	}
	return code
}

// verdict tells the reader whether the trail is in order.
func (r *Report) verdict(p *text.Printer) string {
	if r.NotVerified.Format != "" {
		return p.Sprintf("The audit trail is not verified: %s. Do not rely on these figures.", r.NotVerified)
	}
	return p.Sprintf("The audit trail was verified for this report: no record was changed.")
}
