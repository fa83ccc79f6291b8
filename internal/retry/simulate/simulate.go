// Package simulate plays a retry policy against an outage with invented claims: how many are accepted after
// all, how many tries are in vain, and how many resubmissions come at once.
//
// It is pure, like the rule that it asks: no clock, no file, and the same question always gets the same
// answer. Every decision is one of [retry.Policy.Decide].
package simulate

import (
	"math/rand/v2"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// seed determines when the claims are submitted first.
const seed = 1

// Scenario is what happens to the claims. The same scenario has the same claims under every policy.
type Scenario struct {
	// Outage is how long every try fails, more than 0. The claims are submitted first at random seconds of
	// it.
	Outage time.Duration
	// Claims is how many there are.
	Claims int
	// Error is the text of every failure. A date in it means nothing, for the simulation has a calendar of
	// its own.
	Error string
}

// Result is how a simulation went under a policy. Its JSON form is stable: names are added, never changed.
type Result struct {
	Policy  string `json:"policy"`
	Version string `json:"policyVersion"`
	// Class and RuleID are what the policy takes the error text for.
	Class  retry.Class `json:"errorClassification"`
	RuleID string      `json:"ruleId"`
	// Accepted are the claims that were accepted in the end, GivenUp the others.
	Accepted int `json:"accepted"`
	GivenUp  int `json:"givenUp"`
	// InVain are the retries that were made in an outage, InAMinute the most retries within any 60 seconds.
	InVain    int `json:"triesInVain"`
	InAMinute int `json:"mostTriesInAMinute"`
	// Median and P95 are how long it took from the first failure to the acceptance, of the claims that failed
	// and were accepted, in seconds; 0 where there is none.
	Median int64 `json:"medianSeconds"`
	P95    int64 `json:"p95Seconds"`
}

// epoch is the start of every simulation. Only differences matter.
var epoch = time.Unix(0, 0).UTC()

// Run plays a scenario under a policy to its end. Claims differ in their process instance, and with it in
// their jitter.
func Run(p *retry.Policy, s Scenario) *Result {
	found := p.Classify(s.Error)
	r := &Result{Policy: p.Name, Version: p.Version(), Class: found.Class, RuleID: found.ID}
	var retries, toSuccess []int64 // when each was made, and how long each took, in seconds
	seconds := int64((s.Outage + time.Second - 1) / time.Second)
	for i := range s.Claims {
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		first := time.Duration(chance.Int64N(seconds)) * time.Second
		tries, accepted := play(p, &s, int64(i)+1, first)
		for _, at := range tries[1:] {
			retries = append(retries, int64(at/time.Second))
			if at < s.Outage {
				r.InVain++
			}
		}
		if !accepted {
			r.GivenUp++
			continue
		}
		r.Accepted++
		toSuccess = append(toSuccess, int64((tries[len(tries)-1]-first)/time.Second))
	}
	slices.Sort(toSuccess)
	r.Median, r.P95 = quantile(toSuccess, 50), quantile(toSuccess, 95)
	r.InAMinute = largest(retries)
	return r
}

// play returns when a claim is submitted, from its first try to its end, and whether it is accepted then.
func play(p *retry.Policy, s *Scenario, instance int64, at time.Duration) (
	tries []time.Duration, accepted bool,
) {
	request := retry.Request{
		ClaimID:            "CLM-SIM-1",
		ProcessInstanceKey: instance,
		SubmissionError:    s.Error,
		FirstFailure:       epoch.Add(at),
	}
	for {
		tries = append(tries, at)
		if at >= s.Outage {
			return tries, true
		}
		d := p.Decide(request, epoch.Add(at))
		if d.Outcome != retry.OutcomeRetry {
			return tries, false
		}
		request.RetryCount = d.RetryCount
		at = d.NextRetryTime.Sub(epoch)
	}
}

// quantile returns the least of the sorted values that percent of them do not exceed; 0 for none.
func quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// largest returns the largest number of retries within a minute.
func largest(retries []int64) (most int) {
	slices.Sort(retries)
	from := 0
	for i, second := range retries {
		for retries[from] <= second-60 {
			from++
		}
		most = max(most, i+1-from)
	}
	return most
}
