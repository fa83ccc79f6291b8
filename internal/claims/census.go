package claims

import (
	"context"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// StateCount is how many claims are in a state.
type StateCount struct {
	Claims int64
	// Oldest is when the oldest of them first failed since its last end, and Longest since when one of them has been in this state
	// for the longest; zero where there is none.
	Oldest, Longest time.Time
}

// Ages returns the ages that claims are counted by: an hour, a working day, the day and the two days of ANS IN 41, a week.
func Ages() [5]time.Duration {
	return [...]time.Duration{time.Hour, 8 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}
}

// Census counts the open claims.
type Census struct {
	// Policies are those that decided last.
	Policies map[string]*PolicyCensus
}

// PolicyCensus counts the open claims of one policy.
type PolicyCensus struct {
	States map[State]StateCount
	// OlderThan is how many claims are older than each of [Ages].
	OlderThan [5]int64
}

// Count counts the open claims as they stand at the time now.
func Count(ctx context.Context, store audit.History, now time.Time) (Census, error) {
	all := Census{Policies: map[string]*PolicyCensus{}}
	err := store.OpenClaims(ctx, func(o *audit.OpenClaim) error {
		c, err := OfOpen(o, now)
		if err != nil {
			return err
		}
		of := all.Policies[c.Policy]
		if of == nil {
			of = &PolicyCensus{States: map[State]StateCount{}}
			all.Policies[c.Policy] = of
		}
		s := of.States[c.State]
		if s.Claims++; s.Oldest.IsZero() || o.Opened.Before(s.Oldest) {
			s.Oldest = o.Opened
		}
		if s.Longest.IsZero() || c.Since.Before(s.Longest) {
			s.Longest = c.Since
		}
		of.States[c.State] = s
		for i, age := range Ages() {
			if c.Age(now) > age {
				of.OlderThan[i]++
			}
		}
		return nil
	})
	return all, err
}
