package claims

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Query chooses claims. Its zero value chooses all that are open.
type Query struct {
	// States are those wanted, none for all open ones.
	States []State
	// Policy is the one that decided last, empty for any.
	Policy string
	// OlderThan is the least age of an open claim.
	OlderThan time.Duration
	// From and To bound when an open claim had its first record since its last end, and when another one ended: From <= t < To. Each
	// is zero for no bound, but without From the claims that ended are those of the 30 days before To, or before now where that is earlier.
	From, To time.Time
}

// endedSpan is how far back a query without From finds claims that ended. All records since then are read.
const endedSpan = 30 * 24 * time.Hour

// List returns the claims that a query chooses, as they stand at the time now: the open ones first, the oldest first, then those
// that ended, the one that ended first before the others.
func List(ctx context.Context, store audit.History, q Query, now time.Time) ([]Claim, error) {
	if q.To.IsZero() {
		q.To = now.AddDate(100, 0, 0) // later than any record, also of a clock that is ahead
	}
	states := q.States
	if len(states) == 0 {
		states = OpenStates()
	}
	all := []Claim{}
	if slices.ContainsFunc(states, State.IsOpen) {
		err := store.OpenClaims(ctx, func(o *audit.OpenClaim) error {
			c, err := OfOpen(o, now)
			if err == nil && slices.Contains(states, c.State) && q.fits(&c, o.Opened) && c.Age(now) >= q.OlderThan {
				all = append(all, c)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(states, func(s State) bool { return !s.IsOpen() }) {
		return all, nil
	}
	if q.From.IsZero() {
		until := now
		if q.To.Before(now) {
			until = q.To
		}
		q.From = until.Add(-endedSpan)
	}
	ended, err := ended(ctx, store, q.From, now)
	for _, c := range ended {
		if slices.Contains(states, c.State) && q.fits(&c, c.Since) {
			all = append(all, c)
		}
	}
	return all, err
}

func (q *Query) fits(c *Claim, at time.Time) bool {
	return (q.Policy == "" || q.Policy == c.Policy) && !at.Before(q.From) && at.Before(q.To)
}

// ended returns the claims that ended at or after a time and have no record since, in the order of their ends.
func ended(ctx context.Context, store audit.History, from, now time.Time) ([]Claim, error) {
	last := map[string]Claim{}
	err := store.Between(ctx, from, now.AddDate(100, 0, 0), func(r *audit.Record) error {
		if !r.Kind.ShowsState() {
			return nil
		}
		if r.Kind != audit.KindSubmitted && r.Kind != audit.KindAbandoned {
			delete(last, r.ClaimID)
			return nil
		}
		c, err := of(r, now)
		last[r.ClaimID] = c
		return err
	})
	return slices.SortedFunc(maps.Values(last), func(a, b Claim) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ClaimID, b.ClaimID))
	}), err
}
