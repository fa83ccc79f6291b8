// Package kpi measures the KPIs of RN-BIL-005, section VI, and of the older RN-BIL-004, section VI, over the records
// of an audit trail.
package kpi

import (
	"slices"

	"hospital.example/analyze-retry/internal/audit"
)

// Measure is what a KPI counts in.
type Measure string

// The measures. A share is from 0 to 1.
const (
	Share   Measure = "share"
	Seconds Measure = "seconds"
	Number  Measure = "number"
)

// Bound is the side of its target on which a KPI has to be.
type Bound string

// The bounds.
const (
	AtLeast Bound = ">="
	AtMost  Bound = "<="
	Below   Bound = "<"
)

// Verdict is how a KPI compares with its target.
type Verdict string

// The verdicts. Without anything measured there is none on it.
const (
	Met    Verdict = "met"
	Missed Verdict = "missed"
	NoData Verdict = "no data"
)

// Indicator is one row of the table of KPIs. Its JSON form is stable: names are added, never changed.
type Indicator struct {
	// Name is stable, Rule the document that sets the target.
	Name    string  `json:"name"`
	Rule    string  `json:"rule"`
	Measure Measure `json:"measure"`
	// Value is nil where nothing was measured.
	Value   *float64 `json:"value"`
	Bound   Bound    `json:"bound"`
	Target  float64  `json:"target"`
	Verdict Verdict  `json:"verdict"`
	// MeasuredOn is how many things Value was measured on, Part how many of them it counts, where it is a share.
	MeasuredOn int64 `json:"measuredOn"`
	Part       int64 `json:"part,omitempty"`
}

// measured returns the indicator with a value that was measured on so many things, and its verdict. Of nothing the value does
// not count.
func (i Indicator) measured(value float64, on int64) Indicator {
	i.MeasuredOn, i.Verdict = on, NoData
	if on == 0 {
		return i
	}
	i.Value, i.Verdict = &value, Missed
	if met := map[Bound]bool{AtLeast: value >= i.Target, AtMost: value <= i.Target, Below: value < i.Target}; met[i.Bound] {
		i.Verdict = Met
	}
	return i
}

// share measures part of so many things.
func (i Indicator) share(part, of int64) Indicator {
	i.Measure, i.Part = Share, part
	return i.measured(float64(part)/float64(of), of)
}

// Counts are how many records of each kind there are, and about how many claims decisions were made. Its JSON form is
// stable.
type Counts struct {
	Claims      int64 `json:"claims"`
	Decisions   int64 `json:"decisions"`
	Retries     int64 `json:"retries"`
	Exhausted   int64 `json:"maxRetriesExceeded"`
	Permanent   int64 `json:"permanentErrors"`
	Rejected    int64 `json:"rejected"`
	Undelivered int64 `json:"undelivered"`
	Submitted   int64 `json:"submitted"`
	Resubmitted int64 `json:"resubmitted"`
	Abandoned   int64 `json:"abandoned"`
	Redriven    int64 `json:"redriven"`
}

// Tally counts records for the KPIs. Its zero value has counted none. It is for one goroutine at a time.
type Tally struct {
	kinds  map[audit.Kind]int64
	claims map[string]decided

	retriedOutcomes, retriedSuccesses int64
	attempts                          int64
	toSuccess                         []float64 // seconds
}

// decided is what was decided about a claim.
type decided struct{ retried, exhausted bool }

// Add counts a record. It fails only where the record is not one that this worker writes.
func (t *Tally) Add(r *audit.Record) error {
	if t.kinds == nil {
		t.kinds, t.claims = map[audit.Kind]int64{}, map[string]decided{}
	}
	t.kinds[r.Kind]++
	switch {
	case r.Kind.IsDecision():
		d := t.claims[r.ClaimID]
		d.retried = d.retried || r.Kind == audit.KindRetry
		d.exhausted = d.exhausted || r.Kind == audit.KindExhausted
		t.claims[r.ClaimID] = d
	case r.Kind.IsOutcome():
		return t.addOutcome(r)
	}
	return nil
}

