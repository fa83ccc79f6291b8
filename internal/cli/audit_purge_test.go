package cli_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
)

// decade is what happened long ago, and the week.
func decade() []audit.Record {
	old := func(claim, at string) audit.Record {
		return decided{audit.KindRetry, claim, at, "504", "TRANSIENT", "504", 0, 5, 6}.record()
	}
	return keyed(append([]audit.Record{
		old("CLM-2020-1", "2020-11-30T10:00:00Z"), old("CLM-2020-2", "2020-12-01T10:00:00Z"), old("CLM-2020-3", "2020-12-31T23:59:59.999999Z"),
	}, week()...))
}

func TestPurgeRemovesWhatIsOldAndLeavesATrailInOrder(t *testing.T) {
	a := archived(t, decade())
	dry := a.must(t, "audit", "purge", "--dry-run")
	checkScreen(t, dry)
	checkGolden(t, "store_purge_old_dry_run", dry)
	if again := a.must(t, "audit", "purge", "--dry-run"); again != dry {
		t.Errorf("a dry run has changed something:\n%s", again)
	}
	checkGolden(t, "store_purge_old", a.must(t, "audit", "purge"))
	if stdout := a.must(t, "audit", "verify"); !strings.Contains(stdout, "16 records in 1 chain checked") ||
		!strings.Contains(stdout, "3 records removed when the retention was over") {
		t.Errorf("output:\n%s", stdout)
	}
	if code, _, stderr := a.run(t, "history", "CLM-2020-1"); code != 1 || !strings.Contains(stderr, "its retention is over") {
		t.Errorf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "store_purge_again_json", a.must(t, "audit", "purge", "--json"))
}

func TestPurgeSaysWhatHoldsTheRestBack(t *testing.T) {
	a := archived(t, decade(), 1)
	checkGolden(t, "store_purge_unanswered", a.must(t, "audit", "purge", "--dry-run"))
	a.settings = append(a.settings, "RETRY_EVENTS_URL=nats://127.0.0.1:4222")
	checkGolden(t, "store_purge_unpublished", a.must(t, "audit", "purge"))
	checkGolden(t, "store_purge_unpublished_json", a.must(t, "audit", "purge", "--dry-run", "--json"))
}

func TestPurgeKeepsWhatIsUnpublishedAlsoWhereNobodyTellsItOfTheQueue(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	release, err := store.Lead(t.Context()) // as a worker does that has a queue
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"audit", "purge", "--dry-run"}, {"audit", "purge"}} {
		stdout := a.must(t, args...)
		if !strings.Contains(stdout, " nothing.") || !strings.Contains(stdout, "its event is not published") {
			t.Errorf("worker %v:\n%s", args, stdout)
		}
	}
}
