package cli_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAStoreWithoutRecordsIsAFinding(t *testing.T) {
	archived(t, nil).fails(t, 1, "there are no records in sqlite://STORE, and no cut stands for removed ones", "audit", "verify")
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

// tamper executes statements on the file, past everything that guards the records.
func (a *archive) tamper(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", a.path)
	check.Must(t, err)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOnlyPurgeNeedsTheWorkerStopped(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	defer store.Close()
	for _, args := range reading {
		if a.must(t, args...) == "" {
			t.Errorf("worker %v says nothing", args)
		}
	}
	a.fails(t, 1, `STORE: in use by another process`, "audit", "purge", "--before", "2021-01-01", "--yes")
}

// The state of the claim says what becomes of it; its last byte is of the keyed hash.
func TestARowChangedByHandIsNotBelieved(t *testing.T) {
	a := archived(t, week())
	a.must(t, "claims")
	a.tamper(t, "UPDATE claims SET state = CAST(substr(state, 1, length(state) - 1) || x'00' AS BLOB) WHERE claim_id = (SELECT min(claim_id) FROM claims)")
	for _, args := range [][]string{{"claims"}, {"kpi"}, {"audit", "verify"}} {
		a.fails(t, 1, "was changed by hand", args...)
	}
}

func TestTheKeyOfAnotherStoreDoesNotSpoilTheReading(t *testing.T) {
	a, other := archived(t, week()), archived(t, week()[:2])
	a.settings = append(a.settings, "RETRY_AUDIT_KEY_FILE="+other.path+".key")
	a.must(t, "claims")
	a.prints(t, []string{"audit", "verify", "--key", a.path + ".key"}, "The audit trail is in order")
}
