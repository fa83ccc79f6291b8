package cli_test

import (
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

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
	another := event(other, other.Head(audit.Head{Chain: 1, Seq: 99}, today)) // many stores may share a queue
	write(t, file, another+event(a.secret, heads...))
	a.prints(t, []string{"audit", "verify", "--heads", file}, "known heads that agree 1")
	write(t, file, another+event(a.secret, a.secret.Head(audit.Head{Chain: 1, Seq: 20, Hash: heads[0].Hash}, today)))
	a.fails(t, 1, "record 15: removed: a head signed for 2026-01-12T10:00:00Z has 20 records", "audit", "verify", "--heads", file)
}
