package audit_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// decided is a record about a job of an instance of one claim.
func decided(id int64, kind audit.Kind, instance, job int64) audit.Record {
	r := audit.Record{ID: id, Kind: kind, At: noon.Add(time.Duration(id) * time.Minute), ClaimID: "CLM-a-1", Policy: "tiss", Class: "TRANSIENT", MaxRetries: 3}
	r.Cluster, r.ProcessInstanceKey, r.JobKey = "test", instance, job
	if kind == audit.KindRetry {
		r.NextRetryTime = r.At.Add(5 * time.Minute)
	}
	return r
}

func fold(records ...audit.Record) (s audit.State) {
	for i := range records {
		s = s.Add(&records[i])
	}
	return s
}

// The retries of other jobs of the instance since another job was last stopped, each job once.
func countOf(records []audit.Record, job audit.Key) int {
	jobs := map[int64]bool{}
	for _, r := range records {
		switch {
		case r.Kind == audit.KindResubmitted || r.Kind.Ends():
			clear(jobs)
		case !r.Kind.IsDecision() || r.ProcessInstanceKey != job.ProcessInstanceKey || r.JobKey == job.JobKey:
		case r.Kind == audit.KindRetry:
			jobs[r.JobKey] = true
		default:
			clear(jobs)
		}
	}
	return len(jobs)
}

func TestTheRetriesOfAnInstanceAreThoseOfItsRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []audit.Record
		var state audit.State
		last := map[int64]int64{} // the last job of each instance
		for id := range int64(rapid.IntRange(1, 60).Draw(t, "records")) {
			instance := rapid.Int64Range(1, 4).Draw(t, "instance")
			if last[instance] == 0 || rapid.IntRange(0, 2).Draw(t, "the same job") > 0 {
				last[instance] = 100 + id
			}
			kind := rapid.SampledFrom([]audit.Kind{
				audit.KindRetry, audit.KindRetry, audit.KindRetry, audit.KindRetry, audit.KindPermanent, audit.KindExhausted, audit.KindRejected, audit.KindRedriven,
				audit.KindDecisionRefused, audit.KindResubmitted, audit.KindSubmitted,
			}).Draw(t, "kind")
			r := decided(id+1, kind, instance, last[instance])
			if got, want := state.Retried(r.Key), countOf(records, r.Key); got != want {
				t.Fatalf("record %d: %d retries, want %d", id, got, want)
			}
			before := fmt.Sprintf("%+v", state)
			next := state.Add(&r)
			if after := fmt.Sprintf("%+v", state); after != before {
				t.Fatalf("Add changed the state from %s to %s", before, after)
			}
			state, records = next, append(records, r)
		}
	})
}

// A process that loses its count is known by its instance, and one that is called anew each time by the number of the others.
func TestALoopThatLosesItsCountIsStoppedHoweverManyInstancesItHas(t *testing.T) {
	for instances := range int64(40) {
		var state audit.State
		retries := 0
		for job := range int64(4000) {
			r := decided(job+1, audit.KindRetry, job%(instances+1), job+1)
			if state.Retried(r.Key) >= r.MaxRetries {
				r.Kind = audit.KindExhausted
			} else {
				retries++
			}
			state = state.Add(&r)
			if r.Kind == audit.KindExhausted && job > 1000 {
				break
			}
		}
		if instances < 4 { // each of them gets its retries again after it was stopped
			continue
		}
		if retries > 15 {
			t.Errorf("%d instances that lose their count: %d retries with a limit of 3", instances+1, retries)
		}
	}
}

