package cli_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestKeptHeadsRevealARolledBackStore(t *testing.T) {
	a := archived(t, week())
	earlier := a.heads(t)
	log := filepath.Join(t.TempDir(), "worker.log")
	write(t, log, asLogged(t, a.heads(t, rejected("", "2026-01-12T09:50:00Z"))[0]))
	printed := filepath.Join(t.TempDir(), "kept-heads.jsonl")
	write(t, printed, a.must(t, "audit", "verify"))
	for _, file := range []string{log, printed} {
		a.prints(t, []string{"audit", "verify", "--heads", file}, "1 known head agreed with it.")
	}

	const trigger = "records_are_removed_behind_a_cut_only"
	again := a.definition(t, trigger)
	a.tamper(t, "DROP TRIGGER "+trigger, "DELETE FROM records WHERE seq = 17", again,
		fmt.Sprintf("UPDATE heads SET seq = 16, hash = x'%x', at = %d, signature = x'%x'", earlier[0].Hash[:], earlier[0].At.UnixMicro(), earlier[0].Signature))
	a.must(t, "audit", "verify") // by itself it is in order
	for _, file := range []string{log, printed} {
		a.fails(t, 1, "record 17: removed: the chain had 17 records at 20", "audit", "verify", "--heads", file)
	}
}

// asLogged is what the worker logs of a head, among other lines.
func asLogged(t *testing.T, h audit.Head) string {
	t.Helper()
	var out bytes.Buffer
	log, err := app.NewLogger(config.Config{LogLevel: "info", LogFormat: "json"}, &out)
	check.Must(t, err)
	out.WriteString("no JSON at all\n")
	log.Info("worker_started", zap.Int("seq", 1))
	log.Info("audit_head", zap.Int("chain", h.Chain), zap.Int64("seq", h.Seq), zap.Stringer("hash", h.Hash),
		zap.String("at", h.At.Format(time.RFC3339Nano)), zap.Binary("signature", h.Signature))
	return out.String()
}

func TestAFileWithoutHeadsIsNotTakenForAgreement(t *testing.T) {
	a := archived(t, week())
	for content, want := range map[string]string{
		"":                                     "there is no line with the event audit_head",
		`{"event":"worker_started"}`:           "there is no line with the event audit_head",
		`{"event":"audit_head","hash":"00"}`:   "line 1: a hash is 64 hexadecimal digits",
		`{"event":"audit_head","seq":"three"}`: "line 1: json",
	} {
		file := filepath.Join(t.TempDir(), "heads")
		write(t, file, content)
		a.fails(t, 1, want, "audit", "verify", "--heads", file)
	}
}

func TestHeadOfARemovedRecordIsNotCompared(t *testing.T) {
	a := archived(t, nil)
	file := filepath.Join(t.TempDir(), "kept-heads")
	var kept string
	store := a.open(t)
	for _, r := range decade() {
		a.add(t, store, r)
		heads, err := store.Heads(t.Context())
		check.Must(t, err)
		kept += asLogged(t, heads[0])
	}
	closed(t, store)
	write(t, file, kept)
	a.must(t, "audit", "purge", "--before", "2021-01-01", "--yes") // the cut ends at the third record
	a.prints(t, []string{"audit", "verify", "--heads", file}, "17 known heads agreed with it.\n2 known heads not compared: the record of that place is removed.\n")
	archived(t, nil).fails(t, 1, "worker: known heads: the one of chain 1, record 1", "audit", "verify", "--heads", file) // another store, not a broken one
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
	another := event(other, other.Head(audit.ChainAt(1, 99, audit.Hash{}), today)) // many stores may share a queue
	write(t, file, another+event(a.secret, heads...))
	a.prints(t, []string{"audit", "verify", "--heads", file}, "1 known head agreed with it.")
	write(t, file, another+event(a.secret, a.secret.Head(audit.ChainAt(1, 20, heads[0].Hash), today)))
	a.fails(t, 1, "record 17: removed: the chain had 20 records", "audit", "verify", "--heads", file)
}
