package cli_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAStoreWithoutRecordsIsAFinding(t *testing.T) {
	a := archived(t, nil)
	for _, part := range []string{"there are no records, and no cut stands for removed ones: RETRY_DATABASE_URL names another store than the worker's", "--expect-empty"} {
		a.fails(t, 1, part, "audit", "verify")
	}
	a.prints(t, []string{"audit", "verify", "--expect-empty"}, "0 records in 0 chains")
}

func TestARemovedTrailIsFoundByTheStoreItself(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_removed_behind_a_cut_only", "DELETE FROM records", "DELETE FROM heads")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--expect-empty"}} {
		a.fails(t, 1, "audit chain 1: its signed head is gone", args...)
	}
}

func TestThePublicHalfOfTheKeyIsEnoughToCheck(t *testing.T) {
	a := archived(t, week())
	public := filepath.Join(t.TempDir(), "audit.pub")
	write(t, public, publicPEM(t, a.path+".key"))
	remove(t, a.path+".key")
	a.fails(t, 1, "STORE.key", "audit", "verify")
	a.must(t, "audit", "verify", "--key", public)

	archived(t, week()).fails(t, 1, "not signed with this key", "audit", "verify", "--key", public)
}

// database opens the file past the store.
func (a *archive) database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", a.path)
	check.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// tamper executes statements on the file, past everything that guards the records.
func (a *archive) tamper(t *testing.T, statements ...string) {
	t.Helper()
	db := a.database(t)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// definition is the SQL of what the file defines under a name.
func (a *archive) definition(t *testing.T, name string) (text string) {
	t.Helper()
	check.Must(t, a.database(t).QueryRowContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE name = ?", name).Scan(&text))
	return text
}

func TestBrokenTrailIsReportedWithItsPlace(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")

	const want = "worker: the audit trail at sqlite://STORE is broken: audit chain 1, record 3 (id 3): changed, or moved here from another place\n"
	a.fails(t, 1, want, "audit", "verify")
	var got struct {
		OK     bool
		Broken struct {
			Chain, Seq, ID int
			Why            string
		}
		Heads []any
	}
	if stdout, stderr := a.decodes(t, 1, &got, "audit", "verify"); stderr != want || got.OK || got.Broken.Chain != 1 || got.Broken.Seq != 3 || got.Broken.ID != 3 || got.Broken.Why == "" || got.Heads != nil {
		t.Errorf("complaint %q, output %s", stderr, stdout)
	}
}

func TestOnlyPurgeNeedsTheWorkerStopped(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	defer store.Close()
	for _, args := range append(reading, []string{"events", "tail", "--unpublished"}) {
		if a.must(t, args...) == "" {
			t.Errorf("worker %v says nothing", args)
		}
	}
	a.fails(t, 1, `STORE is in use by another process`, "audit", "purge", "--before", "2021-01-01", "--yes")
}

func TestADamagedRecordIsExportedAsItIs(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", `UPDATE records SET variables = '{"shouldRetry":' WHERE seq = 1`)
	a.prints(t, []string{"audit", "export", accepted}, `"variables":"{\"shouldRetry\":"`)
	for _, part := range []string{"audit record 1: its variables cannot be read", "worker audit verify reports whether it was changed"} {
		a.fails(t, 1, part, "history", accepted)
	}
}

func TestABackupIsACopyThatWasChecked(t *testing.T) {
	a := archived(t, week())
	copied := filepath.Join(t.TempDir(), "copy.db")
	a.prints(t, []string{"audit", "backup", copied}, "The audit trail is in order: sqlite://"+copied+".", "audit_head")
	a.settings = []string{"RETRY_DATABASE_URL=sqlite://" + copied, "RETRY_AUDIT_KEY_FILE=" + a.path + ".key"}
	a.must(t, "audit", "verify")
}

func TestBrokenBackupFailsAndIsKept(t *testing.T) {
	a := archived(t, week())
	a.tamper(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET retry_count = 4 WHERE seq = 3")
	copied := filepath.Join(t.TempDir(), "copy.db")
	var got struct{ OK bool }
	if stdout, _ := a.decodes(t, 1, &got, "audit", "backup", copied); got.OK {
		t.Errorf("output %q", stdout)
	}
	if _, err := os.Stat(copied); err != nil {
		t.Errorf("the copy, which may be all that there is, was not kept: %v", err)
	}
}

func TestBackupNamesWhatItLacks(t *testing.T) {
	a := archived(t, week())
	a.fails(t, 2, "wants the new file, such as /backup/today.db", "audit", "backup")
	a.fails(t, 1, "file exists", "audit", "backup", a.path)
	remove(t, a.path+".key")
	a.fails(t, 1, "could not be checked without the key", "audit", "backup", a.path+".copy")
	a.settings = []string{"RETRY_DATABASE_URL=postgres://app@127.0.0.1:1/retry"}
	a.fails(t, 1, "pg_dump", "audit", "backup", a.path+".copy")
}
