package cli_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestStateFileRevealsMissingRecords(t *testing.T) {
	a := archived(t, week())
	heads := a.heads(t)
	public := filepath.Join(t.TempDir(), "audit.pub")
	write(t, public, publicPEM(t, a.path+".key"))
	for path, args := range map[string][]string{
		a.path + ".key.state": {"audit", "verify"},
		a.path + ".state":     {"audit", "verify"},
		public + ".state":     {"audit", "verify", "--key", public},
		strings.Replace(public, ".pub", ".key.state", 1): {"audit", "verify", "--key", public},
	} {
		state := audit.State{At: today, Heads: heads}
		check.Must(t, a.secret.SaveState(path, state))
		a.prints(t, args, "1 known head agreed with it.\nThe state file of the key was compared: ")
		more := a.secret.Head(audit.ChainAt(1, 20, heads[0].Hash), today)
		state.Heads = []audit.Head{more}
		state.GivenUp = []audit.GivenUp{{At: today, Why: audit.Restored}}
		check.Must(t, a.secret.SaveState(path, state))
		stdout, stderr := a.decodes(t, 1, &struct{}{}, args...)
		contains(t, path, stderr, "record 17: removed: the chain had 20 records at 2026-01-12T10:00:00Z")
		contains(t, path, stdout, `"why": "restored"`)
		write(t, path, `{"state":{"heads":[]},"signature":"AAAA"}`)
		a.fails(t, 1, "was changed, or signed with another key", args...)
		remove(t, path)
	}
}

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

	const trigger = "records_are_removed_behind_a_tombstone_only"
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
	records := decade()
	records[1].At, records[2].At = records[0].At, records[0].At // what is of one day goes with one stub
	var kept string
	store := a.open(t)
	for _, r := range records {
		a.add(t, store, r)
		heads, err := store.Heads(t.Context())
		check.Must(t, err)
		kept += asLogged(t, heads[0])
	}
	answer(t, store, a.ids)
	closed(t, store)
	write(t, file, kept)
	a.must(t, "audit", "purge") // the stub ends at the third record
	a.prints(t, []string{"audit", "verify", "--heads", file}, "17 known heads agreed with it.\n2 known heads not compared: the record of that place is removed.\n")
	archived(t, nil).fails(t, 1, "worker: known heads: the one of chain 1, record 1", "audit", "verify", "--heads", file) // another store, not a broken one
}

func TestQueueHeadsRevealARolledBackStore(t *testing.T) {
	a, kafka := archived(t, week()), eventstest.StartKafka(t)
	a.settings = append(a.settings, "RETRY_EVENTS_URL="+kafka.URL())
	a.prints(t, []string{"audit", "verify"}, "The queue holds 0 heads of this key.")
	publisher := eventstest.Open(t, kafka.URL())
	heads := a.heads(t)
	other := audittest.Secret(t)
	publish := func(secret *audit.Secret, heads ...audit.Head) events.Event {
		t.Helper()
		event, err := events.FromHeads("zeebe", secret.Public(), heads)
		check.Must(t, err)
		check.Await(t, "it is published", func() bool { return publisher.Publish(t.Context(), []events.Event{event})[0] == nil })
		return event
	}
	publish(a.secret, heads...)
	publish(other, other.Head(audit.ChainAt(1, 99, audit.Hash{}), today)) // another store on the same queue
	a.prints(t, []string{"audit", "verify"}, "1 known head agreed with it.", "The queue holds 1 head of this key.")

	event := publish(a.secret, a.secret.Head(audit.ChainAt(1, 20, heads[0].Hash), today))
	file := filepath.Join(t.TempDir(), "events.jsonl")
	write(t, file, string(event.JSON)+"\n")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--heads", file}} {
		a.fails(t, 1, "record 17: removed: the chain had 20 records", args...)
	}
	// A person has restored a backup, and the key goes on without the four.
	given := audit.State{At: today, Heads: heads, GivenUp: []audit.GivenUp{{At: today.Add(time.Hour), Why: audit.Restored, From: heads}}}
	check.Must(t, a.secret.SaveState(a.path+".key.state", given))
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--heads", file}} {
		a.prints(t, args, "1 known head not compared: a person has given up those records.", "(restored)")
	}
}

func TestAQueueThatCannotBeReadIsAWarning(t *testing.T) {
	a := archived(t, week())
	settings := a.settings
	for url, want := range map[string]string{
		"amqp://user:secret@127.0.0.1:1/": "RabbitMQ cannot be read without taking the events",
		"kafka://127.0.0.1:1":             "connect to Kafka",
	} {
		a.settings = append(slices.Clip(settings), "RETRY_EVENTS_URL="+url)
		var got struct {
			OK       bool
			Warnings []string
		}
		stdout, stderr := a.decodes(t, 0, &got, "audit", "verify")
		if !got.OK || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], want) ||
			!strings.Contains(stderr, "the heads in the queue were not compared") || strings.Contains(stderr+stdout, "secret") {
			t.Errorf("%s: output %s, complaint %q", url, stdout, stderr)
		}
	}
}
