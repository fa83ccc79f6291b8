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

// Purged is what a purge removed of a chain, or would: the records of the places From to Through, none where Through is less.
type Purged struct {
	Chain   int   `json:"chain"`
	From    int64 `json:"from"`
	Through int64 `json:"through"`
	// Hash is that of the last of them, Oldest and Newest are when the first and the last was decided.
	Hash   Hash      `json:"hash"`
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
	// Held is what keeps the record behind them, although it is old enough too; empty where nothing does.
	Held Hold `json:"held,omitempty"`
}

// Hold is what keeps a record from being purged.
type Hold string

// The holds: the record's event is not published, or a claim is open since before the next record.
const (
	HeldByOutbox Hold = "outbox"
	HeldByClaim  Hold = "open claim"
)

// Cut signs what stands for the removed records.
func (s *Secret) Cut(p Purged, at time.Time) Cut {
	c := Cut{Chain: p.Chain, Through: p.Through, Hash: p.Hash, At: at.UTC().Truncate(time.Microsecond)}
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
