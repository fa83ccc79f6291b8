package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// BrokenError says where a chain does not hold.
type BrokenError struct {
	// Chain and Seq are the first place at which something is wrong; Seq is 0 where it is the chain as a whole.
	Chain int
	Seq   int64
	// ID is the record's, 0 where there is no such record.
	ID int64
	// Why says what is wrong in words.
	Why string
}

// Error names the place and what is wrong with it.
func (e *BrokenError) Error() string {
	switch {
	case e.Seq == 0:
		return fmt.Sprintf("audit chain %d: %s", e.Chain, e.Why)
	case e.ID == 0:
		return fmt.Sprintf("audit chain %d, record %d: %s", e.Chain, e.Seq, e.Why)
	}
	return fmt.Sprintf("audit chain %d, record %d (id %d): %s", e.Chain, e.Seq, e.ID, e.Why)
}

// Verified is what a check has found to be in order.
type Verified struct {
	// Records is how many were checked, Removed how many are gone with a signed cut in their place.
	Records, Removed int64
	// Agreed is how many of the known heads were held against the record of their place, or against the cut that ends there. The places of the others are removed.
	Agreed int
	// Heads are the signed ends, one for each chain.
	Heads []Head
}

// Verify checks every chain of a store, from its first record or its cut to its signed head, and returns a [*BrokenError] for
// the first place that was changed, removed, swapped or cut off. Where the chains hold, or cannot be read, it has the store look
// for damage that they do not show.
//
// A store that was put back to an earlier state, head and all, is in order by itself. Known heads, as the service logs
// them, show that: each must be a place of its chain, as far as that is not removed. One that was not signed with the key
// says nothing about the store, and is an error of its own. progress may be nil; it is called now and then with the number of
// records checked so far. What a worker adds meanwhile is left to the next check, and where old records are removed
// meanwhile, the check begins anew.
func Verify(ctx context.Context, store Maintenance, public Public, known []Head, progress func(records int64)) (Verified, error) {
	v, err := verifyChains(ctx, attempt{store, public, known, progress})
	if ctx.Err() != nil {
		return v, err
	}
	if !isBroken(err) {
		// Also where the chains could not be read: what keeps them from it may be damage.
		if damage := store.Check(ctx); isBroken(damage) || err == nil {
			err = damage
		}
	}
	return v, err
}

func isBroken(err error) bool {
	_, broken := errors.AsType[*BrokenError](err)
	return broken
}

func verifyChains(ctx context.Context, a attempt) (Verified, error) {
	for {
		cuts, err := a.store.Cuts(ctx)
		if err != nil {
			return Verified{}, err
		}
		v, err := a.run(ctx, cuts)
		if !isBroken(err) {
			return v, err
		}
		now, other := a.store.Cuts(ctx)
		if other != nil {
			return v, other
		}
		if slices.EqualFunc(now, cuts, func(a, b Cut) bool { return a.Chain == b.Chain && a.Through == b.Through }) {
			return v, err
		}
	}
}

// attempt is one check of all chains.
type attempt struct {
	store    Maintenance
	public   Public
	expected []Head // the known heads
	progress func(int64)
}

func (a attempt) run(ctx context.Context, cuts []Cut) (Verified, error) {
	heads, err := a.store.Heads(ctx)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Heads: heads}
	for _, head := range heads {
		c := check{attempt: a, head: head, known: map[int64][]Head{}, total: &v}
		for _, k := range a.expected {
			if k.Chain == head.Chain {
				c.known[k.Seq] = append(c.known[k.Seq], k)
			}
		}
		for i := range cuts {
			if cuts[i].Chain == head.Chain {
				c.cut = &cuts[i]
			}
		}
		if err := c.run(ctx); err != nil {
			return v, err
		}
	}
	for _, k := range a.expected {
		switch {
		case slices.ContainsFunc(heads, func(h Head) bool { return h.Chain == k.Chain }):
		case !a.public.CheckHead(k):
			return v, foreign(k)
		default:
			return v, &BrokenError{Chain: k.Chain, Why: fmt.Sprintf("the chain is gone; it had %d records at %s", k.Seq, k.At.Format(time.RFC3339))}
		}
	}
	return v, nil
}

// check is the check of one chain.
type check struct {
	attempt
	head  Head
	cut   *Cut             // nil where no record was removed
	known map[int64][]Head // by place; a trail that was put back and went on has two of one
	total *Verified
	chain *Chain
}