func (t *Tally) addOutcome(r *audit.Record) error {
	retried := r.RetryCount > 0
	if retried {
		t.retriedOutcomes++
	}
	if r.Kind != audit.KindSubmitted {
		return nil
	}
	facts, err := r.Facts()
	if err != nil {
		return err
	}
	t.attempts += int64(facts.Attempts)
	if !retried {
		return nil
	}
	t.retriedSuccesses++
	if facts.FirstFailureTime != nil {
		// The clocks of two replicas may differ: a success is never before the failure.
		t.toSuccess = append(t.toSuccess, max(r.At.Sub(*facts.FirstFailureTime), 0).Seconds())
	}
	return nil
}

// Counts returns the numbers of records.
func (t *Tally) Counts() Counts {
	n := t.kinds
	return Counts{
		Claims: int64(len(t.claims)), Decisions: n[audit.KindRetry] + n[audit.KindExhausted] + n[audit.KindPermanent],
		Retries: n[audit.KindRetry], Exhausted: n[audit.KindExhausted], Permanent: n[audit.KindPermanent],
		Rejected: n[audit.KindRejected], Undelivered: n[audit.KindUndelivered],
		Submitted: n[audit.KindSubmitted], Resubmitted: n[audit.KindResubmitted], Abandoned: n[audit.KindAbandoned],
		Redriven: n[audit.KindRedriven],
	}
}

// Indicators returns the table. What each row divides by what is the documents' formula:
//
//   - successAfterRetry: of the rounds of submissions that had a retry and ended, those that the insurer accepted
//     ("sucessos retry / total retries"). A claim that a person resubmitted or gave up is none.
//   - meanTimeToSuccess, medianTimeToSuccess: from the first failure to the acceptance, of the rounds that had a retry.
//   - permanentErrors: of the errors that were decided about, the permanent ones ("% de erros que não devem ter retry").
//   - retriesUsedUp: of the claims that were decided about, those that reached the limit ("contas que esgotaram
//     tentativas"). It counts claims and not decisions: a lost claim has six, so that a share of the decisions would
//     never be above a sixth.
//   - claimsLost: the same claims, of those that were retried ("perdidas / total retry").
//   - meanAttemptsToSuccess: submissions for each acceptance, of all accepted rounds, also those that never failed.
func (t *Tally) Indicators() []Indicator {
	const rnBIL005, rnBIL004 = "RN-BIL-005", "RN-BIL-004"
	var retried, exhausted int64
	for _, d := range t.claims {
		if d.exhausted {
			exhausted++
		}
		if d.retried || d.exhausted { // its retries may have been before the time that is looked at
			retried++
		}
	}
	slices.Sort(t.toSuccess)
	n, timed := t.Counts(), int64(len(t.toSuccess))
	return []Indicator{
		Indicator{Name: "successAfterRetry", Rule: rnBIL005, Bound: AtLeast, Target: 0.80}.share(t.retriedSuccesses, t.retriedOutcomes),
		Indicator{Name: "successAfterRetry", Rule: rnBIL004, Bound: AtLeast, Target: 0.85}.share(t.retriedSuccesses, t.retriedOutcomes),
		Indicator{Name: "meanTimeToSuccess", Rule: rnBIL005, Measure: Seconds, Bound: AtMost, Target: 7200}.measured(mean(t.toSuccess), timed),
		Indicator{Name: "medianTimeToSuccess", Rule: rnBIL004, Measure: Seconds, Bound: AtMost, Target: 3600}.measured(median(t.toSuccess), timed),
		Indicator{Name: "permanentErrors", Rule: rnBIL005, Bound: Below, Target: 0.10}.share(n.Permanent, n.Decisions),
		Indicator{Name: "retriesUsedUp", Rule: rnBIL005, Bound: Below, Target: 0.05}.share(exhausted, n.Claims),
		Indicator{Name: "claimsLost", Rule: rnBIL004, Bound: AtMost, Target: 0.03}.share(exhausted, retried),
		Indicator{Name: "meanAttemptsToSuccess", Rule: rnBIL004, Measure: Number, Bound: AtMost, Target: 1.2}.measured(float64(t.attempts)/float64(n.Submitted), n.Submitted),
	}
}

func mean(all []float64) float64 {
	var sum float64
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// median needs them sorted, and is 0 of nothing.
func median(all []float64) float64 {
	n := len(all)
	if n == 0 {
		return 0
	}
	return (all[(n-1)/2] + all[n/2]) / 2
}
