package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is a record that is to be appended. It is made from what the trail knows of its claim, inside the
// transaction that stores it, so that no look-up goes before and none can be outdated.
type Entry struct {
	Key
	// ClaimID is empty where the job's input named no claim.
	ClaimID string
	// Make returns the record of a claim in this state. It is pure and fast, for other jobs wait meanwhile,
	// and may be called more than once: the record of the last call is the one that is stored. Key and
	// ClaimID are set for it.
	Make func(State) Record

	made time.Time // the At of the record of an earlier try, of which it is not known whether it was stored
}

// Stored is what became of an entry.
type Stored struct {
	// Record is the stored one: the new one, or the earlier one of the same key. Its ID is 0 where Err is
	// set.
	Record Record
	// Repeated says that it is the earlier one, and not of an earlier try to store this entry.
	Repeated bool
	// Err is why this entry alone was not stored, although others were: it will not be stored later either.
	Err error
}

// MaxBatch is the most entries of one transaction: a PostgreSQL server has room for some ten thousand locks.
const MaxBatch = 1000

// Batch is the work of one transaction of a store. The store tells it what it has of the jobs and the claims,
// lets it place the entries, writes what has changed, and then answers the results.
type Batch struct {
	entries []Entry
	stored  map[int64][]*Record // by job key
	claims  map[string]*claimRow

	// Results are what becomes of the entries, in their order.
	Results []Stored
	// Records are the new ones in the order of their chain, Head is its signed end with them.
	Records []*Record
	Head    Head
	// Open are the claims whose rows are written, States the rows, Ended are the claims that lose theirs.
	Open   []string
	States [][]byte
	Ended  []string
}

// claimRow is the row of a claim, before and after.
type claimRow struct {
	state   State
	known   bool // there is a row
	changed bool
	err     error // the row cannot be read
}

// NewBatch begins the work on entries.
func NewBatch(entries []Entry) *Batch {
	n := len(entries)
	b := &Batch{entries: entries, stored: make(map[int64][]*Record, n), claims: make(map[string]*claimRow, n)}
	for i := range entries {
		e := &entries[i]
		clean(&e.Cluster, &e.ClaimID)
		if b.claims[e.ClaimID] == nil {
			b.claims[e.ClaimID] = &claimRow{}
		}
	}
	return b
}

// clean makes texts that every database can keep, and gives back as they are.
func clean(texts ...*string) {
	for _, t := range texts {
		if utf8.ValidString(*t) && strings.IndexByte(*t, 0) < 0 {
			continue
		}
		*t = strings.ReplaceAll(strings.ToValidUTF8(*t, "\uFFFD"), "\x00", "\uFFFD")
	}
}

// Jobs returns the keys of the jobs in their order.
func (b *Batch) Jobs() []int64 {
	keys := make([]int64, len(b.entries))
	for i := range b.entries {
		keys[i] = b.entries[i].JobKey
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Claims returns the claims in their order. The empty one, of all jobs that name none, has no state.
func (b *Batch) Claims() []string { return slices.Sorted(maps.Keys(b.claims)) }

// HasRecord notes a stored record of one of the jobs.
func (b *Batch) HasRecord(r *Record) error {
	stored := *r
	b.stored[r.JobKey] = append(b.stored[r.JobKey], &stored)
	return nil
}

// HasRow notes the row of one of the claims. Its error concerns that claim's entries only.
func (b *Batch) HasRow(claim string, state *State, err error) error {
	if row := b.claims[claim]; row != nil {
		row.state, row.known, row.err = *state, true, err
	}
	return nil
}

// Place finds what is stored already, and makes and links the rest behind the end of a chain, in the order of
// the jobs: a later job of a claim has the greater key. The new records have these IDs, where there are none
// their places in the chain.
func (b *Batch) Place(secret *Secret, end Head, ids []int64) {
	n := len(b.entries)
	b.Results, b.Records, b.Head = make([]Stored, n), make([]*Record, 0, n), end
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(b.entries[i].JobKey, b.entries[j].JobKey)
	})
	for _, i := range order {
		id := b.Head.Seq + 1
		if ids != nil {
			id = ids[len(b.Records)]
		}
		if r := b.place(&b.entries[i], &b.Results[i], id); r != nil {
			b.Records = append(b.Records, r)
		}
	}
	if last := len(b.Records) - 1; last >= 0 {
		b.Head = secret.Head(b.Head, b.Records[last].At)
	}
	for _, claim := range b.Claims() {
		switch row := b.claims[claim]; {
		case !row.changed:
		case !row.state.IsZero():
			b.Open, b.States = append(b.Open, claim), append(b.States, secret.SealState(claim, &row.state))
		case row.known:
			b.Ended = append(b.Ended, claim)
		}
	}
}

// place returns the record of an entry, nil where no new one is stored.
func (b *Batch) place(e *Entry, result *Stored, id int64) *Record {
	for _, r := range b.stored[e.JobKey] {
		if r.Key == e.Key {
			*result = Stored{Record: *r, Repeated: !r.At.Equal(e.made)}
			return nil
		}
	}
	row := b.claims[e.ClaimID]
	if row.err != nil {
		result.Err = row.err
		return nil
	}
	r := &result.Record
	if result.Err = e.make(row.state, r); result.Err != nil {
		return nil
	}
	r.ID, r.Prev, r.Course = id, row.state.Tip, row.state.course(r)
	b.Head.Link(r)
	e.made = r.At
	row.state, row.changed = row.state.Add(r), true
	b.stored[e.JobKey] = append(b.stored[e.JobKey], r)
	return r
}

// make makes the record. A panic concerns this entry alone: the goroutine is the store's, and other jobs are
// in the batch.
func (e *Entry) make(state State, r *Record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			*r, err = Record{}, fmt.Errorf("job %d: panic: %v", e.JobKey, p)
		}
	}()
	*r = e.Make(state)
	r.Key, r.ClaimID = e.Key, e.ClaimID
	clean(&r.Policy, &r.Rule, &r.Code, &r.HeldBy, &r.DecidedBy, &r.Message, &r.Variables, &r.Detail)
	return nil
}
