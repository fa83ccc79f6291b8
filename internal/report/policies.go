package report

import (
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// PolicySummary is a policy in a list. Its JSON form is stable: names are added, never changed. Durations are ISO 8601.
type PolicySummary struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Origin      string `json:"origin"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"`
	MaxRetries  int    `json:"maxRetries"`
	// The waits, and their sum; absent of a policy without retries.
	ShortestWait  isoDuration `json:"shortestWait,omitempty"`
	LongestWait   isoDuration `json:"longestWait,omitempty"`
	ShortestInAll isoDuration `json:"shortestInAll,omitempty"`
	LongestInAll  isoDuration `json:"longestInAll,omitempty"`
}

// isoDuration is a duration that JSON has as ISO 8601.
type isoDuration time.Duration

// MarshalText writes PT5M.
func (d isoDuration) MarshalText() ([]byte, error) {
	return []byte(contract.ISODuration(time.Duration(d))), nil
}

// Policies returns the policies that are known.
func Policies(set *policy.Set) []PolicySummary {
	list := []PolicySummary{}
	for p := range set.All() {
		list = append(list, summarise(set, p))
	}
	return list
}

func summarise(set *policy.Set, p *retry.Policy) PolicySummary {
	entry, _ := set.Entry(p.Name)
	s := PolicySummary{
		Name: p.Name, Version: p.Version(), Origin: set.Origin(p.Name),
		Description: entry.Description, Source: entry.Source, MaxRetries: p.MaxRetries,
	}
	for w := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		if s.ShortestWait == 0 || isoDuration(w.Shortest) < s.ShortestWait {
			s.ShortestWait = isoDuration(w.Shortest)
		}
		s.LongestWait = max(s.LongestWait, isoDuration(w.Longest))
		s.ShortestInAll, s.LongestInAll = isoDuration(w.TotalShortest), isoDuration(w.TotalLongest)
	}
	return s
}

// ShownPolicy is one policy in full.
type ShownPolicy struct {
	PolicySummary
	Schedule []policyWait     `json:"schedule"`
	Findings []policy.Finding `json:"findings"`
	// Policy is the policy as a file would state it: {"policies": [...]} around it is a policies file.
	Policy policy.Entry `json:"policy"`

	policy *retry.Policy
}

// policyWait is one wait of a policy.
type policyWait struct {
	Retry         int         `json:"retry"`
	BeforeJitter  isoDuration `json:"beforeJitter"`
	Shortest      isoDuration `json:"shortest"`
	Longest       isoDuration `json:"longest"`
	TotalShortest isoDuration `json:"totalShortest"`
	TotalLongest  isoDuration `json:"totalLongest"`
}

// PolicyInFull returns one policy in full.
func PolicyInFull(set *policy.Set, p *retry.Policy) ShownPolicy {
	s := ShownPolicy{PolicySummary: summarise(set, p), Schedule: []policyWait{}, Findings: set.Lint(p.Name, 0), policy: p}
	s.Policy, _ = set.Entry(p.Name)
	if s.Findings == nil {
		s.Findings = []policy.Finding{} // in JSON a list, even where it is empty
	}
	for w := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		s.Schedule = append(s.Schedule, policyWait{
			w.Retry, isoDuration(w.Delay), isoDuration(w.Shortest), isoDuration(w.Longest), isoDuration(w.TotalShortest), isoDuration(w.TotalLongest),
		})
	}
	return s
}
