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

// Census counts the open claims by the policy that decided last and by their state.
type Census map[string]map[State]StateCount

// Count counts the open claims as they stand at the time now.
func Count(ctx context.Context, store audit.History, now time.Time) (Census, error) {
	all := Census{}
	err := store.OpenClaims(ctx, func(o *audit.OpenClaim) error {
		c, err := OfOpen(o, now)
		if err != nil {
			return err
		}
		if all[c.Policy] == nil {
			all[c.Policy] = map[State]StateCount{}
		}
		s := all[c.Policy][c.State]
		if s.Claims++; s.Oldest.IsZero() || o.Opened.Before(s.Oldest) {
			s.Oldest = o.Opened
		}
		if s.Longest.IsZero() || c.Since.Before(s.Longest) {
			s.Longest = c.Since
		}
		all[c.Policy][c.State] = s
		return nil
	})
	return all, err
}