func (c *check) run(ctx context.Context) error {
	if len(c.head.Signature) == 0 {
		return c.broken(0, 0, "its signed head is gone, and with it what shows how many records there were")
	}
	if !c.public.CheckHead(c.head) {
		return c.broken(0, 0, "its head was not signed with this key: the chain was made anew, or the key is another one")
	}
	for _, all := range c.known {
		for _, k := range all {
			if !c.public.CheckHead(k) {
				return foreign(k)
			}
		}
	}
	if err := c.begin(); err != nil {
		return err
	}
	// Not from where the chain begins: a record that was put before it would be shown, and never looked at.
	err := c.store.Walk(ctx, c.head.Chain, math.MinInt64, c.visit)
	if errors.Is(err, errBeyond) {
		err = c.grown(ctx)
	}
	if err != nil {
		return err
	}
	last := c.chain.Seq()
	switch {
	case last < c.head.Seq:
		return c.broken(last+1, 0, fmt.Sprintf("removed: the signed head has %d records", c.head.Seq))
	case c.chain.Last() != c.head.Hash:
		return c.broken(last, 0, "its hash is not that of the signed head")
	}
	for seq, all := range c.known {
		if seq > last {
			return c.broken(last+1, 0, fmt.Sprintf("removed: the chain had %d records at %s", seq, all[0].At.Format(time.RFC3339)))
		}
	}
	return nil
}

// errBeyond ends a walk at a record behind the head.
var errBeyond = errors.New("a record behind the head")

// grown reports whether there is a record behind the head because a worker has added it since the head was read: it has
// then signed a new head.
func (c *check) grown(ctx context.Context) error {
	heads, err := c.store.Heads(ctx)
	if err != nil {
		return err
	}
	if now := headOf(heads, c.head.Chain); now.Seq > c.head.Seq && c.public.CheckHead(now) {
		return nil
	}
	return c.broken(c.head.Seq+1, 0, fmt.Sprintf("added: the signed head has %d records", c.head.Seq))
}

// begin sets the chain to where the checking starts: at its beginning, or behind the cut.
func (c *check) begin() error {
	if c.cut == nil {
		c.chain = NewChain(c.head.Chain)
		return nil
	}
	if !c.public.CheckCut(*c.cut) {
		return c.broken(c.cut.Through, 0, "the cut that stands for the records up to here was not signed with this key")
	}
	c.total.Removed += c.cut.Through
	c.chain = ChainAt(c.cut.Chain, c.cut.Through, c.cut.Hash)
	return c.compare(0)
}

func (c *check) visit(r *Record) error {
	want := c.chain.Seq() + 1
	switch {
	case r.Seq > c.head.Seq && want > c.head.Seq:
		return errBeyond
	case r.Seq < want:
		return c.broken(r.Seq, r.ID, "added: the chain begins behind it")
	case r.Seq != want:
		return c.broken(want, 0, "removed")
	case !c.chain.Follows(r):
		return c.broken(r.Seq, r.ID, "changed, or moved here from another place")
	}
	if c.total.Records++; c.progress != nil && c.total.Records%10_000 == 0 {
		c.progress(c.total.Records)
	}
	return c.compare(r.ID)
}

// compare holds the place that the chain has reached against a known head of that place.
func (c *check) compare(id int64) error {
	for _, k := range c.known[c.chain.Seq()] {
		if k.Hash != c.chain.Last() {
			return c.broken(c.chain.Seq(), id, fmt.Sprintf("its hash is not that of the head known from %s", k.At.Format(time.RFC3339)))
		}
		c.total.Agreed++
	}
	return nil
}

// foreign is about a known head, not about the store.
func foreign(k Head) error {
	return fmt.Errorf("known heads: the one of chain %d, record %d, from %s was not signed with this key: it is another store's, or was changed; the trail itself is not found broken",
		k.Chain, k.Seq, k.At.Format(time.RFC3339))
}

func (c *check) broken(seq, id int64, why string) error {
	return &BrokenError{Chain: c.head.Chain, Seq: seq, ID: id, Why: why}
}

// headOf returns the head of a chain, the zero head where there is none.
func headOf(heads []Head, chain int) Head {
	for _, h := range heads {
		if h.Chain == chain {
			return h
		}
	}
	return Head{}
}
