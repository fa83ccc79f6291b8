package cli_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

func TestAStoreWithoutRecordsIsAFinding(t *testing.T) {
	a := archived(t, nil)
	code, stdout, stderr := a.run(t, "audit", "verify")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "there are no records") || !strings.Contains(stderr, "RETRY_DATABASE_URL") || !strings.Contains(stderr, "--expect-empty") {
		t.Errorf("exit code %d, output %q, complaint %q", code, stdout, stderr)
	}
	a.prints(t, []string{"audit", "verify", "--expect-empty"}, "0 records in 0 chains")
}

func TestARemovedTrailIsFoundByTheStoreItself(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_removed_behind_a_tombstone_only", "DELETE FROM records", "DELETE FROM heads")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--expect-empty"}} {
		a.fails(t, 1, "audit chain 1: its signed head is gone", args...)
	}
}

func TestEveryFindingIsListed(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER tombstones_are_never_changed", "DROP INDEX records_at", "CREATE TABLE mine (x)")
	const want = "worker: the audit store at sqlite://STORE has 3 findings:\n" +
		"worker:   index records_at on records is missing\n" +
		"worker:   trigger tombstones_are_never_changed on tombstones is missing\n" +
		"worker:   table mine was added\n"
	if code, stdout, stderr := a.run(t, "audit", "verify"); code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit code %d, output %q, complaint %q", code, stdout, stderr)
	}
	code, stdout, _ := a.run(t, "audit", "verify", "--json")
	var got struct {
		OK       bool
		Broken   any
		Findings []string
		Records  int
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 1 || got.OK || got.Broken != nil || len(got.Findings) != 3 || got.Records != len(week()) {
		t.Errorf("exit code %d, error %v, output %s", code, err, stdout)
	}
}

func TestThePublicHalfOfTheKeyIsEnoughToCheck(t *testing.T) {
	a := archived(t, week())
	public := filepath.Join(t.TempDir(), "audit.pub")
	write(t, public, publicPEM(t, a.path+".key"))
	remove(t, a.path+".key")
	a.fails(t, 1, "STORE.key", "audit", "verify")
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

// definition is the SQL of what the file defines under a name.
func (a *archive) definition(t *testing.T, name string) (text string) {
	t.Helper()
	db, err := sql.Open("sqlite", a.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE name = ?", name).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBrokenTrailIsReportedWithItsPlace(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")

	code, stdout, stderr := a.run(t, "audit", "verify")
	const want = "worker: the audit trail at sqlite://STORE is broken: audit chain 1, record 3 (id 3): changed, or moved here from another place\n" +
		"worker: the audit store at sqlite://STORE has 1 finding:\nworker:   trigger records_are_never_changed on records is missing\n"
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

func TestOnlyPurgeNeedsTheWorkerStopped(t *testing.T) {
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
		{"replay", "--policy", "tiss"},
	} {
		if a.must(t, args...) == "" {
			t.Errorf("worker %v says nothing", args)
		}
	}
	a.fails(t, 1, `STORE is in use by worker "billing-1"`, "audit", "purge")
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
		unmarshal(t, lines[i], &got)
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
