package claims

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Query chooses claims. Its zero value chooses all that are open.
type Query struct {
	// States are those wanted, none for all open ones, and where Part is given for all.
	States []audit.Standing
	// Part is a part of the claim's ID, empty for any.
	Part string
	// From and To bound when an open claim had its first record since its last end, and when another one
	// ended: From <= t < To. Each is zero for no bound, but without From and Part the claims that ended are
	// those of the 30 days before To, or before now where that is earlier.
	From, To time.Time
}

// endedSpan is how far back a query without From finds claims that ended.
const endedSpan = 30 * 24 * time.Hour

// List returns the claims that a query chooses, as they stand at the time now: the open ones first, the
// oldest first, then those that ended, the one that ended first before the others.
func List(ctx context.Context, store audit.Store, q Query, now time.Time) ([]Claim, error) {
	later := now.AddDate(100, 0, 0) // than any record, also of a clock that is ahead
	if q.To.IsZero() {
		q.To = later
	}
	if len(q.States) == 0 {
		q.States = OpenStandings()
		if q.Part != "" {
			q.States = Standings()
		}
	}
	all, open := []Claim{}, map[string]bool{}
	err := store.Open(ctx, func(id string, s *audit.State) error {
		open[id] = true
		if c := Open(id, s, now); q.fits(&c) {
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, InOrder)
	if !slices.ContainsFunc(q.States, func(s audit.Standing) bool { return !IsOpen(s) }) {
		return all, nil
	}
	if q.From.IsZero() && q.Part == "" {
		q.From = now.Add(-endedSpan)
		if q.To.Before(now) {
			q.From = q.To.Add(-endedSpan)
		}
	}
	last := map[string]Claim{}
	kinds := []audit.Kind{audit.KindSubmitted, audit.KindAbandoned}
	err = store.Between(ctx, q.From, later, kinds, func(r *audit.Record) error {
		if c := Ended(r); !open[r.ClaimID] && q.fits(&c) {
			last[r.ClaimID] = c
		} else {
			delete(last, r.ClaimID) // an earlier end is not how the claim stands
		}
		return nil
	})
	return append(all, slices.SortedFunc(maps.Values(last), InOrder)...), err
}

func (q *Query) fits(c *Claim) bool {
	return slices.Contains(q.States, c.Standing) &&
		strings.Contains(strings.ToLower(c.ClaimID), strings.ToLower(q.Part)) &&
		!c.at().Before(q.From) && c.at().Before(q.To)
}

// at is when an open claim was opened, and when another one ended.
func (c *Claim) at() time.Time {
	if IsOpen(c.Standing) {
		return c.Opened
	}
	return c.Since
}

// InOrder compares claims, each by when it was opened or ended: the earlier one is first.
func InOrder(a, b Claim) int {
	return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.ClaimID, b.ClaimID))
}
