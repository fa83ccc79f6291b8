package audit

import (
	"context"
	"time"
)

// Purged is what a purge removed of a chain, or would: its first records, as many as Records, up to a place.
type Purged struct {
	Chain   int   `json:"chain"`
	Records int64 `json:"records"`
	Through int64 `json:"through"`
	// Hash is that of the last of them.
	Hash Hash `json:"hash"`
}

// Hold is what keeps records that are old enough to be removed. Its zero value is nothing.
type Hold struct {
	// From is the time from which on records stay, in UTC: a day before what keeps them.
	From time.Time `json:"from"`
	// ClaimID is the claim that is open the longest; empty where events wait to be published.
	ClaimID string `json:"claimId,omitempty"`
}

// outOfOrder is how far the times of records may be out of the order in which they were appended: the clocks
// of two replicas differ.
const outOfOrder = 24 * time.Hour

// Purge removes from a store what was decided before a time, and leaves a signed cut a chain. The first
// record that stays keeps all behind it in its chain: one that is too young, was decided since an open claim
// began, or since an event waits to be published, each less a day. With dry it only tells what it would
// remove.
func Purge(
	ctx context.Context, store Store, before time.Time, dry bool,
) (removed []Purged, held Hold, err error) {
	limit := before
	err = store.Open(ctx, func(claimID string, state *State) error {
		if since := state.Opened.Add(-outOfOrder); since.Before(limit) {
			limit = since
			held = Hold{limit, claimID}
		}
		return nil
	})
	if err != nil {
		return nil, Hold{}, err
	}
	waiting, oldest, err := store.Backlog(ctx)
	if err != nil {
		return nil, Hold{}, err
	}
	if oldest = oldest.Add(-outOfOrder); waiting > 0 && oldest.Before(limit) {
		limit, held = oldest, Hold{From: oldest}
	}
	removed, err = store.Purge(ctx, limit, dry)
	return removed, held, err
}

// Cutoff is the time before which records may be removed that are kept for so many months: the first day of
// the month, in UTC, that lies so many months before now.
func Cutoff(now time.Time, months int) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}
