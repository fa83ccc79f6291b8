package cli_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// decade is what happened long ago, and the week.
func decade() []audit.Record {
	old := func(claim, at string) audit.Record { return ended{audit.KindSubmitted, claim, at, 1, 0, ""}.record() }
	return keyed(append([]audit.Record{
		old("CLM-2020-1", "2020-11-30T10:00:00Z"), old("CLM-2020-2", "2020-12-01T10:00:00Z"), old("CLM-2020-3", "2020-12-31T23:59:59.999999Z"),
	}, week()...))
}

func TestPurgeShowsAndThenRemovesWhatIsOld(t *testing.T) {
	a := archived(t, decade())
	const places = " 3 records of chain 1, up to place 3.\n"
	for range 2 { // it changes nothing
		check.Same(t, "Would remove"+places+"Nothing is removed yet: give --yes to remove them.\n", a.must(t, "audit", "purge", "--before", "2021-01-01"), "a dry run")
	}
	a.prints(t, []string{"audit", "verify"}, "17 records in 1 chain checked")
	check.Same(t, "Removed"+places, a.must(t, "audit", "purge", "--before", "2021-01-01", "--yes"), "purge --yes")
	a.prints(t, []string{"audit", "verify"}, "14 records in 1 chain checked", "3 records removed by a purge")
	a.fails(t, 1, "nothing is known of", "history", "CLM-2020-1")
	var got struct {
		DryRun bool
		Chains []audit.Purged
	}
	if stdout, _ := a.decodes(t, 0, &got, "audit", "purge", "--before", "2021-01-01"); !got.DryRun || len(got.Chains) > 0 {
		t.Errorf("again: %s", stdout)
	}
}

func TestPurgeKeepsUnpublishedRecordsAndSaysSo(t *testing.T) {
	a := archived(t, decade())
	store := a.open(t)
	release, err := store.Lead(t.Context()) // as a worker does that has a queue
	check.Must(t, err)
	release()
	check.Must(t, store.Published(t.Context(), a.ids[:2]))
	closed(t, store)
	const stays = "What was decided from 2020-12-30T23:59:59Z on stays until its events are published."
	a.prints(t, []string{"audit", "purge", "--before", "2021-01-01"}, "Would remove 2 records of chain 1", stays)
	a.prints(t, []string{"audit", "purge", "--before", "2021-01-01", "--yes"}, "Removed 2 records of chain 1")
	a.prints(t, []string{"audit", "purge", "--before", "2021-01-01", "--yes"}, "Removed nothing", stays)
}

func TestPurgeKeepsClaimsThatAreOpenAndSaysSo(t *testing.T) {
	all := decade()
	all[0].At = all[0].At.AddDate(0, 0, -2)
	all[1].Kind = audit.KindRejected
	a := archived(t, all)
	a.prints(t, []string{"audit", "purge", "--before", "2021-01-01"}, "Would remove 1 record of chain 1",
		"What was decided from 2020-11-30T10:00:00Z on stays: claim CLM-2020-2 is open.")
	var got struct{ Held audit.Hold }
	a.decodes(t, 0, &got, "audit", "purge", "--before", "2021-01-01", "--yes")
	check.Same(t, "CLM-2020-2", got.Held.ClaimID, "what keeps the rest")
}
