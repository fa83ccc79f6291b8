package kpi

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
)

// Outcomes are what became of the claims of a time, each counted once. Its JSON form is stable.
type Outcomes struct {
	// Total is how many claims there are: the sum of those below.
	Total int64 `json:"total"`
	// AcceptedAtOnce are the claims that the insurer accepted without a failure, AcceptedAfterPerson those
	// that a person had sent again, AcceptedAfterRetry all others: one that was stopped may have arrived.
	AcceptedAtOnce      int64 `json:"acceptedAtOnce"`
	AcceptedAfterRetry  int64 `json:"acceptedAfterRetry"`
	AcceptedAfterPerson int64 `json:"acceptedAfterPerson"`
	Abandoned           int64 `json:"abandoned"`
	// Open are the claims that had not ended at the end of the time, by how they stood, however long they
	// had.
	Open map[audit.Standing]int64 `json:"open"`
}

// OpenClaims returns how many claims have not ended.
func (t Outcomes) OpenClaims() (n int64) {
	for _, open := range t.Open {
		n += open
	}
	return n
}

// Result is what was measured of the claims of one policy. Its JSON form is stable.
type Result struct {
	// Policy is the one that decided last about a claim, or that was named where its end was recorded;
	// [claims.NoPolicy] for claims without.
	Policy string      `json:"policy"`
	KPIs   []Indicator `json:"kpis"`
	Claims Outcomes    `json:"claims"`
	Causes []Cause     `json:"causes"`

	causes    map[Cause]int64
	toSuccess map[int64]int64 // how many claims, by minutes
}

// Tally counts the claims of a time, From <= t < To: those that ended in it, and those that were open at its
// end. For the KPIs a claim counts in one time only: one that is open in that of the last record that shows
// how it stands. It is for one goroutine at a time.
type Tally struct {
	From, To time.Time

	policies map[string]*Result
}

// Measure counts the claims of a time by what a store holds of it, and returns those that were open at its
// end too. What comes after that end changes nothing, so that a time that has passed is measured alike for
// ever.
func Measure(ctx context.Context, store audit.Store, from, to time.Time) (*Tally, []claims.Claim, error) {
	t := &Tally{From: from, To: to}
	if err := store.Totals(ctx, from, to, nil, t.Add); err != nil {
		return nil, nil, err
	}
	open, err := openAt(ctx, store, to)
	for i := range open {
		t.AddOpen(&open[i].State)
	}
	return t, open, err
}

// openAt returns the claims that were open at a time, as they stood then, the oldest first: those that are
// open now, but for each of which more is recorded since as it stood before that.
func openAt(ctx context.Context, store audit.Store, at time.Time) ([]claims.Claim, error) {
	open := map[string]claims.Claim{}
	err := store.Open(ctx, func(id string, s *audit.State) error {
		open[id] = claims.Open(id, s, at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	wasOpen := map[string]bool{} // the claims of which more is recorded
	err = store.Between(ctx, at, at.AddDate(100, 0, 0), nil, func(r *audit.Record) error {
		if _, seen := wasOpen[r.ClaimID]; !seen && r.ClaimID != "" {
			wasOpen[r.ClaimID] = r.Prev != 0
			delete(open, r.ClaimID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id, was := range wasOpen {
		if !was {
			continue
		}
		_, records, err := store.Claim(ctx, id)
		if err != nil {
			return nil, err
		}
		var then audit.State
		for i := range records {
			if records[i].At.Before(at) {
				then = then.Add(&records[i])
			}
		}
		if !then.IsZero() {
			open[id] = claims.Open(id, &then, at)
		}
	}
	return slices.SortedFunc(maps.Values(open), claims.InOrder), nil
}

func (t *Tally) of(policy string) *Result {
	policy = cmp.Or(policy, claims.NoPolicy)
	if t.policies == nil {
		t.policies = map[string]*Result{}
	}
	if t.policies[policy] == nil {
		kpis := parts(new(audit.Total), "")
		t.policies[policy] = &Result{
			Policy:    policy,
			KPIs:      kpis[:],
			Claims:    Outcomes{Open: map[audit.Standing]int64{}},
			causes:    map[Cause]int64{},
			toSuccess: map[int64]int64{},
		}
	}
	return t.policies[policy]
}

// Add counts records of the time. It never fails.
func (t *Tally) Add(n *audit.Total) error {
	r := t.of(n.Policy)
	if n.Kind.IsDecision() {
		r.causes[Cause{Class: string(n.Class), RuleID: n.Rule, MatchedCode: n.Code}] += n.Records
	}
	r.measure(n, "")
	r.count(n)
	return nil
}

// AddOpen counts a claim that is open, as it stands at the end of the time, for the KPIs only if its last
// record is of the time.
func (t *Tally) AddOpen(claim *audit.State) {
	if !claim.At.Before(t.To) {
		return
	}
	r, standing := t.of(claim.Policy), claim.Standing(t.To)
	r.Claims.Open[standing]++
	r.Claims.Total++
	if !claim.At.Before(t.From) {
		open := claim.Earlier + int64(t.To.Sub(claim.Opened)/time.Second)
		r.measure(&audit.Total{Flags: claim.Flags, Minutes: (open + 59) / 60, Records: 1}, standing)
	}
}

// measure counts records or claims for the KPIs.
func (r *Result) measure(n *audit.Total, standing audit.Standing) {
	for i, of := range parts(n, standing) {
		r.KPIs[i].MeasuredOn += of.MeasuredOn
		r.KPIs[i].Part += of.Part
	}
	if succeeded(n) {
		r.toSuccess[n.Minutes] += n.Records
	}
}

// count counts claims that ended, by what became of them.
func (r *Result) count(n *audit.Total) {
	o := &r.Claims
	switch {
	case n.Kind == audit.KindAbandoned:
		o.Abandoned += n.Records
	case n.Kind != audit.KindSubmitted:
		return
	case n.Flags.Has(audit.CourseByPerson):
		o.AcceptedAfterPerson += n.Records
	case n.Flags.Has(audit.CourseFailed):
		o.AcceptedAfterRetry += n.Records
	default:
		o.AcceptedAtOnce += n.Records
	}
	o.Total += n.Records
}

// Rates returns the value of a share by policy, of those of which it was measured.
func (t *Tally) Rates(name string) map[string]float64 {
	rates := map[string]float64{}
	for policy, r := range t.policies {
		for _, of := range r.KPIs {
			if of.Name == name && of.MeasuredOn > 0 {
				rates[policy] = float64(of.Part) / float64(of.MeasuredOn)
			}
		}
	}
	return rates
}

// Results returns what was measured, by policy in the order of their names. targets returns those of a
// policy.
func (t *Tally) Results(targets func(policy string) []retry.Target) []Result {
	results := []Result{}
	nameless := t.policies[claims.NoPolicy]
	for _, policy := range slices.Sorted(maps.Keys(t.policies)) {
		r := *t.policies[policy]
		// Where the claims that never failed have no policy, the others alone are no mean of attempts.
		unnamed := nameless != nil && nameless.Claims.AcceptedAtOnce > 0 && r.Claims.AcceptedAtOnce == 0
		r.KPIs, r.Causes = r.measured(targets(policy), unnamed), sortedCauses(r.causes)
		results = append(results, r)
	}
	return results
}
