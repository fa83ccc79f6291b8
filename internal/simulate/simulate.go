// Package simulate plays a retry policy against outages, with many invented claims: how many are accepted after all, how
// many tries are in vain, and how large the waves of resubmissions are.
//
// It is pure, like the rule that it asks: no clock, no file, and chance comes from a seed. The same question always gets
// the same answer. Every decision is one of [retry.Policy.Decide].
package simulate

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// maxClaims bounds a simulation: more claims show nothing new and take minutes.
const maxClaims = 1_000_000

// Outage is a time in which every try fails, counted from the start of the simulation: from Begin up to, but without, End.
// Both are whole seconds.
type Outage struct{ Begin, End time.Duration }

// Scenario is what happens to the claims. The same scenario has the same claims under every policy.
type Scenario struct {
	// Outages are one or more, in any order.
	Outages []Outage
	// Claims is how many there are, 1 to 1,000,000.
	Claims int
	// Arrivals is the time over which the claims are submitted for the first time, from the start on: whole seconds, each
	// claim at a second of its own chance. 0 means all at once, at the start.
	Arrivals time.Duration
	// Error is the text of every failure. A date in it means nothing, for the simulation has a calendar of its own.
	Error string
	// FailureRate is the share of the tries that fail outside of the outages too, 0 up to, but without, 1.
	FailureRate float64
	// Seed determines all random numbers.
	Seed uint64
}

// Check returns all faults of the scenario.
func (s *Scenario) Check() error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(len(s.Outages) == 0, "there is no outage: give at least one")
	for _, o := range s.Outages {
		fault(o.Begin < 0 || o.End <= o.Begin || o.Begin%time.Second != 0 || o.End%time.Second != 0,
			"an outage is from %s to %s but must last a second or more, in whole seconds", retry.FormatDuration(o.Begin), retry.FormatDuration(o.End))
	}
	fault(s.Claims < 1 || s.Claims > maxClaims, "claims are %d but must be 1 to %d", s.Claims, maxClaims)
	fault(s.Arrivals < 0 || s.Arrivals%time.Second != 0, "arrivals are over %s but must be over whole seconds, or 0s for all at once", retry.FormatDuration(s.Arrivals))
	fault(!(s.FailureRate >= 0 && s.FailureRate < 1), "the failure rate is %v but must be from 0 to less than 1", s.FailureRate)
	fault(strings.TrimSpace(s.Error) == "", "the error text is empty")
	return errors.Join(faults...)
}

// End returns when the last outage is over.
func (s *Scenario) End() (end time.Duration) {
	for _, o := range s.Outages {
		end = max(end, o.End)
	}
	return end
}

func (s *Scenario) down(at time.Duration) bool {
	for _, o := range s.Outages {
		if o.Begin <= at && at < o.End {
			return true
		}
	}
	return false
}

// epoch is the start of every simulation. Only differences matter.
var epoch = time.Unix(0, 0).UTC()

// progressEvery is how many claims lie between two calls of progress.
const progressEvery = 1000

// Run plays the scenario under a policy. It calls progress, which may be nil, every so many claims with how many are done,
// and stops at its error. The other errors say what is wrong with the scenario, or with its text for the policy.
func Run(p *retry.Policy, s Scenario, progress func(done int) error) (*Result, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	lean, err := forText(p, s.Error)
	if err != nil {
		return nil, err
	}
	run := run{policy: lean, scenario: &s, waves: map[int64]int{}}
	run.result.Class = p.Classify(s.Error)
	if progress == nil {
		progress = func(int) error { return nil }
	}
	if err := run.all(progress); err != nil {
		return nil, err
	}
	return run.sum(), nil
}

// forText returns the policy with only the rule that matches a text. It decides about this text as the whole policy does, but
// faster, because no other rule has to read it first.
func forText(p *retry.Policy, text string) (*retry.Policy, error) {
	found := p.Classify(text)
	lean := p.Settings
	lean.Rules, lean.InDoubt = nil, nil // what may have landed is advice, which changes no wait
	lean.IDs = retry.AnyIDs             // the ids of a simulation are of either form
	for _, rule := range p.Rules {
		if rule.ID == found.RuleID && rule.Class == found.Class {
			lean.Rules = append(lean.Rules, rule)
		}
	}
	return retry.New(lean)
}

// WithoutJitter returns the policy with every wait as it is before jitter. Its name stays.
func WithoutJitter(p *retry.Policy) (*retry.Policy, error) {
	plain := p.Settings
	plain.Jitter = 0
	return retry.New(plain)
}

// run is a simulation under way.
type run struct {
	policy   *retry.Policy
	scenario *Scenario
	result   Result
	// waves are the retries by the second in which they are made; toSuccess is in seconds.
	waves     map[int64]int
	toSuccess []int64
}

// all plays all claims. Without jitter and chance, claims that are submitted in the same second end alike and are played once.
func (r *run) all(progress func(done int) error) error {
	alike := r.policy.Jitter == 0 && r.scenario.FailureRate == 0
	together := map[time.Duration]int{}
	for i := range r.scenario.Claims {
		at, chance := r.arrival(i)
		if alike {
			together[at]++
		} else if err := r.play(i, 1, at, chance); err != nil {
			return err
		}
		if (i+1)%progressEvery == 0 {
			if err := progress(i + 1); err != nil {
				return err
			}
		}
	}
	for at, claims := range together {
		if err := r.play(0, claims, at, nil); err != nil {
			return err
		}
	}
	return nil
}

