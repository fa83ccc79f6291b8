package claims

import (
	"cmp"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Count is how many open claims stand alike.
type Count struct {
	Claims int64
	// Oldest is when the oldest of them was opened, and Longest since when one of them has stood so for the
	// longest; zero where there is none.
	Oldest, Longest time.Time
}

// Census counts open claims by the policy that decided last and by how they stand.
type Census map[string]map[audit.Standing]Count

// Add counts an open claim as it stands at the time now.
func (c Census) Add(s *audit.State, now time.Time) {
	policy, standing := cmp.Or(s.Policy, NoPolicy), s.Standing(now)
	if c[policy] == nil {
		c[policy] = map[audit.Standing]Count{}
	}
	n := c[policy][standing]
	n.Claims++
	n.Oldest, n.Longest = earlier(n.Oldest, s.Opened), earlier(n.Longest, since(s, now))
	c[policy][standing] = n
}

// earlier returns the earlier of two times, of which the first may be zero for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
