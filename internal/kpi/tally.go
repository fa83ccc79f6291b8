package kpi

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// Counts are how many records of each kind there are. Its JSON form is stable.
type Counts struct {
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
	// DecisionsRefused are the answers of people that were no decision.
	DecisionsRefused int64 `json:"decisionsRefused"`
}

func (n *Counts) add(kind audit.Kind) {
	if kind.IsDecision() {
		n.Decisions++
	}
	if of := map[audit.Kind]*int64{
		audit.KindRetry: &n.Retries, audit.KindExhausted: &n.Exhausted, audit.KindPermanent: &n.Permanent, audit.KindRejected: &n.Rejected,
		audit.KindUndelivered: &n.Undelivered, audit.KindSubmitted: &n.Submitted, audit.KindResubmitted: &n.Resubmitted,
		audit.KindAbandoned: &n.Abandoned, audit.KindRedriven: &n.Redriven, audit.KindDecisionRefused: &n.DecisionsRefused,
	}[kind]; of != nil {
		*of++
	}
}

// Outcomes are what became of the claims with a record in a time, each counted once, as they stood at its end. Its JSON form is
// stable.
type Outcomes struct {
	// Sent is how many claims there are: the sum of those below.
	Sent int64 `json:"sent"`
	// AcceptedAtOnce are the claims that the insurer accepted without a failure, AcceptedAfterRetry those after retries only,
	// AcceptedAfterPerson those that a person had sent again.
	AcceptedAtOnce      int64 `json:"acceptedAtOnce"`
	AcceptedAfterRetry  int64 `json:"acceptedAfterRetry"`
	AcceptedAfterPerson int64 `json:"acceptedAfterPerson"`
	Abandoned           int64 `json:"abandoned"`
	// Open are the claims that have not ended, by state; OldestOpen is when the oldest of them first failed, nil where there is none.
	Open       map[claims.State]int64 `json:"open"`
	OldestOpen *time.Time             `json:"oldestOpen,omitempty"`
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
	// Policy is the one that decided last about a claim; [claims.NoPolicy] for claims that no policy has decided about.
	Policy string       `json:"policy"`
	KPIs   []Indicator  `json:"kpis"`
	Claims Outcomes     `json:"claims"`
	Causes []CauseCount `json:"causes"`
	Counts Counts       `json:"counts"`
}

// Tally counts records for the KPIs. Its zero value has counted none. It is for one goroutine at a time.
type Tally struct {
	counts map[string]*Counts
	causes map[string]map[Cause]int64
	claims map[string]*claim
}

// claim is what the records say of a claim since its last end, or of that end.
type claim struct {
	policy     string
	last       audit.Kind
	next, at   time.Time
	opened     time.Time // when it first failed; zero where it has not
	attempts   int64     // of the rounds that ended
	decided    bool
	retried    bool
	exhausted  bool
	byPerson   bool
	deadLetter bool
}

// Add counts a record; the records come in the order of time. It fails only where the record is not one that this worker writes.
func (t *Tally) Add(r *audit.Record) error {
	if t.counts == nil {
		t.counts, t.causes, t.claims = map[string]*Counts{}, map[string]map[Cause]int64{}, map[string]*claim{}
	}
	facts, err := r.Facts()
	if err != nil {
		return err
	}
	c := t.claim(r.ClaimID)
	if policy := facts.PolicyName(); policy != "" {
		c.policy = policy
	}
	t.count(r, &facts, cmp.Or(c.policy, claims.NoPolicy))
	if r.Kind.ShowsState() { // the others are about the record before
		c.add(r, &facts)
	}
	return nil
}

// claim returns what is known of a claim. Of a record without one it is not kept.
func (t *Tally) claim(id string) *claim {
	c := t.claims[id]
	if c == nil {
		c = new(claim)
		if id != "" {
			t.claims[id] = c
		}
	}
	return c
}

func (t *Tally) count(r *audit.Record, facts *contract.Facts, policy string) {
	if t.counts[policy] == nil {
		t.counts[policy], t.causes[policy] = new(Counts), map[Cause]int64{}
	}
	t.counts[policy].add(r.Kind)
	if r.Kind.IsDecision() {
		x := &facts.RetryDecision
		t.causes[policy][Cause{string(facts.ErrorClassification), x.RuleID, x.MatchedCode}]++
	}
}

