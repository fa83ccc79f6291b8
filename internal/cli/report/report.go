package report

import (
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Report is what a manager reads about a time. Its JSON form is stable: names are added, never changed.
type Report struct {
	From      time.Time    `json:"from"`
	To        time.Time    `json:"to"`
	WrittenAt time.Time    `json:"writtenAt"`
	Policies  []kpi.Result `json:"policies"`
	// Oldest are the claims that have been open longest.
	Oldest []claims.Claim `json:"oldest"`
	Heads  []audit.Head   `json:"heads"`
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
			p.Sprintf("Written %s. A claim counts in the time in which it ended, an open one in that of its "+
				"last record. The oldest open claims are those of now.", p.Time(r.WrittenAt)),
			strings.TrimSpace(p.Zone()),
		},
		Sections: []Section{outcomes(p, r.Policies)},
	}
	for i := range r.Policies {
		if of := &r.Policies[i]; of.Policy != claims.NoPolicy {
			d.Sections = append(d.Sections, indicators(p, of), causes(p, of))
		}
	}
	oldest := Section{Title: p.Sprintf("The oldest open claims"), Table: claimRows(p, r.Oldest, r.WrittenAt)}
	d.Sections = append(d.Sections, oldest, r.seal(p))
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

// seal is the end of each chain, by which a later change of the trail shows.
func (r *Report) seal(p *text.Printer) Section {
	s := Section{
		Title: p.Sprintf("Seal of the audit trail"),
		Note: p.Sprintf("The figures are those of the audit trail up to these records. worker audit verify " +
			"shows whether one of them was changed since."),
		Table: [][]string{{p.Sprintf("Chain"), p.Sprintf("Place"), p.Sprintf("Hash")}},
	}
	for _, h := range r.Heads {
		chain, place := strconv.Itoa(h.Chain), strconv.FormatInt(h.Seq, 10)
		s.Table = append(s.Table, []string{chain, place, h.Hash.String()})
	}
	return s
}
