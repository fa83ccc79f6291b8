package cli_test

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
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
	contains(t, "purge", dry, "Would remove 3 records of chain 1, places 1 to 3,")
	if again := a.must(t, "audit", "purge", "--dry-run"); again != dry {
		t.Errorf("a dry run has changed something:\n%s", again)
	}
	a.prints(t, []string{"audit", "purge"}, "Removed 3 records of chain 1, places 1 to 3,")
	a.prints(t, []string{"audit", "verify"}, "16 records in 1 chain checked", "3 records removed when the retention was over")
	a.fails(t, 1, "its retention is over", "history", "CLM-2020-1")
}

func TestPurgeNamesWhatHoldsRecordsBack(t *testing.T) {
	a := archived(t, decade(), 1)
	a.prints(t, []string{"audit", "purge", "--dry-run"}, "its answer")
	a.settings = append(a.settings, "RETRY_EVENTS_URL=kafka://127.0.0.1:9092")
	a.prints(t, []string{"audit", "purge"}, " nothing.", "its event is not published")
}

func TestPurgeKeepsUnpublishedRecordsWithoutQueueSetting(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	release, err := store.Lead(t.Context()) // as a worker does that has a queue
	check.Must(t, err)
	release()
	closed(t, store)
	for _, args := range [][]string{{"audit", "purge", "--dry-run"}, {"audit", "purge"}} {
		a.prints(t, args, " nothing.", "its event is not published")
	}
}

// kept is an archive whose store was set to keep records for some months.
func kept(t *testing.T, months int) *archive {
	t.Helper()
	a := archived(t, decade())
	store := a.open(t)
	if _, err := store.Keep(t.Context(), months); err != nil {
		t.Fatal(err)
	}
	closed(t, store)
	return a
}

func TestShorterRetentionNeedsShorten(t *testing.T) {
	a := kept(t, 120)
	a.settings = append(a.settings, "RETRY_AUDIT_RETENTION=5y")
	for _, args := range [][]string{{"audit", "purge", "--dry-run"}, {"audit", "purge"}} {
		stdout := a.must(t, args...)
		contains(t, "purge", stdout, "Retention 10y:", " nothing.", "worker audit purge --shorten")
	}
	a.prints(t, []string{"audit", "purge", "--shorten", "--yes"}, "Lowered")
	a.prints(t, []string{"audit", "verify"}, "19 records in 1 chain")
	a.prints(t, []string{"audit", "purge", "--shorten", "--yes", "--json"}, `"lowered": false`)
	a.prints(t, []string{"audit", "purge"}, "Removed 3 records")
}

func TestAFloorThatIsNoNumberIsSetByAPerson(t *testing.T) {
	a := kept(t, 60)
	a.tamper(t, "UPDATE meta SET value = 'x' WHERE name = 'retention'")
	code, stdout, stderr := a.run(t, "audit", "purge", "--shorten", "--yes")
	if code != 0 || !strings.Contains(stdout, "Lowered") || !strings.Contains(stderr, "is not a number of months: it is \"x\"") {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
	a.tamper(t, "DROP TABLE meta")
	if code, stdout, stderr = a.run(t, "audit", "purge", "--shorten", "--yes"); code == 0 || stdout != "" {
		t.Errorf("a floor that cannot be read: exit code %d, %s, %s", code, stdout, stderr)
	}
}

func TestShortenAsksForYes(t *testing.T) {
	a := kept(t, 60)
	a.settings = append(a.settings, "RETRY_AUDIT_RETENTION=18m")
	a.fails(t, 2, "give --yes", "audit", "purge", "--shorten")
	for _, said := range []string{"no", "y", "", "yes"} {
		keyboard := terminal(t)
		if _, err := keyboard.WriteString(said + "\n"); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := a.run(t, "audit", "purge", "--shorten")
		if !strings.Contains(stderr, "sqlite://STORE keeps records for 5y at least. Let it keep them for 18m only? Type yes: ") {
			t.Errorf("%q: asked %s", said, stderr)
		}
		if lowered := code == 0 && strings.Contains(stdout, "Lowered"); lowered != (said == "yes") || (code == 0) != lowered {
			t.Errorf("%q: exit code %d, %s", said, code, stdout)
		}
	}
}

// The heads of these archives were signed when the test ran, which is when the last record was stored.
func TestPurgeByAClockFarAheadOfTheTrailIsRefused(t *testing.T) {
	a := kept(t, 60)
	was := today
	defer func() { today = was }()
	today = time.Now().AddDate(5, 1, 0)
	for _, part := range []string{today.UTC().Format("2006-01-02T15"), time.Now().UTC().Format("2006-01-02T"), "--trust-clock"} {
		a.fails(t, 1, part, "audit", "purge")
	}
	a.prints(t, []string{"audit", "verify"}, "19 records in 1 chain")
	a.prints(t, []string{"audit", "purge", "--trust-clock"}, "Removed 19 records")
}

func TestUnlimitedRetentionRemovesNothingAndHoldsOthersToFiftyYears(t *testing.T) {
	a := archived(t, decade())
	was := today
	defer func() { today = was }()
	today = today.AddDate(90, 0, 0)
	set := a.settings
	a.settings = append(set, "RETRY_AUDIT_RETENTION=unlimited")
	a.prints(t, []string{"audit", "purge", "--trust-clock"}, "unlimited", "Removed nothing.")
	a.settings = append(set, "RETRY_AUDIT_RETENTION=5y")
	a.prints(t, []string{"audit", "purge", "--dry-run"}, "50y", "Would remove 19 records")
}
