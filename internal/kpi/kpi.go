// Package kpi measures the KPIs of RN-BIL-005, section VI, and of the older RN-BIL-004, section VI, by
// policy, and what became of each claim: from counts that the audit trail's store makes, so that no claim is
// built in memory.
package kpi

import (
	"cmp"
	"maps"
	"slices"
	"time"

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
	// Target is on the side Bound of Value, and Source the document that sets it. There is none where Bound is empty.
	Bound   string  `json:"bound,omitempty"`
	Target  float64 `json:"target,omitempty"`
	Source  string  `json:"source,omitempty"`
	Verdict Verdict `json:"verdict"`
	// MeasuredOn is how many things Value was measured on, Part how many of them it counts, where it is a share.
	MeasuredOn int64 `json:"measuredOn"`
	Part       int64 `json:"part,omitempty"`
}

// against returns the indicator with a target and the verdict on it.
func (i Indicator) against(t retry.Target) Indicator {
	i.Bound, i.Target, i.Source, i.Verdict = t.Bound, t.Value, t.Source, NoData
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

// measured returns the indicator of a value that was measured on so many things; without a value where there are none.
func measured(name string, value float64, on int64) Indicator {
	i := Indicator{Name: name, Measure: retry.KPIs()[name], MeasuredOn: on, Verdict: NoData}
	if on > 0 {
		i.Value, i.Verdict = &value, NoTarget
	}
	return i
}

// share returns the indicator of a share.
func share(name string, part, of int64) Indicator {
	i := measured(name, float64(part)/float64(of), of)
	i.Part = part
	return i
}

// indicators returns a row for each target, and one for each KPI without any. They use the documents'
// formulas, by claim: an outage is no success while its claims stand stopped, and a claim that a person
// rescued is not lost.
//
//   - successAfterRetry: of the claims that were retried and are not under way any more, those that
//     the insurer accepted in the end ("sucessos retry / total retries"). A claim that stands stopped
//     is none; one that a person sent again is under way.
//   - meanTimeToSuccess, medianTimeToSuccess: from the claim's first failure to its acceptance, of the
//     claims that were retried or sent again. The median is of times in minutes, rounded up.
//   - permanentErrors: of the errors that were decided about, the permanent ones ("% de erros que não
//     devem ter retry").
//   - retriesUsedUp: of the claims that were decided about, those that reached the limit ("contas que
//     esgotaram tentativas"), whatever became of them.
//   - claimsLost: of the claims that were retried, those that reached the limit and stand stopped or
//     were given up ("perdidas / total retry").
//   - meanAttemptsToSuccess: submissions for each accepted claim, also of those that never failed.
//   - endedWithin24h, endedWithin48h: of the claims that failed, those that ended within so long of
//     their first failure. One that is open counts when it is older.
func (s *sums) indicators(targets []retry.Target) []Indicator {
	median, timed := medianOf(s.toSuccess)
	all := []Indicator{
		share("successAfterRetry", s.success.Accepted, s.success.Settled),
		measured("meanTimeToSuccess", float64(s.seconds)/float64(timed), timed),
		measured("medianTimeToSuccess", 60*median, timed),
		share("permanentErrors", s.counts.Permanent, s.counts.Decisions),
		share("retriesUsedUp", s.exhausted, s.decided),
		share("claimsLost", s.lost, s.retried),
		measured("meanAttemptsToSuccess", float64(s.attempts)/float64(s.accepted), s.accepted),
		share("endedWithin24h", s.within[0], s.due[0]),
		share("endedWithin48h", s.within[1], s.due[1]),
	}
	var rows []Indicator
	for _, i := range all {
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

// medianOf returns the median of values that are given by how many there are of each, and how many there are.
func medianOf(counts map[int64]int64) (median float64, n int64) {
	for _, of := range counts {
		n += of
	}
	below := int64(0)
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		// It is the mean of the two in the middle, which are one where n is odd.
		for _, middle := range [2]int64{(n - 1) / 2, n / 2} {
			if below <= middle && middle < below+counts[value] {
				median += float64(value) / 2
			}
		}
		below += counts[value]
	}
	return median, n
}

// spans are those of endedWithin24h and endedWithin48h (ANS IN 41).
var spans = [2]time.Duration{24 * time.Hour, 48 * time.Hour}

// Cause is a reason for which submissions failed.
type Cause struct {
	Class       string `json:"errorClassification"`
	RuleID      string `json:"ruleId"`
	MatchedCode string `json:"matchedCode,omitempty"`
}

// CauseCount is how many submissions failed for a reason.
type CauseCount struct {
	Cause
	Failures int64 `json:"failures"`
}

func sortedCauses(counts map[Cause]int64) []CauseCount {
	all := []CauseCount{}
	for cause, n := range counts {
		all = append(all, CauseCount{cause, n})
	}
	slices.SortFunc(all, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.MatchedCode, b.MatchedCode))
	})
	return all
}
