package audit

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"time"

	words "hospital.example/analyze-retry/internal/text"
)

// BrokenError says where the trail does not hold. What is zero is absent from its JSON form.
type BrokenError struct {
	// Chain and Seq are the first place at which something is wrong; Seq is 0 where it is the chain as a
	// whole, Chain too where it is the store.
	Chain int   `json:"chain,omitempty"`
	Seq   int64 `json:"seq,omitempty"`
	// ID, Kind, ClaimID and At are the record's, zero where there is no such record. Where the row of a claim
	// is wrong, only ClaimID is set.
	ID      int64     `json:"id,omitempty"`
	Kind    Kind      `json:"kind,omitempty"`
	ClaimID string    `json:"claimId,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Why says what is wrong in words, and what to do.
	Why words.Message `json:"why"`
}

// Error names the place and what is wrong with it.
func (e *BrokenError) Error() string { return e.Message().String() }

// Message is what [BrokenError.Error] says, for people.
func (e *BrokenError) Message() words.Message {
	place := words.Messagef("audit store")
	if e.Chain != 0 {
		place = words.Messagef("audit chain %d", e.Chain)
	}
	if e.Seq != 0 {
		place = words.Messagef("%s, record %s", place, strconv.FormatInt(e.Seq, 10))
	}
	switch {
	case e.ID != 0:
		place = words.Messagef("%s (id %s, %s of claim %q, decided %s)",
			place, strconv.FormatInt(e.ID, 10), e.Kind, e.ClaimID, e.At)
	case e.ClaimID != "":
		place = words.Messagef("%s, row of claim %q", place, e.ClaimID)
	}
	return words.Messagef("%s: %s", place, e.Why)
}

// Verified is what a check has found to be in order.
type Verified struct {
	// Records is how many were checked, Removed how many are gone with a signed cut in their place.
	Records int64 `json:"records"`
	Removed int64 `json:"removed"`
	// Claims is how many rows of open claims are what their records show.
	Claims int64 `json:"claims"`
	// Agreed is how many of the known heads were held against the record of their place, or against the cut
	// that ends there. The places of the others are removed.
	Agreed int `json:"agreedHeads"`
	// Heads are the signed ends, one for each chain.
	Heads []Head `json:"heads"`
}

// Walker is shown a store as it is at one moment; see [Store].
type Walker interface {
	// Ends is called first, with what [Store.Heads] returns; Record is then called for each record, and Row
	// for each claim that is open, with the error of a row that cannot be read. An error ends the walk.
	Ends(heads, cuts []Head) error
	Record(r *Record) error
	Row(claimID string, state *State, err error) error
}

// Verify checks a store in one walk, and returns a [*BrokenError] for the first place that was changed,
// removed, swapped or cut off: every chain from its first record or its cut to its signed head, the links
// between the records of a claim, and that the row of each open claim is what its records add up to.
//
// A store that was put back to an earlier state, head and all, is in order by itself. Known heads, as the
// service logs them, show that: each must be a place of its chain, as far as that is not removed. One that
// was not signed with the key says nothing about the store, and is an error of its own.
func Verify(ctx context.Context, store Store, public Public, known []Head) (Verified, error) {
	c := &check{public: public, known: known, chains: map[int]*chainCheck{}, claims: map[string]*State{}}
	err := store.Walk(ctx, c)
	if err == nil {
		err = c.walkedAll()
	}
	for claim, of := range c.claims { // that have no row
		if err == nil && !of.IsZero() {
			err = &BrokenError{ClaimID: claim, Why: words.Messagef(
				"removed: by its records the claim is open; restore a backup")}
		}
	}
	c.Agreed = max(c.Agreed-len(c.chains), 0) // without their own heads
	return c.Verified, err
}

// check is the check of a store.
type check struct {
	Verified

	public Public
	known  []Head
	chains map[int]*chainCheck
	claims map[string]*State // of those that are open by the records so far, and of which no row was shown
	cut    bool              // records were removed
	walked bool              // all records were shown
}

// chainCheck is the check of one chain.
type chainCheck struct {
	Head // the place that is reached

	records int64 // by the signed head
	// heads are its own and those known, by place; a trail that was put back and went on has two of one.
	heads map[int64][]Head
}

func (c *check) Ends(heads, cuts []Head) error {
	c.Heads, c.cut = heads, len(cuts) > 0
	for _, h := range heads {
		switch {
		case len(h.Signature) == 0:
			return &BrokenError{Chain: h.Chain, Why: words.Messagef(
				"its signed head is gone, and with it what shows how many records there were")}
		case !c.public.CheckHead(h):
			return &BrokenError{Chain: h.Chain, Why: words.Messagef(
				"its head was not signed with this key: the chain was made anew, or the key is another one")}
		}
		at := map[int64][]Head{h.Seq: {h}}
		c.chains[h.Chain] = &chainCheck{Head: Beginning(h.Chain), records: h.Seq, heads: at}
	}
	for _, cut := range cuts {
		of := c.chains[cut.Chain]
		if of == nil || !c.public.CheckCut(cut) {
			return &BrokenError{Chain: cut.Chain, Seq: cut.Seq, Why: words.Messagef(
				"the cut that stands for the records up to here was not signed with this key")}
		}
		if of.records < cut.Seq {
			return &BrokenError{Chain: cut.Chain, Seq: of.records, Why: words.Messagef(
				"its signed head is behind the cut: an earlier one was put back")}
		}
		c.Removed += cut.Seq
		of.Head = cut
	}
	for _, k := range c.known {
		of, at := c.chains[k.Chain], k.At.Format(time.RFC3339)
		switch {
		case !c.public.CheckHead(k):
			return fmt.Errorf("known heads: the one of chain %d, record %d, from %s was not signed "+
				"with this key: it is another store's, or was changed; the trail itself is not found broken",
				k.Chain, k.Seq, at)
		case of == nil:
			return &BrokenError{Chain: k.Chain, Why: words.Messagef(
				"the chain is gone; it had %d records at %s", k.Seq, k.At)}
		}
		of.heads[k.Seq] = append(of.heads[k.Seq], k)
	}
	for _, of := range c.chains {
		if err := c.compare(of); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) Record(r *Record) error {
	of := c.chains[r.Chain]
	if of == nil {
		return broken(r, words.Messagef("added: there is no such chain"))
	}
	switch want := of.Seq + 1; {
	case r.Seq > of.records && want > of.records:
		return broken(r, words.Messagef("added: the signed head has %d records", of.records))
	case r.Seq > want:
		return &BrokenError{Chain: r.Chain, Seq: want, Why: words.Messagef("removed")}
	case !of.follows(r):
		return broken(r, words.Messagef("changed, or moved here from another place"))
	}
	c.Records++
	if err := c.compare(of); err != nil {
		return err
	}
	return c.fold(r)
}

// compare holds the place that a chain has reached against the heads of that place.
func (c *check) compare(of *chainCheck) error {
	for _, h := range of.heads[of.Seq] {
		if h.Hash != of.Hash {
			why := words.Messagef("its hash is not that of the head signed for %s", h.At)
			return &BrokenError{Chain: h.Chain, Seq: h.Seq, Why: why}
		}
		c.Agreed++
	}
	return nil
}

func broken(r *Record, why words.Message) error {
	return &BrokenError{
		Chain: r.Chain, Seq: r.Seq, ID: r.ID, Kind: r.Kind, ClaimID: r.ClaimID, At: r.At, Why: why,
	}
}

// fold adds a record to what is known of its claim, and checks that it names the one before.
func (c *check) fold(r *Record) error {
	if r.ClaimID == "" {
		return nil
	}
	of := c.claims[r.ClaimID]
	if of == nil {
		if of = new(State); c.cut {
			of.Tip = r.Prev // which may be removed
		}
	}
	if r.Prev != of.Tip {
		return broken(r, words.Messagef("it names %s as the record before it about its claim, and that is %s",
			strconv.FormatInt(r.Prev, 10), strconv.FormatInt(of.Tip, 10)))
	}
	*of = of.Add(r)
	if r.Kind.Ends() || of.IsZero() && r.Prev == 0 {
		delete(c.claims, r.ClaimID)
		return nil
	}
	of.Tip = r.ID // Add sets none where it knows nothing of the claim
	c.claims[r.ClaimID] = of
	return nil
}

func (c *check) Row(claimID string, state *State, err error) error {
	if ended := c.walkedAll(); ended != nil {
		return ended
	}
	of := c.claims[claimID]
	switch {
	case err != nil:
		return &BrokenError{ClaimID: claimID, Why: words.Messagef("%s", err.Error())}
	case of == nil:
		return &BrokenError{ClaimID: claimID, Why: words.Messagef(
			"added: by its records the claim has no such row")}
	case !reflect.DeepEqual(of, state):
		return &BrokenError{ClaimID: claimID, Why: words.Messagef(
			"it is not what the claim's records add up to: it was changed, " +
				"or an earlier one was put back; restore a backup")}
	}
	delete(c.claims, claimID) // what is left has no row
	c.Claims++
	return nil
}

// walkedAll checks that each chain has come to its end, and to that of each head.
func (c *check) walkedAll() error {
	if c.walked {
		return nil
	}
	c.walked = true
	for _, h := range c.Heads {
		of := c.chains[h.Chain]
		for seq, all := range of.heads {
			if seq > of.Seq {
				why := words.Messagef("removed: a head signed for %s has %d records", all[0].At, seq)
				return &BrokenError{Chain: of.Chain, Seq: of.Seq + 1, Why: why}
			}
		}
	}
	return nil
}
