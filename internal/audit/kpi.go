package audit

import "slices"

// Measure is what a KPI counts in.
type Measure string

// The measures. A share is from 0 to 1.
const (
	Share   Measure = "share"
	Seconds Measure = "seconds"
	Number  Measure = "number"
)

// Bound says on which side of its target a KPI has to be.
type Bound string

// The bounds.
const (
	AtLeast Bound = ">="
	AtMost  Bound = "<="
	Below   Bound = "<"
)

// Verdict is what a KPI comes to.
type Verdict string

// The verdicts. Without anything measured there is no verdict on it.
const (
	Met    Verdict = "met"
	Missed Verdict = "missed"
	NoData Verdict = "no data"
)

// KPI is one row of the table of KPIs, of RN-BIL-005 section VI or of its older sibling RN-BIL-004 section VI.
type KPI struct {
	// Name is stable, Rule the document that sets the target.
	Name, Rule string
	Measure    Measure
	Bound      Bound
	Target     float64
	// Value is what was measured, and Of on how many things. Where Of is 0, nothing was, and Value means nothing.
	Value float64
	Of    int64
	// Part is how many of them are counted in Value, where that is a share.
	Part int64
}

// Verdict holds the value against the target.
func (k KPI) Verdict() Verdict {
	var met bool
	switch k.Bound {
	case AtLeast:
		met = k.Value >= k.Target
	case AtMost:
		met = k.Value <= k.Target
	case Below:
		met = k.Value < k.Target
	}
	switch {
	case k.Of == 0:
		return NoData
	case met:
		return Met
	default:
		return Missed
	}
}

// Tally counts records for the KPIs. Its zero value has counted none. It is for one goroutine at a time.
type Tally struct {
	kinds  map[Kind]int64
	claims map[string]fate

	retriedOutcomes, retriedSuccesses int64
	attempts                          int64
	toSuccess                         []float64 // seconds
}

// fate is what was decided about a claim, whatever the number of its decisions.
type fate struct{ retried, exhausted bool }

// Add counts a record. It is made to be given to [History.Between], and fails only where the record is not one that
// this worker writes.
func (t *Tally) Add(r *Record) error {
	if t.kinds == nil {
		t.kinds, t.claims = map[Kind]int64{}, map[string]fate{}
	}
	t.kinds[r.Kind]++
	switch {
	case r.Kind.IsDecision():
		f := t.claims[r.ClaimID]
		f.retried = f.retried || r.Kind == KindRetry
		f.exhausted = f.exhausted || r.Kind == KindExhausted
		t.claims[r.ClaimID] = f
	case r.Kind.IsOutcome():
		return t.addOutcome(r)
	}
	return nil
}

func (t *Tally) addOutcome(r *Record) error {
	retried := r.RetryCount > 0
	if retried {
		t.retriedOutcomes++
	}
	if r.Kind != KindSubmitted {
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

// Count is how many records of a kind were added.
func (t *Tally) Count(k Kind) int64 { return t.kinds[k] }

// Decisions is how many decisions were added, Claims about how many claims they were.
func (t *Tally) Decisions() int64 {
	return t.kinds[KindRetry] + t.kinds[KindExhausted] + t.kinds[KindPermanent]
}

// Claims is how many claims had a decision.
func (t *Tally) Claims() int64 { return int64(len(t.claims)) }

// KPIs returns the table. What each row divides by what is the documents' formula:
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
func (t *Tally) KPIs() []KPI {
	const rule, sibling = "RN-BIL-005", "RN-BIL-004"
	var retried, exhausted int64
	for _, f := range t.claims {
		if f.exhausted {
			exhausted++
		}
		if f.retried || f.exhausted { // its retries may have been before the time that is looked at
			retried++
		}
	}
	slices.Sort(t.toSuccess)
	timed := int64(len(t.toSuccess))
	return []KPI{
		share(KPI{Name: "successAfterRetry", Rule: rule, Bound: AtLeast, Target: 0.80}, t.retriedSuccesses, t.retriedOutcomes),
		share(KPI{Name: "successAfterRetry", Rule: sibling, Bound: AtLeast, Target: 0.85}, t.retriedSuccesses, t.retriedOutcomes),
		{Name: "meanTimeToSuccess", Rule: rule, Measure: Seconds, Bound: AtMost, Target: 7200, Value: mean(t.toSuccess), Of: timed},
		{Name: "medianTimeToSuccess", Rule: sibling, Measure: Seconds, Bound: AtMost, Target: 3600, Value: median(t.toSuccess), Of: timed},
		share(KPI{Name: "permanentErrors", Rule: rule, Bound: Below, Target: 0.10}, t.kinds[KindPermanent], t.Decisions()),
		share(KPI{Name: "retriesUsedUp", Rule: rule, Bound: Below, Target: 0.05}, exhausted, t.Claims()),
		share(KPI{Name: "claimsLost", Rule: sibling, Bound: AtMost, Target: 0.03}, exhausted, retried),
		{
			Name: "meanAttemptsToSuccess", Rule: sibling, Measure: Number, Bound: AtMost, Target: 1.2,
			Value: ratio(t.attempts, t.kinds[KindSubmitted]), Of: t.kinds[KindSubmitted],
		},
	}
}

func share(k KPI, part, of int64) KPI {
	k.Measure, k.Value, k.Part, k.Of = Share, ratio(part, of), part, of
	return k
}

// ratio, mean and median are 0 of nothing.
func ratio(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

func mean(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	var sum float64
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// median wants them sorted.
func median(all []float64) float64 {
	n := len(all)
	if n == 0 {
		return 0
	}
	return (all[(n-1)/2] + all[n/2]) / 2
}