func TestAClaimStandsWhereItsLastRecordPutsIt(t *testing.T) {
	held := decided(1, audit.KindExhausted, 7, 1)
	held.HeldBy = audit.WithDeadLetters
	kept := decided(2, audit.KindRedriven, 7, 2)
	kept.NextRetryTime = kept.At.Add(40 * time.Minute)
	retry := decided(1, audit.KindRetry, 7, 1)
	for name, c := range map[string]struct {
		records []audit.Record
		after   time.Duration
		want    audit.Standing
	}{
		"a retry before its time":          {[]audit.Record{retry}, 5 * time.Minute, audit.Waiting},
		"a retry at its time":              {[]audit.Record{retry}, 6 * time.Minute, audit.Overdue},
		"used up":                          {[]audit.Record{decided(1, audit.KindExhausted, 7, 1)}, time.Hour, audit.Stopped},
		"permanent":                        {[]audit.Record{decided(1, audit.KindPermanent, 7, 1)}, time.Hour, audit.Stopped},
		"kept among the dead letters":      {[]audit.Record{held}, time.Hour, audit.DeadLetter},
		"rejected":                         {[]audit.Record{retry, decided(2, audit.KindRejected, 7, 2)}, time.Hour, audit.Incident},
		"re-driven":                        {[]audit.Record{retry, decided(2, audit.KindRedriven, 7, 2)}, time.Hour, audit.Redriven},
		"re-driven, keeping its schedule":  {[]audit.Record{held, kept}, 40 * time.Minute, audit.Waiting},
		"resubmitted":                      {[]audit.Record{held, decided(2, audit.KindResubmitted, 7, 2)}, time.Hour, audit.Redriven},
		"a refused decision about a retry": {[]audit.Record{retry, decided(2, audit.KindDecisionRefused, 7, 2)}, 5 * time.Minute, audit.Waiting},
	} {
		state := fold(c.records...)
		check.Same(t, c.want, state.Standing(noon.Add(c.after)), "%s", name)
		check.Same(t, c.records[len(c.records)-1].ID, state.Tip, "%s: the last record", name)
	}
	for _, end := range []audit.Kind{audit.KindSubmitted, audit.KindAbandoned} {
		if state := fold(retry, decided(2, end, 7, 2), decided(3, audit.KindDecisionRefused, 7, 3)); !state.IsZero() {
			t.Errorf("%s and a refused decision leave %+v", end, state)
		}
	}
}

// A rejected outcome has no policy: whether the claim was accepted at once, its incident does not change.
func TestOnlyARejectedDecisionIsAFailureOfItsClaim(t *testing.T) {
	analysis := decided(1, audit.KindRejected, 7, 1)
	outcome := analysis
	outcome.Policy = ""
	check.Same(t, audit.CourseFailed, fold(analysis).Flags, "flags of a rejected decision")
	check.Same(t, audit.CourseFlags(0), fold(outcome).Flags, "flags of a rejected outcome")
}

func TestAClaimKeepsTheCountOfItsLastDecisionForTheRound(t *testing.T) {
	retry, again := decided(1, audit.KindRetry, 7, 1), decided(3, audit.KindResubmitted, 7, 3)
	retry.RetryCount, again.RetryCount = 3, 3 // of the round that is over
	incident := decided(2, audit.KindRejected, 7, 2)
	check.Same(t, 3, fold(retry, incident).RetryCount, "after an incident")
	check.Same(t, 0, fold(retry, incident, again).RetryCount, "in the next round")
}

func TestAResubmissionBeginsARoundOfTheSameClaim(t *testing.T) {
	state := fold(decided(1, audit.KindRetry, 7, 1), decided(2, audit.KindExhausted, 7, 2), decided(3, audit.KindResubmitted, 7, 3))
	check.Same(t, noon.Add(time.Minute), state.Opened, "opened")
	check.Same(t, []int{0, 0, 2}, []int{state.Failures, state.Retries, state.Attempts}, "failures, retries, earlier attempts")
	if !state.FirstFailure.IsZero() || state.Policy != "tiss" || state.Retried(audit.Key{Cluster: "test", ProcessInstanceKey: 7}) != 0 {
		t.Errorf("%+v", state)
	}
	again := decided(4, audit.KindRetry, 8, 4)
	state = state.Add(&again)
	check.Same(t, again.At, state.FirstFailure, "first failure of the round")
	check.Same(t, audit.CourseFailed|audit.CourseDecided|audit.CourseRetried|audit.CourseExhausted|audit.CourseByPerson, state.Flags, "flags")
}

func TestARowIsReadAsItWasWrittenAndForItsClaimOnly(t *testing.T) {
	secret := audittest.Secret(t)
	state := fold(decided(1, audit.KindRetry, 7, 1), decided(2, audit.KindRetry, 8, 2), decided(3, audit.KindPermanent, -9, 3))
	row := secret.SealState("CLM-a-1", &state)
	got, err := secret.ReadState("CLM-a-1", row)
	check.Must(t, err)
	check.Same(t, fmt.Sprintf("%+v", state), fmt.Sprintf("%+v", got), "state")
	_, err = secret.ReadState("CLM-b-1", row)
	check.Fails(t, err, "changed by hand")
	for i := range row {
		row[i] ^= 1
		if _, err := secret.ReadState("CLM-a-1", row); err == nil {
			t.Errorf("byte %d was changed, and nobody noticed", i)
		}
		row[i] ^= 1
		if _, err := (*audit.Secret)(nil).ReadState("CLM-a-1", row[:i]); err == nil {
			t.Errorf("cut to %d bytes it is read", i)
		}
	}
}
