package cli_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

// changing hides what differs from one run to the next: the time and the signature of a head.
var changing = regexp.MustCompile(`"(at|signature)": ?"[^"]*"`)

func TestATrailInOrderIsReportedWithItsHeads(t *testing.T) {
	a := archived(t, week())
	stdout := a.must(t, "audit", "verify")
	checkScreen(t, stdout)
	checkGolden(t, "store_verify", changing.ReplaceAllString(stdout, `"$1":"..."`))
	checkGolden(t, "store_verify_json", changing.ReplaceAllString(a.must(t, "audit", "verify", "--json"), `"$1": "..."`))
}

func TestAStoreWithoutRecordsIsInOrder(t *testing.T) {
	if stdout := archived(t, nil).must(t, "audit", "verify"); !strings.Contains(stdout, "0 records in 0 chains") {
		t.Errorf("output:\n%s", stdout)
	}
}

func TestThePublicHalfOfTheKeyIsEnoughToCheck(t *testing.T) {
	a := archived(t, week())
	public := filepath.Join(t.TempDir(), "audit.pub")
	if err := os.WriteFile(public, publicPEM(t, a.path+".key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(a.path + ".key"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := a.run(t, "audit", "verify"); code != 1 || !strings.Contains(stderr, "STORE.key") {
		t.Errorf("without any key: exit code %d, complaint %s", code, stderr)
	}
	a.must(t, "audit", "verify", "--key", public)

	code, _, stderr := archived(t, week()).run(t, "audit", "verify", "--key", public)
	if code != 1 || !strings.Contains(stderr, "not signed with this key") {
		t.Errorf("with the key of another store: exit code %d, complaint %s", code, stderr)
	}
}

// tamper executes statements on the file, past everything that guards the records.
func (a *archive) tamper(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", a.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestABrokenTrailIsReportedWithThePlaceAndExitCode1(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")

	code, stdout, stderr := a.run(t, "audit", "verify")
	const want = "worker: the audit trail at sqlite://STORE is broken: audit chain 1, record 3 (id 3): changed, or moved here from another place\n"
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit code %d, output %q, complaint %q", code, stdout, stderr)
	}

	code, stdout, stderr = a.run(t, "audit", "verify", "--json")
	var got struct {
		OK     bool
		Broken struct {
			Chain, Seq, ID int
			Why            string
		}
		Heads []any
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || stderr != want ||
		got.OK || got.Broken.Chain != 1 || got.Broken.Seq != 3 || got.Broken.ID != 3 || got.Broken.Why == "" || got.Heads != nil {
		t.Errorf("exit code %d, complaint %q, error %v, output %s", code, stderr, err, stdout)
	}
}

func TestAStoreThatWasPutBackIsShownByTheHeadsThatWereKept(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "CREATE TABLE earlier AS SELECT * FROM heads")
	store := a.open(t)
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

	a.tamper(t, "DROP TRIGGER records_are_removed_behind_a_stub_only", "DELETE FROM records WHERE seq = 17",
		"DELETE FROM heads", "INSERT INTO heads SELECT * FROM earlier", "DROP TABLE earlier")
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
		`{"event":"audit_head","hash":"00"}`:   "line 1: its hash is not 64 hexadecimal digits",
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

func TestBesideAWorkerEverythingWorksButPurge(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	defer store.Close()
	for _, args := range [][]string{
		{"history", waiting},
		{"pending"},
		{"kpi"},
		{"audit", "verify"},
		{"audit", "export", accepted},
		{"audit", "purge", "--dry-run"},
		{"events", "tail", "--all"},
		{"events", "tail", "--unpublished"},
	} {
		if a.must(t, args...) == "" {
			t.Errorf("worker %v says nothing", args)
		}
	}
	code, stdout, stderr := a.run(t, "audit", "purge")
	if code != 1 || stdout != "" || !strings.Contains(stderr, `STORE is in use by worker "billing-1"`) {
		t.Errorf("exit code %d, output %q, complaint %q", code, stdout, stderr)
	}
}

func TestTheExportIsAllThatIsStored(t *testing.T) {
	a := archived(t, week())
	store := a.open(t)
	defer store.Close()
	records, err := store.Claim(t.Context(), accepted)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(a.must(t, "audit", "export", accepted)), "\n")
	if len(lines) != len(records) {
		t.Fatalf("%d lines for %d records", len(lines), len(records))
	}
	for i, r := range records {
		var got struct {
			Hash, ClaimID, Message string
			Seq                    int64
			Variables, Detail      json.RawMessage
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		variables := r.Variables
		if variables == "" {
			variables = "null"
		}
		if got.Hash != r.Hash.String() || got.Seq != r.Seq || got.ClaimID != r.ClaimID || got.Message != r.Message ||
			string(got.Variables) != variables || string(got.Detail) != r.Detail {
			t.Errorf("record %d is exported as\n%s", r.ID, lines[i])
		}
	}
}

func TestADamagedRecordIsExportedAsItIs(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", `UPDATE records SET variables = '{"shouldRetry":' WHERE seq = 1`)
	if stdout := a.must(t, "audit", "export", accepted); !strings.Contains(stdout, `"variables":"{\"shouldRetry\":"`) {
		t.Errorf("output:\n%s", stdout)
	}
	if code, stdout, stderr := a.run(t, "history", accepted); code != 1 || stdout != "" || !strings.Contains(stderr, "audit record 1") ||
		!strings.Contains(stderr, "worker audit verify") {
		t.Errorf("exit code %d, output %q, complaint %q", code, stdout, stderr)
	}
}