func (c *claim) add(r *audit.Record, facts *contract.Facts) {
	if c.last == audit.KindSubmitted || c.last == audit.KindAbandoned { // it begins anew
		*c = claim{policy: c.policy}
	}
	c.last, c.at, c.next = r.Kind, r.At, claims.NextTry(r, facts)
	for _, first := range []*time.Time{facts.FirstFailureTime, facts.OpenedAt} { // which may be before the time that is looked at
		if first != nil && (c.opened.IsZero() || first.Before(c.opened)) {
			c.opened = *first
		}
	}
	if c.opened.IsZero() && !r.Kind.IsOutcome() {
		c.opened = r.At
	}
	switch {
	case r.Kind.IsDecision():
		c.decided, c.deadLetter = true, facts.With == claims.WithDeadLetters
		c.exhausted = c.exhausted || r.Kind == audit.KindExhausted
		c.retried = c.retried || c.exhausted || r.Kind == audit.KindRetry // those before the time that is looked at count too
	case r.Kind.IsOutcome():
		c.attempts += int64(facts.Attempts)
		c.retried = c.retried || r.RetryCount > 0
		c.byPerson = c.byPerson || r.Kind == audit.KindResubmitted || facts.Resubmitted
	case r.Kind == audit.KindRedriven:
		c.byPerson = true
	}
}

// sums are what the claims of one policy add up to.
type sums struct {
	counts                          Counts
	outcomes                        Outcomes
	retriedAccepted, retriedSettled int64
	decided, exhausted              int64
	retried, lost                   int64
	accepted, attempts              int64
	toSuccess                       []float64 // seconds
	within, due                     [len(spans)]int64
}

// Results returns what was measured up to the time to, by policy in the order of their names. targets returns those of a policy.
func (t *Tally) Results(to time.Time, targets func(policy string) []retry.Target) []Result {
	of := t.sums(to)
	if none := of[claims.NoPolicy]; none != nil { // they never failed, so they count for every policy
		for policy, s := range of {
			if policy != claims.NoPolicy {
				s.accepted, s.attempts = s.accepted+none.accepted, s.attempts+none.attempts
			}
		}
	}
	results := []Result{}
	for _, policy := range slices.Sorted(maps.Keys(of)) {
		s := of[policy]
		results = append(results, Result{policy, s.indicators(targets(policy)), s.outcomes, sortedCauses(t.causes[policy]), s.counts})
	}
	return results
}

// sums adds up the claims of each policy.
func (t *Tally) sums(to time.Time) map[string]*sums {
	of := map[string]*sums{}
	for policy, counts := range t.counts {
		of[policy] = &sums{counts: *counts, outcomes: Outcomes{Open: map[claims.State]int64{}}}
	}
	for _, c := range t.claims {
		of[cmp.Or(c.policy, claims.NoPolicy)].add(c, to)
	}
	return of
}

func (s *sums) add(c *claim, to time.Time) {
	if c.last == 0 {
		return // of all that the claim has, the answer of one record did not arrive
	}
	state := claims.StateOf(c.last, c.next, c.deadLetter, to)
	s.outcomes.Sent++
	settled := true
	switch state {
	case claims.Submitted:
		s.accept(c)
	case claims.Abandoned:
		s.outcomes.Abandoned++
	case claims.Stopped, claims.DeadLetter:
		s.outcomes.open(state, c.opened)
	case claims.Waiting, claims.Overdue, claims.Incident, claims.Redriven:
		s.outcomes.open(state, c.opened)
		settled = false
	}
	accepted := state == claims.Submitted
	s.decided += number(c.decided)
	s.exhausted += number(c.exhausted)
	s.retried += number(c.retried)
	s.lost += number(c.exhausted && settled && !accepted)
	s.retriedSettled += number(c.retried && settled)
	s.retriedAccepted += number(c.retried && accepted)
	s.time(c, !state.IsOpen(), to)
}

// time counts the claim among those that ended, or have not ended, within the spans.
func (s *sums) time(c *claim, ended bool, to time.Time) {
	if c.opened.IsZero() {
		return
	}
	if ended {
		to = c.at
	}
	for i, span := range spans {
		within := to.Sub(c.opened) <= span
		s.within[i] += number(ended && within)
		s.due[i] += number(ended || !within)
	}
}

func (s *sums) accept(c *claim) {
	s.accepted++
	s.attempts += c.attempts
	switch {
	case c.byPerson:
		s.outcomes.AcceptedAfterPerson++
	case c.opened.IsZero():
		s.outcomes.AcceptedAtOnce++
	default:
		s.outcomes.AcceptedAfterRetry++
	}
	if (c.retried || c.byPerson) && !c.opened.IsZero() {
		// The clocks of two replicas may differ: a success is never before the failure.
		s.toSuccess = append(s.toSuccess, max(c.at.Sub(c.opened), 0).Seconds())
	}
}

func (t *Outcomes) open(state claims.State, opened time.Time) {
	t.Open[state]++
	if !opened.IsZero() && (t.OldestOpen == nil || opened.Before(*t.OldestOpen)) {
		t.OldestOpen = &opened
	}
}

func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// SuccessRates returns successAfterRetry of each policy of which it was measured, up to the time to.
func (t *Tally) SuccessRates(to time.Time) map[string]float64 {
	rates := map[string]float64{}
	for policy, s := range t.sums(to) {
		if s.retriedSettled > 0 {
			rates[policy] = float64(s.retriedAccepted) / float64(s.retriedSettled)
		}
	}
	return rates
}