// arrival returns when a claim is submitted first, and its source of random numbers. Both depend on the seed and the claim's
// number only, so that it is the same claim under every policy.
func (r *run) arrival(number int) (at time.Duration, chance *rand.Rand) {
	chance = rand.New(rand.NewPCG(r.scenario.Seed, uint64(number))) //nolint:gosec // a number of a claim is not negative
	if s := r.scenario; s.Arrivals > 0 {
		at = time.Duration(chance.Int64N(int64(s.Arrivals/time.Second))) * time.Second
	}
	return at, chance
}

// play plays so many claims that end alike from their first try to their end.
func (r *run) play(number, claims int, at time.Duration, chance *rand.Rand) error {
	s := r.scenario
	request := retry.Request{ClaimID: claimID(s.Seed), ProcessInstanceKey: int64(number) + 1, SubmissionError: s.Error}
	for first := at; ; {
		down := s.down(at)
		r.result.Tries += claims
		if request.RetryCount > 0 {
			r.waves[int64(at/time.Second)] += claims
			if down {
				r.result.Wasted += claims
			}
		}
		if !down && (s.FailureRate == 0 || chance.Float64() >= s.FailureRate) {
			r.accepted(claims, request.RetryCount, first, at)
			return nil
		}
		d, err := r.policy.Decide(request, epoch.Add(at))
		if err != nil {
			return err
		}
		if d.Outcome != retry.OutcomeRetry {
			r.stopped(claims, &d)
			return nil
		}
		if request.RetryCount == 0 {
			request.FirstFailure = epoch.Add(at)
		}
		request.RetryCount = d.RetryCount
		at = d.NextRetryTime.Sub(epoch)
	}
}

// claimID returns the id, which is the same for all claims of a run: their process instances differ, and with them their jitter.
func claimID(seed uint64) string { return fmt.Sprintf("CLM-SIM-%d", seed) }

func (r *run) accepted(claims, retries int, first, at time.Duration) {
	if retries == 0 {
		r.result.AtOnce += claims
		return
	}
	r.result.Survivors += claims
	r.result.LastAccepted = max(r.result.LastAccepted, at)
	r.toSuccess = append(r.toSuccess, slices.Repeat([]int64{int64((at - first) / time.Second)}, claims)...)
}

func (r *run) stopped(claims int, d *retry.Decision) {
	switch d.Step {
	case retry.StepPermanent:
		r.result.Permanent += claims
	case retry.StepDeadline:
		r.result.Deadline += claims
	case retry.StepCount, retry.StepHint, retry.StepBackoff: // the last two stop nothing
		r.result.Exhausted += claims
	}
}

// Result is how a simulation went. The claims are AtOnce, Survivors, Exhausted, Deadline and Permanent together.
type Result struct {
	// Class is what the policy takes the error text for.
	Class retry.Classification
	// AtOnce were accepted at their first try, Survivors at a later one.
	AtOnce, Survivors int
	// Exhausted have used up their retries, Deadline were stopped by the policy's deadline, Permanent by the error's class.
	Exhausted, Deadline, Permanent int
	// Tries are all submissions, the first ones included. Wasted are those of the retries that were made in an outage.
	Tries, Wasted int
	// P50, P95 and Max are how long it took the survivors from their first failure to their acceptance; 0 where there is none.
	P50, P95, Max time.Duration
	// LastAccepted is when the last survivor was accepted, from the start on; 0 where there is none.
	LastAccepted time.Duration
	// Waves are the retries by the second in which they are made, in order; seconds without one are left out.
	Waves []Wave
	// Largest is the largest number of retries within any 60 seconds, and when those begin.
	Largest Wave
}

// Wave is a number of retries that are made at a time, counted from the start, or from that time on.
type Wave struct {
	At      time.Duration
	Retries int
}

func (r *run) sum() *Result {
	sum := r.result
	slices.Sort(r.toSuccess)
	sum.P50, sum.P95, sum.Max = quantile(r.toSuccess, 50), quantile(r.toSuccess, 95), quantile(r.toSuccess, 100)
	for _, second := range slices.Sorted(maps.Keys(r.waves)) {
		sum.Waves = append(sum.Waves, Wave{At: time.Duration(second) * time.Second, Retries: r.waves[second]})
	}
	sum.Largest = largest(sum.Waves)
	return &sum
}

// quantile returns the least of the sorted seconds that percent of them do not exceed; 0 for none.
func quantile(sorted []int64, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*percent + 99) / 100
	return time.Duration(sorted[max(rank, 1)-1]) * time.Second
}

// largest returns the largest number of retries within a minute, the first of equal ones.
func largest(waves []Wave) (most Wave) {
	within, from := 0, 0
	for _, w := range waves {
		within += w.Retries
		for ; waves[from].At <= w.At-time.Minute; from++ {
			within -= waves[from].Retries
		}
		if within > most.Retries {
			most = Wave{At: waves[from].At, Retries: within}
		}
	}
	return most
}
