package report

import (
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/text"
)

// Report is what a manager reads about a time. Its JSON form is stable: names are added, never changed.
type Report struct {
	From      time.Time    `json:"from"`
	To        time.Time    `json:"to"`
	WrittenAt time.Time    `json:"writtenAt"`
	Policies  []kpi.Result `json:"policies"`
	OpenClaims
	Heads []audit.Head `json:"heads"`
}

// OpenClaims are the numbers of open claims by how they stand and by age, and the oldest.
type OpenClaims struct {
	// Open are all, and those that are older than each of the ages.
	Open   map[audit.Standing][1 + len(ages)]int64 `json:"open"`
	Oldest []claims.Claim                          `json:"oldest"`
}

// ages are an hour, a working day, the day and the two days of ANS IN 41, and a week.
var ages = [...]time.Duration{time.Hour, 8 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}

// CountOpen counts open claims, the oldest first, as they stand at the time now.
func CountOpen(all []claims.Claim, now time.Time) OpenClaims {
	o := OpenClaims{map[audit.Standing][1 + len(ages)]int64{}, all[:min(mostOpen, len(all))]}
	for i := range all {
		n := o.Open[all[i].Standing]
		n[0]++
		for j, age := range ages {
			if all[i].Age(now) > age {
				n[1+j]++
			}
		}
		o.Open[all[i].Standing] = n
	}
	return o
}

// The most causes of a policy and the most open claims that a report lists.
const (
	mostCauses = 12
	mostOpen   = 10
)

// Document returns the report in words.
func (r *Report) Document(p *text.Printer) Document {
	last := r.To.Add(-time.Nanosecond)
	d := Document{
		Language: p.Language(),
		Title:    p.Sprintf("Resubmission of claims, %s to %s", p.Day(r.From), p.Day(last)),
		Lead: []string{
			p.Sprintf("Written %s. A claim counts in the time in which it ended, an open one in that of its "+
				"last record. The open claims below are those of now.", p.Time(r.WrittenAt)),
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
	d.Sections = append(d.Sections, r.openByAge(p), oldest, r.seal(p))
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
var causeTables = []struct {
	rule, name string
	kinds      []evidence.Kind
}{
	{"transient.503", "HTTP ", []evidence.Kind{evidence.HTTP}},
	{"transient.504", "HTTP ", []evidence.Kind{evidence.HTTP}},
	{"http.", "HTTP ", []evidence.Kind{evidence.HTTP}},
	{"smtp.", "SMTP ", []evidence.Kind{evidence.SMTP, evidence.Enhanced}},
	{"tiss.", "Glosa ", []evidence.Kind{evidence.Glosa}},
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
	for _, table := range causeTables {
		if !strings.HasPrefix(c.RuleID, table.rule) {
			continue
		}
		t := evidence.Read(table.name + code)
		words := t.Words(table.kinds...)
		t.Free()
		if len(words) > 0 {
			return words[0]
		}
	}
	return code
}

// openByAge is the table of the open claims by how they stand and by age.
func (r *Report) openByAge(p *text.Printer) Section {
	head := []string{p.Sprintf("State"), p.Sprintf("Claims")}
	for _, age := range ages {
		head = append(head, p.Sprintf("older than %s", p.Span(age)))
	}
	s := Section{Title: p.Sprintf("Open claims by state and age"), Table: [][]string{head}}
	for _, standing := range claims.OpenStandings() {
		row := []string{p.Name("standing", string(standing))}
		for _, n := range r.Open[standing] {
			row = append(row, p.Sprintf("%d", n))
		}
		s.Table = append(s.Table, row)
	}
	return s
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
