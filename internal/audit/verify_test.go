package audit_test

import (
	"context"
	"errors"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/audittest"
)

// growing is a store to which a worker adds a record whenever somebody has read the heads and begins to walk.
type growing struct {
	shelf
	t    *testing.T
	next int
}

func (g *growing) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	if _, err := g.Append(ctx, []audit.Record{audittest.Record(g.next)}, nil); err != nil {
		g.t.Fatal(err)
	}
	g.next++
	return g.shelf.Walk(ctx, chain, after, visit)
}

func TestATrailThatGrowsWhileItIsCheckedIsInOrder(t *testing.T) {
	g := &growing{shelved(t, audittest.Records(0, 10), nil, nil), t, 10}
	for _, want := range []int64{10, 11} {
		v, err := audit.Verify(t.Context(), g, g.secret.Public(), nil, nil)
		if err != nil || v.Records != want || len(v.Heads) != 1 || v.Heads[0].Seq != want {
			t.Errorf("%+v, %v; want the %d records of the head", v, err, want)
		}
	}
}

func TestTwoKnownHeadsOfOnePlaceShowATrailThatWasPutBack(t *testing.T) {
	s := shelved(t, audittest.Records(0, 10), nil, nil)
	heads, err := s.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := heads[0]
	other := last.Hash
	other[0]++
	lost := s.secret.Head(audit.ChainAt(last.Chain, last.Seq, other), last.At)
	for _, known := range [][]audit.Head{{lost, last}, {last, lost}} {
		_, err := audit.Verify(t.Context(), s, s.secret.Public(), known, nil)
		if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Seq != last.Seq {
			t.Errorf("not found: %v", err)
		}
	}
}
