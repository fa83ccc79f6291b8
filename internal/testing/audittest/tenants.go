package audittest

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Shared are records of one claim id that the default tenant and the tenant "clinic" use, a minute apart, each of a job and a
// process instance of its own. The default tenant's claim was retried, accepted and has failed again; the clinic's was retried
// twice and is stopped.
func Shared() []audit.Record {
	records := story(
		step{"a", audit.KindRetry, 0}, step{"a", audit.KindRetry, 0}, step{"a", audit.KindRetry, 1}, step{"a", audit.KindSubmitted, 1},
		step{"a", audit.KindExhausted, 2}, step{"a", audit.KindRejected, 0},
	)
	for _, n := range []int{1, 2, 4} {
		records[n].Tenant = "clinic"
	}
	return records
}

var tenantFacts = []fact{
	{"a record keeps its tenant", func(t *testing.T, s *subject) {
		results := stored(s.append(t, Shared()...))
		same(t, "tenant", results[1].Tenant, "clinic")
		same(t, "records in the order of time", s.all(t), results)
		got, err := s.Claim(t.Context(), "CLM-a-1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "records of the claims with this id", got, results)
		repeated := s.append(t, Shared()[1])[0]
		same(t, "a repeated record", repeated.Record, results[1])
		s.mustVerify(t, 6)
	}},
	{"the claims of two tenants with one id have rounds of their own", func(t *testing.T, s *subject) {
		s.append(t, Shared()...)
		own, clinic := audit.ClaimKey{ClaimID: "CLM-a-1"}, audit.ClaimKey{Tenant: "clinic", ClaimID: "CLM-a-1"}
		want := audit.Round{Failures: 3, Retries: 2, FirstFailure: minute(1), Policy: tiss}
		same(t, "rounds", s.roundsOf(t, clinic, own, audit.ClaimKey{Tenant: "other", ClaimID: "CLM-a-1"}, clinic),
			[]audit.Round{want, {Policy: tiss}, {}, want})
		rounds, err := s.Rounds(t.Context(), []audit.ClaimKey{own, clinic})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "opened", []time.Time{rounds[0].Opened, rounds[1].Opened}, []time.Time{minute(5), minute(1)})
	}},
	{"the claims of two tenants with one id are open each by itself", func(t *testing.T, s *subject) {
		results := stored(s.append(t, Shared()...))
		same(t, "open claims", s.openClaims(t), []audit.OpenClaim{
			{Record: results[4], Opened: minute(1)}, {Record: results[5], Opened: minute(5)},
		})
		end := later(20, story(step{"a", audit.KindAbandoned, 2}))
		end[0].Tenant = "clinic"
		s.append(t, end...)
		same(t, "when the clinic's has ended", s.openClaims(t), []audit.OpenClaim{{Record: results[5], Opened: minute(5)}})
	}},
	{"the claims of tenants with one id are told apart in one batch and at one time", func(t *testing.T, s *subject) {
		records := story(step{"a", audit.KindRetry, 0}, step{"a", audit.KindRetry, 0}, step{"a", audit.KindSubmitted, 1}, step{"a", audit.KindRetry, 0})
		for i, tenant := range []string{"", "b", "b", "c"} {
			records[i].Tenant, records[i].At = tenant, Start
		}
		results := stored(s.append(t, records...))
		same(t, "open claims", s.openClaims(t), []audit.OpenClaim{{Record: results[0], Opened: Start}, {Record: results[3], Opened: Start}})
	}},
	{"only retries of the same tenant's claim are counted", func(t *testing.T, s *subject) {
		records := Shared()
		for i := range records {
			records[i].ProcessInstanceKey = 77
		}
		s.append(t, records...)
		job := audit.RoundJob{ClaimKey: audit.ClaimKey{ClaimID: "CLM-a-1"}, Cluster: "production", ProcessInstanceKey: 77, JobKey: 99}
		clinic := job
		clinic.Tenant = "clinic"
		before, err := s.Retried(t.Context(), []audit.RoundJob{job, clinic})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "retries, of which one tenant's claim has ended and the other's is stopped", before, []int{0, 0})
		more := later(20, story(step{"a", audit.KindRetry, 0}))
		more[0].Tenant, more[0].ProcessInstanceKey = "clinic", 77
		s.append(t, more...)
		after, err := s.Retried(t.Context(), []audit.RoundJob{job, clinic})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "when the clinic's is retried again", after, []int{0, 1})
	}},
	{"an open claim of a tenant begins with the first record that is left", func(t *testing.T, s *subject) {
		records := Shared()
		results := s.append(t, records...)
		s.answer(t, IDs(results))
		Purge(t, s, s.secret, minute(4))
		open := s.openClaims(t)
		same(t, "open claims", len(open), 2)
		same(t, "tenants", []string{open[0].Tenant, open[1].Tenant}, []string{"clinic", ""})
		Purge(t, s, s.secret, minute(5))
		same(t, "when all records of the clinic are removed", len(s.openClaims(t)), 1)
		s.mustVerify(t, 1)
	}},
	{"a record moved to another tenant, or to the default one, is found", func(t *testing.T, s *subject) {
		s.append(t, Shared()...)
		s.mustVerify(t, 6)
		for _, statement := range []string{
			"UPDATE records SET tenant = '' WHERE seq = 2", "UPDATE records SET tenant = 'other' WHERE seq = 2", "UPDATE records SET tenant = 'clinic' WHERE seq = 1",
		} {
			s.database.Tamper(t, statement)
			if _, err := s.verify(t); err == nil {
				t.Errorf("not found: %s", statement)
			}
			s.database.Tamper(t, "UPDATE records SET tenant = 'clinic' WHERE seq = 2")
		}
	}},
}
