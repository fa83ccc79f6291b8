package worker_test

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

// ofTenant is a job of a tenant.
func ofTenant(tenant, variables string) job.Job {
	j := newJob(variables)
	j.Tenant = tenant
	return j
}

func TestAJobIsKnownAgainByItsTenantToo(t *testing.T) {
	hashes := map[[16]byte]bool{}
	of := func(tenant string) [16]byte {
		m := newMemory()
		o := optionsOn(m, &counts{}, atNow, zap.NewNop())
		o.Trail.Secret = zeroSecret(t)
		worker.NewHandler(o).Handle(t.Context(), []job.Job{ofTenant(tenant, `{}`)})
		hashes[m.only(t).Inputs] = true
		return m.only(t).Inputs
	}
	check.Same(t, of(""), of(audit.DefaultTenant), "hash without a tenant and of the default one")
	of("clinic")
	of("ward")
	check.Same(t, 3, len(hashes), "different hashes")
}

func TestRecordsHaveTheTenantOfTheirJob(t *testing.T) {
	for tenant, want := range map[string]string{"": "", audit.DefaultTenant: "", "clinic": "clinic"} {
		m := newMemory()
		worker.NewHandler(optionsOn(m, &counts{}, atNow, zap.NewNop())).Handle(t.Context(), []job.Job{ofTenant(tenant, jobWith("TIMEOUT"))})
		check.Same(t, want, m.only(t).Tenant, "decision of %q", tenant)

		m = newMemory()
		outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{ofTenant(tenant, `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)})
		check.Same(t, want, m.only(t).Tenant, "outcome of %q", tenant)

		m = newMemory()
		jobs := keyed(7)
		jobs[0].Tenant = tenant
		q := worker.NewQuarantine(nil, &crashLog{counted: map[int64]int{7: 3}}, trailOn(m), time.Minute, zap.NewNop())
		q.Handle(t.Context(), jobs)
		check.Same(t, want, m.only(t).Tenant, "quarantine of %q", tenant)
	}
}

func TestTheTrailIsAskedAboutClaimsOfTheJobsTenant(t *testing.T) {
	m := newMemory()
	jobs := []job.Job{ofTenant("clinic", `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`), ofTenant(audit.DefaultTenant, `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)}
	jobs[1].Key++
	outcomesOn(m, &counts{}).Handle(t.Context(), jobs)
	check.Same(t, [][]audit.ClaimKey{{{Tenant: "clinic", ClaimID: "CLM-001-1"}, {ClaimID: "CLM-001-1"}}}, m.asked, "asked about")
}

func TestLogLinesNameATenantThatIsNotTheDefaultOne(t *testing.T) {
	for tenant, want := range map[string]int{audit.DefaultTenant: 0, "clinic": 2} {
		core, log := observer.New(zap.InfoLevel)
		h := worker.NewHandler(optionsOn(newMemory(), &counts{}, atNow, zap.New(core)))
		for range 2 { // a decision and its repetition
			h.Handle(t.Context(), []job.Job{ofTenant(tenant, jobWith("TIMEOUT"))})
		}
		named := 0
		for _, line := range log.All() {
			if line.ContextMap()["tenant"] == "clinic" {
				named++
			}
		}
		check.Same(t, want, named, "lines of %s that name it, of %d", tenant, log.Len())
	}
}
