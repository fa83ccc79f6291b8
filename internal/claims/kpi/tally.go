package kpi

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
)

// Outcomes are what became of the claims of a time, each counted once. Its JSON form is stable.
type Outcomes struct {
	// Sent is how many claims there are: the sum of those below.
	Sent int64 `json:"sent"`
	// AcceptedAtOnce are the claims that the insurer accepted without a failure, AcceptedAfterRetry those
	// after retries only, AcceptedAfterPerson those that a person had sent again.
	AcceptedAtOnce      int64 `json:"acceptedAtOnce"`
	AcceptedAfterRetry  int64 `json:"acceptedAfterRetry"`
	AcceptedAfterPerson int64 `json:"acceptedAfterPerson"`
	Abandoned           int64 `json:"abandoned"`
	// Open are the claims that have not ended, by how they stand.
	Open map[audit.Standing]int64 `json:"open"`
}

// Accepted returns how many claims the insurer accepted in the end.
func (t Outcomes) Accepted() int64 {
	return t.AcceptedAtOnce + t.AcceptedAfterRetry + t.AcceptedAfterPerson
}

// OpenClaims returns how many claims have not ended.
func (t Outcomes) OpenClaims() int64 { return t.Sent - t.Accepted() - t.Abandoned }

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

// Tally counts the claims of a time, From <= t < To, each once: one that ended by when it ended, one that is
// open by the last record that shows how it stands. It is for one goroutine at a time.
type Tally struct {
	From, To time.Time

	policies map[string]*Result
}

// Measure counts the claims of a time by what a store holds of it, and of the claims that are open.
func Measure(ctx context.Context, store audit.Store, from, to time.Time) (*Tally, error) {
	t := &Tally{From: from, To: to}
	if err := store.Totals(ctx, from, to, t.Add); err != nil {
		return nil, err
	}
	return t, store.Open(ctx, t.AddOpen)
}

func (t *Tally) of(policy string) *Result {
	policy = cmp.Or(policy, claims.NoPolicy)
	if t.policies == nil {
		t.policies = map[string]*Result{}
	}
	if t.policies[policy] == nil {
		r := &Result{
			Policy:    policy,
			Claims:    Outcomes{Open: map[audit.Standing]int64{}},
			causes:    map[Cause]int64{},
			toSuccess: map[int64]int64{},
		}
		for _, one := range new(group).parts() {
			r.KPIs = append(r.KPIs, Indicator{Name: one.name})
		}
		t.policies[policy] = r
	}
	return t.policies[policy]
}

// Add counts records of the time. It never fails.
func (t *Tally) Add(n *audit.Total) error {
	r := t.of(n.Policy)
	if n.Kind.IsDecision() {
		r.causes[Cause{Class: string(n.Class), RuleID: n.Rule, MatchedCode: n.Code}] += n.Records
	}
	r.add(&group{Total: *n})
	return nil
}

// AddOpen counts a claim that is open, as it stands at the end of the time, if its last record is of the
// time. It never fails.
func (t *Tally) AddOpen(_ string, claim *audit.State) error {
	if claim.At.Before(t.From) || !claim.At.Before(t.To) {
		return nil
	}
	r, g := t.of(claim.Policy), group{standing: claim.Standing(t.To)}
	g.Records, g.Flags, g.Minutes = 1, claim.Flags, int64(math.Ceil(t.To.Sub(claim.Opened).Minutes()))
	r.add(&g)
	return nil
}

// add counts a group for the KPIs, and its claims by what became of them.
func (r *Result) add(g *group) {
	for i, of := range g.parts() {
		r.KPIs[i].Share = r.KPIs[i].plus(of.Share)
	}
	if g.succeeded() {
		r.toSuccess[g.Minutes] += g.Records
	}
	o := &r.Claims
	switch {
	case g.standing != "":
		o.Open[g.standing] += g.Records
	case g.Kind == audit.KindAbandoned:
		o.Abandoned += g.Records
	case g.Kind != audit.KindSubmitted:
		return
	case g.Flags.Has(audit.CourseByPerson):
		o.AcceptedAfterPerson += g.Records
	case g.Flags.Has(audit.CourseFailed):
		o.AcceptedAfterRetry += g.Records
	default:
		o.AcceptedAtOnce += g.Records
	}
	o.Sent += g.Records
}

// Results returns what was measured, by policy in the order of their names. targets returns those of a
// policy.
func (t *Tally) Results(targets func(policy string) []retry.Target) []Result {
	results := []Result{}
	for _, policy := range slices.Sorted(maps.Keys(t.policies)) {
		r := *t.policies[policy]
		r.KPIs, r.Causes = r.measured(targets(policy)), sortedCauses(r.causes)
		results = append(results, r)
	}
	return results
}
