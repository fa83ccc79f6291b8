package audit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// UnansweredFor is how long a record keeps the mark "unanswered" at most: a broker that has not given the job out again
// by then never will.
const UnansweredFor = 30 * 24 * time.Hour

// announcedFor is how long what is to be removed must have been announced before the worker removes it. Its runs are a
// day apart, so that this is the run before at the latest.
const announcedFor = 20 * time.Hour

// Cutoff is the time before which records are removed: the first day of the month, in UTC, that lies so many months
// before now. Records are kept for at least those months, and removed by whole months.
func Cutoff(now time.Time, months int) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}

// Announce notes what is to be removed by a later call of [Retain], and returns it: tombstones that are not signed, and none
// where there is nothing, or where it was announced long enough ago. wait is how long the removal has to wait still.
func Announce(ctx context.Context, store Maintenance, r Retention) (coming []Tombstone, wait time.Duration, err error) {
	if err := store.ForgetUnanswered(ctx, r.Now.Add(-UnansweredFor)); err != nil {
		return nil, 0, err
	}
	coming, err = store.Purgeable(ctx, r.Cutoff, r.Publish)
	if err != nil || len(coming) == 0 {
		return nil, 0, err
	}
	ago, err := store.Note(ctx, "announced "+r.Cutoff.UTC().Format(time.DateOnly)) // its rows, twelve a year, are kept
	if err != nil || ago >= announcedFor {
		return nil, 0, err
	}
	return coming, announcedFor - max(ago, 0), nil
}

// Retention is what is removed at a time: the records that were decided before Cutoff. Now is the time, in UTC. Where
// Publish is false and the store has no queue, nothing is ever published, and unpublished records are removed too.
type Retention struct {
	Now, Cutoff time.Time
	Publish     bool
}

// RetentionAt returns what is removed now of a store that keeps records for so many months.
func RetentionAt(now time.Time, months int, publish bool) Retention {
	return Retention{Now: now.UTC().Truncate(time.Microsecond), Cutoff: Cutoff(now, months), Publish: publish}
}

// Retain removes the records, up to the first of each chain that is unpublished or unanswered, and returns the signed
// tombstones that stand for them. An error may come with tombstones: those removals are done. Retain trusts the time that it is
// given; see [Clocks].
func Retain(ctx context.Context, store Maintenance, secret *Secret, r Retention) ([]Tombstone, error) {
	if err := store.ForgetUnanswered(ctx, r.Now.Add(-UnansweredFor)); err != nil {
		return nil, err
	}
	// Day by day, for a removal holds up those who append: a hospital's month may take seconds.
	var done []Tombstone
	for {
		tombstones, err := oldestDay(ctx, store, r.Cutoff, r.Publish)
		if err != nil || len(tombstones) == 0 {
			return done, err
		}
		for _, s := range tombstones {
			s.At = r.Now
			s = secret.SignTombstone(s)
			if err := store.Purge(ctx, s); err != nil {
				return done, err
			}
			done = append(done, s)
		}
	}
}

// oldestDay is what may be removed of the oldest day that has anything.
func oldestDay(ctx context.Context, store Maintenance, cutoff time.Time, publish bool) ([]Tombstone, error) {
	tombstones, err := store.Purgeable(ctx, cutoff, publish)
	if err != nil || len(tombstones) == 0 {
		return nil, err
	}
	oldest := slices.MinFunc(tombstones, func(a, b Tombstone) int { return a.Oldest.Compare(b.Oldest) }).Oldest
	for day := oldest.Truncate(24 * time.Hour); ; {
		day = day.Add(24 * time.Hour)
		if !day.Before(cutoff) {
			return tombstones, nil
		}
		// Nothing, where the clock was put back and the oldest record is not the first one.
		if some, err := store.Purgeable(ctx, day, publish); err != nil || len(some) > 0 {
			return some, err
		}
	}
}

// Held is the first record of a chain that is old enough to be removed and is not: it, and what comes after it, stays
// until its event is published and its answer has reached the broker.
type Held struct {
	Record Record
	// Unpublished and Unanswered say what holds it. Neither is true where it became free in this moment.
	Unpublished, Unanswered bool
}

// HeldBack returns, for each chain, the first record that is older than the cutoff and stays, if there is one. tombstones are
// those of the records that go, as [Maintenance.Purgeable] returned them; none after a purge.
func HeldBack(ctx context.Context, store Store, tombstones []Tombstone, cutoff time.Time, publish bool) (all []Held, err error) {
	if !publish {
		noted, err := store.Noted(ctx, NoteQueue)
		if err != nil {
			return nil, err
		}
		publish = noted != ""
	}
	heads, err := store.Heads(ctx)
	if err != nil {
		return nil, err
	}
	through := map[int]int64{}
	for _, s := range tombstones {
		through[s.Chain] = s.Through
	}
	for _, head := range heads {
		first, err := firstAfter(ctx, store, head.Chain, through[head.Chain])
		if err != nil {
			return nil, err
		}
		if first == nil || !first.At.Before(cutoff) {
			continue
		}
		h := Held{Record: *first}
		unanswered, err := store.Unanswered(ctx, []int64{first.ID})
		if err != nil {
			return nil, err
		}
		h.Unanswered = len(unanswered) > 0
		if publish {
			unpublished, err := store.Unpublished(ctx, first.ID-1, 1)
			if err != nil {
				return nil, err
			}
			h.Unpublished = len(unpublished) > 0 && unpublished[0].ID == first.ID
		}
		all = append(all, h)
	}
	return all, nil
}

// firstAfter returns the first record of a chain after a place, nil where there is none.
func firstAfter(ctx context.Context, store Maintenance, chain int, after int64) (first *Record, err error) {
	found := errors.New("found")
	err = store.Walk(ctx, chain, after, func(r *Record) error {
		one := *r
		first = &one
		return found
	})
	if err != nil && !errors.Is(err, found) {
		return nil, err
	}
	return first, nil
}
