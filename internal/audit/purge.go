package audit

import "time"

// Cut stands for the oldest records of a chain that were removed: those up to a place, with the hash of the last of them. The chain
// is checked from there on.
type Cut struct {
	Chain     int
	Through   int64
	Hash      Hash
	At        time.Time // when they were removed: UTC, in whole microseconds
	Signature []byte    // Ed25519, over all of the above
}

// Expired is what a purge would remove of a chain: the records of the places From to Through, none where Through is less.
type Expired struct {
	Chain         int
	From, Through int64
	// Hash is that of the last of them, Oldest and Newest are when the first and the last was decided.
	Hash           Hash
	Oldest, Newest time.Time
	// Unpublished reports that the next record is old enough too, and stays because its event is not published.
	Unpublished bool
}

// Cut signs what stands for the removed records.
func (s *Secret) Cut(e Expired, at time.Time) Cut {
	c := Cut{Chain: e.Chain, Through: e.Through, Hash: e.Hash, At: at.UTC().Truncate(time.Microsecond)}
	c.Signature = s.sign(c.message())
	return c
}

// CheckCut reports whether the cut was signed with this key and not changed since.
func (p Public) CheckCut(c Cut) bool { return p.check(c.message(), c.Signature) }

func (c Cut) message() []byte {
	return signed("cut v1", c.Hash, int64(c.Chain), c.Through, c.At.UnixMicro())
}

// Cutoff is the time before which records may be removed that are kept for so many months: the first day of the month, in UTC,
// that lies so many months before now.
func Cutoff(now time.Time, months int) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}
