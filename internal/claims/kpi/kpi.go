// Package kpi measures the KPIs of RN-BIL-005, section VI, and of the older RN-BIL-004, section VI, by
// policy, and what became of each claim: from counts that the audit trail's store makes, so that no claim is
// built in memory.
package kpi

import (
	"cmp"
	"maps"
	"slices"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/retry"
)

// Verdict is how a KPI compares with its target.
type Verdict string

// The verdicts. Where nothing was measured there is none on it, nor where there is no target.
const (
	Met      Verdict = "met"
	Missed   Verdict = "missed"
	NoData   Verdict = "no data"
	NoTarget Verdict = "no target"
)

// Indicator is one row of the table of KPIs. Its JSON form is stable: names are added, never changed.
type Indicator struct {
	// Name is one of [retry.KPIs].
	Name    string        `json:"name"`
	Measure retry.Measure `json:"measure"`
	// Value is nil where nothing was measured.
	Value *float64 `json:"value"`
	// Target is on the side Bound of Value, and Source the document that sets it. There is none where Bound
	// is empty.
	Bound   string  `json:"bound,omitempty"`
	Target  float64 `json:"target,omitempty"`
	Source  string  `json:"source,omitempty"`
	Verdict Verdict `json:"verdict"`
	// MeasuredOn is how many things were measured, Part how many of them count, or the sum of what they took.
	MeasuredOn int64 `json:"measuredOn"`
	Part       int64 `json:"part"`
}

// against returns the indicator with a target and the verdict on it.
func (i Indicator) against(t retry.Target) Indicator {
	i.Bound, i.Target, i.Source = t.Bound, t.Value, t.Source
	if i.Value == nil {
		return i
	}
	i.Verdict = Missed
	v := *i.Value
	if met := map[string]bool{">=": v >= t.Value, "<=": v <= t.Value, "<": v < t.Value}; met[t.Bound] {
		i.Verdict = Met
	}
	return i
}

const (
	medianTime   = "medianTimeToSuccess"
	meanAttempts = "meanAttemptsToSuccess"
)

// succeeded reports whether these are claims that the insurer accepted after it had not.
func succeeded(n *audit.Total) bool {
	return n.Kind == audit.KindSubmitted && n.Flags.Has(audit.CourseFailed) &&
		n.Flags.Has(audit.CourseRetried|audit.CourseByPerson)
}

// parts are the KPIs in the order of the table, each with what records, or claims, that are alike add to it.
// Claims that are open have no Kind; then standing is theirs, and Minutes how long they have been open. The
// KPIs use the documents' formulas, by claim: an outage is no success while its claims stand stopped, and a
// claim that a person rescued is not lost.
func parts(n *audit.Total, standing audit.Standing) [9]Indicator {
	ended, accepted, late := n.Kind.Ends(), n.Kind == audit.KindSubmitted, succeeded(n)
	failed, decided := n.Flags.Has(audit.CourseFailed), n.Flags.Has(audit.CourseDecided)
	retried, exhausted := n.Flags.Has(audit.CourseRetried), n.Flags.Has(audit.CourseExhausted)
	settled := ended || standing == audit.Stopped || standing == audit.DeadLetter
	mean := func(name string, of bool, sum int64) Indicator {
		return Indicator{Name: name, MeasuredOn: when(of, n.Records), Part: when(of, sum)}
	}
	share := func(name string, of, counts bool) Indicator { return mean(name, of, when(counts, n.Records)) }
	within := func(name string, minutes int64) Indicator {
		return share(name, failed && (ended || n.Minutes > minutes), n.Minutes <= minutes)
	}
	return [...]Indicator{
		// Of the claims that were retried and are not under way any more, those that the insurer accepted in
		// the end ("sucessos retry / total retries"). A claim that stands stopped is none; one that a person
		// sent again is under way.
		share("successAfterRetry", retried && settled, accepted),
		// From the claim's first submission, or else its opening, to its acceptance, of the claims that were
		// retried or sent again. The median is of times in minutes, rounded up.
		mean("meanTimeToSuccess", late, n.Seconds),
		share(medianTime, late, false),
		// Of the errors that were decided about, the permanent ones ("% de erros que não devem ter retry").
		share("permanentErrors", n.Kind.IsDecision(), n.Kind == audit.KindPermanent),
		// Of the claims that were decided about, those that reached the limit ("contas que esgotaram
		// tentativas"), whatever became of them.
		share("retriesUsedUp", decided, exhausted),
		// Of the claims that were retried, those that reached the limit and stand stopped or were given up
		// ("perdidas / total retry").
		share("claimsLost", retried, exhausted && settled && !accepted),
		// Submissions for each accepted claim, also of those that never failed.
		mean(meanAttempts, accepted, n.Attempts),
		// Of the claims that failed, those that ended within so long of their first failure. One that is open
		// counts when it is older.
		within("endedWithin24h", 24*60),
		within("endedWithin48h", 48*60),
	}
}

// Names returns the names of the KPIs, in the order of the table.
func Names() (names []string) {
	for _, one := range parts(new(audit.Total), "") {
		names = append(names, one.Name)
	}
	return names
}

func when(is bool, n int64) int64 {
	if is {
		return n
	}
	return 0
}

// measured returns a row for each target, and one for each KPI without any. There are no attempts where it is
// unnamed which claims never failed.
func (r *Result) measured(targets []retry.Target, unnamed bool) (rows []Indicator) {
	for _, i := range r.KPIs {
		i.Measure, i.Verdict = retry.KPIs()[i.Name], NoData
		if i.MeasuredOn > 0 && (i.Name != meanAttempts || !unnamed) {
			value := float64(i.Part) / float64(i.MeasuredOn)
			if i.Name == medianTime {
				value = 60 * float64(medianOf(r.toSuccess, i.MeasuredOn))
			}
			i.Value, i.Verdict = &value, NoTarget
		}
		n := len(rows)
		for _, t := range targets {
			if t.KPI == i.Name {
				rows = append(rows, i.against(t))
			}
		}
		if len(rows) == n {
			rows = append(rows, i)
		}
	}
	return rows
}

// medianOf returns the median of n values that are given by how many there are of each; of two in the middle
// the greater.
func medianOf(counts map[int64]int64, n int64) (median int64) {
	upTo := int64(0)
	for _, median = range slices.Sorted(maps.Keys(counts)) {
		if upTo += counts[median]; upTo > n/2 {
			break
		}
	}
	return median
}

// Cause is a reason for which submissions failed, and how many did.
type Cause struct {
	Class       string `json:"errorClassification"`
	RuleID      string `json:"ruleId"`
	MatchedCode string `json:"matchedCode,omitempty"`
	Failures    int64  `json:"failures"`
}

// sortedCauses returns the causes with their counts, the most frequent first.
func sortedCauses(counts map[Cause]int64) []Cause {
	all := []Cause{}
	for cause, n := range counts {
		cause.Failures = n
		all = append(all, cause)
	}
	slices.SortFunc(all, func(a, b Cause) int {
		return cmp.Or(
			cmp.Compare(b.Failures, a.Failures),
			cmp.Compare(a.RuleID, b.RuleID),
			cmp.Compare(a.MatchedCode, b.MatchedCode),
		)
	})
	return all
}
