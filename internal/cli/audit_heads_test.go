package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

func TestTheStateFileShowsWhatTheStoreShouldHold(t *testing.T) {
	a := archived(t, week())
	store := a.open(t)
	heads, err := store.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	public := filepath.Join(t.TempDir(), "audit.pub")
	if err := os.WriteFile(public, publicPEM(t, a.path+".key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, args := range map[string][]string{
		a.path + ".key.state": {"audit", "verify"},
		a.path + ".state":     {"audit", "verify"},
		public + ".state":     {"audit", "verify", "--key", public},
		strings.Replace(public, ".pub", ".key.state", 1): {"audit", "verify", "--key", public},
	} {
		state := audit.State{At: today, Heads: heads}
		if err := a.secret.SaveState(path, state); err != nil {
			t.Fatal(err)
		}
		if stdout := a.must(t, args...); !strings.Contains(stdout, "1 known head agreed with it.\nThe state file of the key was compared: ") {
			t.Errorf("%s: output:\n%s", path, stdout)
		}
		more := a.secret.Head(audit.ChainAt(1, 20, heads[0].Hash), today)
		state.Heads = []audit.Head{more}
		state.GivenUp = []audit.GivenUp{{At: today, Why: audit.Restored}}
		if err := a.secret.SaveState(path, state); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := a.run(t, append(args, "--json")...)
		if code != 1 || !strings.Contains(stderr, "record 17: removed: the chain had 20 records at 2026-01-12T10:00:00Z") || !strings.Contains(stdout, `"why": "restored"`) {
			t.Errorf("%s: exit code %d, output %s, complaint %q", path, code, stdout, stderr)
		}
		if err := os.WriteFile(path, []byte(`{"state":{"heads":[]},"signature":"AAAA"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := a.run(t, args...); code != 1 || !strings.Contains(stderr, "was changed, or signed with another key") {
			t.Errorf("%s: exit code %d, complaint %q", path, code, stderr)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStoreThatWasPutBackIsShownByTheHeadsThatWereKept(t *testing.T) {
	a := archived(t, week())
	store := a.open(t)
	earlier, err := store.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.add(t, store, rejected("", "2026-01-12T09:50:00Z"))
	log := filepath.Join(t.TempDir(), "worker.log")
	logged, err := store.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, asLogged(t, logged[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := filepath.Join(t.TempDir(), "kept-heads.jsonl")
	if err := os.WriteFile(printed, []byte(a.must(t, "audit", "verify")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{log, printed} {
		if stdout := a.must(t, "audit", "verify", "--heads", file); !strings.Contains(stdout, "1 known head agreed with it.") {
			t.Errorf("output:\n%s", stdout)
		}
	}

	const trigger = "records_are_removed_behind_a_tombstone_only"
	again := a.definition(t, trigger)
	a.tamper(t, "DROP TRIGGER "+trigger, "DELETE FROM records WHERE seq = 17", again,
		fmt.Sprintf("UPDATE heads SET seq = 16, hash = x'%x', at = %d, signature = x'%x'", earlier[0].Hash[:], earlier[0].At.UnixMicro(), earlier[0].Signature))
	a.must(t, "audit", "verify") // by itself it is in order
	for _, file := range []string{log, printed} {
		code, _, stderr := a.run(t, "audit", "verify", "--heads", file)
		if code != 1 || !strings.Contains(stderr, "record 17: removed: the chain had 17 records at 20") {
			t.Errorf("exit code %d, complaint %s", code, stderr)
		}
	}
}

// asLogged is what the worker logs of a head, among other lines.
func asLogged(t *testing.T, h audit.Head) []byte {
	t.Helper()
	var out bytes.Buffer
	log, err := app.NewLogger(config.Config{LogLevel: "info", LogFormat: "json"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString("no JSON at all\n")
	log.Info("worker_started", zap.Int("seq", 1))
	log.Info("audit_head", zap.Int("chain", h.Chain), zap.Int64("seq", h.Seq), zap.Stringer("hash", h.Hash),
		zap.String("at", h.At.Format(time.RFC3339Nano)), zap.Binary("signature", h.Signature))
	return out.Bytes()
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
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := a.run(t, "audit", "verify", "--heads", file); code != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, output %q, complaint %q", content, code, stdout, stderr)
		}
	}
}

func TestAHeadWhoseRecordIsRemovedIsNotToldToAgree(t *testing.T) {
	a := archived(t, nil)
	store := a.open(t)
	file := filepath.Join(t.TempDir(), "kept-heads")
	records := decade()
	records[1].At, records[2].At = records[0].At, records[0].At // what is of one day goes with one stub
	var kept []byte
	for _, r := range records {
		a.add(t, store, r)
		heads, err := store.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, asLogged(t, heads[0])...)
	}
	if _, err := store.Append(t.Context(), nil, a.ids); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	a.must(t, "audit", "purge") // the stub ends at the third record
	stdout := a.must(t, "audit", "verify", "--heads", file)
	if !strings.Contains(stdout, "17 known heads agreed with it.\n2 known heads not compared: the record of that place is removed.\n") {
		t.Errorf("output:\n%s", stdout)
	}
	other := archived(t, nil)
	code, stdout, stderr := other.run(t, "audit", "verify", "--heads", file)
	if code != 1 || stdout != "" || strings.Contains(stderr, "is broken") || !strings.Contains(stderr, "known heads: the one of chain 1, record 1") {
		t.Errorf("heads of another store: exit code %d, output %q, complaint %q", code, stdout, stderr)
	}
}
