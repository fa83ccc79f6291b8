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
	// Sent is how many claims there are: the sum of those below.
	Sent int64 `json:"sent"`
	// AcceptedAtOnce are the claims that the insurer accepted without a failure, AcceptedAfterRetry those
	// after retries only, AcceptedAfterPerson those that a person had sent again.
	AcceptedAtOnce      int64 `json:"acceptedAtOnce"`
	AcceptedAfterRetry  int64 `json:"acceptedAfterRetry"`
	AcceptedAfterPerson int64 `json:"acceptedAfterPerson"`
	Abandoned           int64 `json:"abandoned"`
	// Open are the claims that have not ended, by how they stand; OldestOpen is when the oldest of them was
	// opened, absent where there is none.
	Open       map[audit.Standing]int64 `json:"open"`
	OldestOpen time.Time                `json:"oldestOpen,omitzero"`
}

// Accepted returns how many claims the insurer accepted in the end.
func (t Outcomes) Accepted() int64 {
	return t.AcceptedAtOnce + t.AcceptedAfterRetry + t.AcceptedAfterPerson
}

// OpenClaims returns how many claims have not ended.
func (t Outcomes) OpenClaims() (n int64) {
	for _, of := range t.Open {
		n += of
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
	// Records is how many records there are, by the name of their kind.
	Records map[string]int64 `json:"records"`
}

// Tally counts the claims of a time, From <= t < To, each once: one that ended by when it ended, one that is
// open by the last record that shows how it stands. It is for one goroutine at a time.
type Tally struct {
	From, To time.Time

	policies map[string]*sums
}

// Measure counts the claims of a time by what a store holds of it, and of the claims that are open.
func Measure(ctx context.Context, store audit.Store, from, to time.Time) (*Tally, error) {
	t := &Tally{From: from, To: to}
	if err := store.Totals(ctx, from, to, t.Add); err != nil {
		return nil, err
	}
	return t, store.Open(ctx, func(_ string, s *audit.State) error {
		t.AddOpen(s)
		return nil
	})
}

// sums are what the claims of one policy add up to.
type sums struct {
	records   map[string]int64
	causes    map[Cause]int64
	outcomes  Outcomes
	shares    map[string]Share // by KPI
	toSuccess map[int64]int64  // how many, by minutes
}

// count adds to a KPI.
func (s *sums) count(kpi string, part, on int64) { s.shares[kpi] = s.shares[kpi].plus(part, on) }

func (t *Tally) of(policy string) *sums {
	policy = cmp.Or(policy, claims.NoPolicy)
	if t.policies[policy] == nil {
		if t.policies == nil {
			t.policies = map[string]*sums{}
		}
		t.policies[policy] = &sums{
			records:   map[string]int64{},
			causes:    map[Cause]int64{},
			outcomes:  Outcomes{Open: map[audit.Standing]int64{}},
			shares:    map[string]Share{},
			toSuccess: map[int64]int64{},
		}
	}
	return t.policies[policy]
}

// Add counts records of the time. It never fails.
func (t *Tally) Add(n *audit.Total) error {
	s := t.of(n.Policy)
	s.records[n.Kind.String()] += n.Records
	if n.Kind.IsDecision() {
		s.count("permanentErrors", when(n.Kind == audit.KindPermanent, n.Records), n.Records)
		s.causes[Cause{Class: string(n.Class), RuleID: n.Rule, MatchedCode: n.Code}] += n.Records
	}
	if !n.Kind.Ends() {
		return nil
	}
	accepted := n.Kind == audit.KindSubmitted
	s.add(n.Flags, n.Records, true, accepted)
	if accepted {
		s.accept(n)
	} else {
		s.outcomes.Abandoned += n.Records
	}
	if n.Flags.Has(audit.CourseFailed) {
		for kpi, span := range spans {
			s.count(kpi, when(time.Duration(n.Minutes)*time.Minute <= span, n.Records), n.Records)
		}
	}
	return nil
}

// AddOpen counts a claim that is open, as it stands at the end of the time, if its last record is of the
// time.
func (t *Tally) AddOpen(claim *audit.State) {
	if claim.At.Before(t.From) || !claim.At.Before(t.To) {
		return
	}
	s, standing := t.of(claim.Policy), claim.Standing(t.To)
	s.add(claim.Flags, 1, standing == audit.Stopped || standing == audit.DeadLetter, false)
	s.outcomes.Open[standing]++
	if first := s.outcomes.OldestOpen; first.IsZero() || claim.Opened.Before(first) {
		s.outcomes.OldestOpen = claim.Opened
	}
	for kpi, span := range spans {
		s.count(kpi, 0, when(claim.Flags.Has(audit.CourseFailed) && t.To.Sub(claim.Opened) > span, 1))
	}
}

// add counts n claims with a course of these flags. Those that are settled are not under way any more.
func (s *sums) add(flags audit.CourseFlags, n int64, settled, accepted bool) {
	retried, exhausted := flags.Has(audit.CourseRetried), flags.Has(audit.CourseExhausted)
	s.outcomes.Sent += n
	s.count("retriesUsedUp", when(exhausted, n), when(flags.Has(audit.CourseDecided), n))
	s.count("claimsLost", when(exhausted && settled && !accepted, n), when(retried, n))
	s.count(success, when(retried && accepted, n), when(retried && settled, n))
}

// accept counts claims that the insurer accepted.
func (s *sums) accept(n *audit.Total) {
	s.count("meanAttemptsToSuccess", n.Attempts, n.Records)
	failed, byPerson := n.Flags.Has(audit.CourseFailed), n.Flags.Has(audit.CourseByPerson)
	switch {
	case byPerson:
		s.outcomes.AcceptedAfterPerson += n.Records
	case failed:
		s.outcomes.AcceptedAfterRetry += n.Records
	default:
		s.outcomes.AcceptedAtOnce += n.Records
	}
	if failed && (byPerson || n.Flags.Has(audit.CourseRetried)) {
		s.toSuccess[n.Minutes] += n.Records
		s.count(medianTime, 0, n.Records)
		s.count("meanTimeToSuccess", n.Seconds, n.Records)
	}
}

func when(is bool, n int64) int64 {
	if is {
		return n
	}
	return 0
}

// Results returns what was measured, by policy in the order of their names. targets returns those of a
// policy.
func (t *Tally) Results(targets func(policy string) []retry.Target) []Result {
	results := []Result{}
	for _, policy := range slices.Sorted(maps.Keys(t.policies)) {
		s := t.policies[policy]
		results = append(results, Result{
			Policy:  policy,
			KPIs:    s.indicators(targets(policy)),
			Claims:  s.outcomes,
			Causes:  sortedCauses(s.causes),
			Records: s.records,
		})
	}
	return results
}
