package report

import (
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// Explanation is what explain answers. Its JSON form is stable: names are added, never changed.
type Explanation struct {
	Policy         string      `json:"policy"`
	PolicyVersion  string      `json:"policyVersion"`
	Outcome        string      `json:"outcome"`
	BPMNError      string      `json:"bpmnError,omitempty"`
	Classification retry.Class `json:"errorClassification"`
	Rule           string      `json:"rule"`
	MatchedCode    string      `json:"matchedCode,omitempty"`
	Reason         string      `json:"retryReason"`
	RetryCount     int         `json:"retryCount"`
	MaxRetries     int         `json:"maxRetries"`
	ClaimID        string      `json:"claimId,omitempty"`
	// Instance is the process instance key; absent where none was given.
	Instance int64 `json:"processInstanceKey,omitempty"`
	// Decision is the object that a process would get. Where the wait is known as a band only, it has no backoffDuration.
	Decision contract.Explanation `json:"retryDecision"`
	// Waits is how much is known of the waits in the schedule.
	Waits Knowledge `json:"waits"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []step `json:"schedule"`

	// claims reports whether the policy is about claims, whose teams are known. lacksTime reports whether the schedule ends
	// because no further try fits before the deadline.
	claims, lacksTime bool
}

// Knowledge is how much of a wait is known. It depends on policy, retry count, claim and process instance.
type Knowledge string

const (
	bandOnly Knowledge = "band"   // without a claim
	sample   Knowledge = "sample" // with a claim: the wait of process instance 0, which does not exist
	exact    Knowledge = "exact"  // with a claim and its process instance
)

// AnyClaim stands for a claim that is not known. It decides nothing but the wait.
const AnyClaim = "CLM-0-0"

// Explain asks a policy for a decision, and for the schedule ahead. The request may lack the claim.
func Explain(p *retry.Policy, request retry.Request, now time.Time) (Explanation, error) {
	claim, waits := request.ClaimID, exact
	switch {
	case claim == "":
		request.ClaimID, waits = AnyClaim, bandOnly
	case request.ProcessInstanceKey == 0:
		waits = sample
	}
	d, err := p.Decide(request, now)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{
		Policy:         d.Policy,
		PolicyVersion:  d.PolicyVersion,
		Outcome:        d.Outcome.String(),
		BPMNError:      d.ErrorCode(),
		Classification: d.Error.Class,
		Rule:           d.Error.RuleID,
		MatchedCode:    d.Error.Code,
		Reason:         d.Reason(),
		RetryCount:     d.RetryCount,
		MaxRetries:     d.MaxRetries,
		ClaimID:        claim,
		Instance:       request.ProcessInstanceKey,
		Waits:          waits,
		Decision:       contract.Explain(&d),
		Schedule:       []step{}, // in JSON a list, even where it is empty
		claims:         p.IDs == retry.ClaimIDs,
	}
	if d.Outcome == retry.OutcomeRetry {
		e.Schedule, e.lacksTime = stepsOf(p, request, now, waits)
		if first := &e.Schedule[0].exact; first.Shortest != first.Longest && waits == bandOnly {
			e.Decision.BackoffDuration = ""
		}
	}
	return e, nil
}
