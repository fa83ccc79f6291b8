package cli_test

import (
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestHeadOfARemovedRecordIsNotCompared(t *testing.T) {
	a := archived(t, nil)
	file := filepath.Join(t.TempDir(), "kept-heads")
	var kept string
	store := a.open(t)
	for _, r := range decade() {
		a.add(t, store, r)
		kept += a.must(t, "audit", "verify")
	}
	closed(t, store)
	write(t, file, kept)
	a.must(t, "audit", "purge", "--before", "2021-01-01", "--yes") // the cut ends at the third record
	a.prints(t, []string{"audit", "verify", "--heads", file}, "15 known heads agreed with it.\n2 known heads not compared: its record is removed.\n")
	archived(t, nil).fails(t, 1, "known heads: the one of chain 1, record 1", "audit", "verify", "--heads", file) // another store, not a broken one
}

func TestHeadsInEventsRevealARolledBackStore(t *testing.T) {
	a := archived(t, week())
	heads, other := a.heads(t), audittest.Secret(t)
	file := filepath.Join(t.TempDir(), "events.jsonl")
	event := func(secret *audit.Secret, heads ...audit.Head) string {
		t.Helper()
		event, err := events.FromHeads("zeebe", secret.Public(), heads)
		check.Must(t, err)
		return string(event.JSON) + "\n"
	}
	another := event(other, other.Head(audit.ChainAt(audit.Head{Chain: 1, Seq: 99}), today)) // many stores may share a queue
	write(t, file, another+event(a.secret, heads...))
	a.prints(t, []string{"audit", "verify", "--heads", file}, "1 known head agreed with it.")
	write(t, file, another+event(a.secret, a.secret.Head(audit.ChainAt(audit.Head{Chain: 1, Seq: 20, Hash: heads[0].Hash}), today)))
	a.fails(t, 1, "record 15: removed: a head signed for 2026-01-12T10:00:00Z has 20 records", "audit", "verify", "--heads", file)
}
