package app_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestTenantsWhoseJobsNothingAsksForAreNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tenants string // RETRY_TENANTS
		hidden  bool   // the cluster does not name those that are assigned
		note    string // empty for none
	}{
		"one of two is asked for":        {"norte", false, "ready, but the cluster has assigned tenants to this worker whose jobs it does not ask for: sul"},
		"all are asked for":              {"norte,sul", false, ""},
		"the cluster chooses":            {"ASSIGNED", false, ""},
		"some, where none is shown":      {"norte", true, ""},
		"the default, where two are set": {"<default>", true, "ready, but multi-tenancy is on and only the jobs of the tenant <default> are asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, address := gateway(t)
			g.Assign("norte", "sul")
			if test.hidden {
				g.Assign("norte", "<default>")
				g.HideTenants()
			}
			cfg := settings(t, address)
			check.Must(t, cfg.Tenants.Decode(test.tenants))
			for _, tenant := range []string{"norte", "sul"} {
				g.Add(gatewaytest.Job{Type: "analyze-retry", Tenant: tenant, Variables: `{"claimId":"CLM-1-1","submissionError":"timeout","retryCount":0}`})
			}
			r := start(t, cfg)
			if test.note == "" {
				check.Await(t, "the tenants are checked", func() bool { return probed(g) })
				check.Same(t, "ready\n", r.awaitReadiness(200, "ready"), "readiness")
				return
			}
			r.awaitReadiness(200, test.note)
			check.Same(t, 1, r.logged("tenants_not_asked_for"), "lines")
		})
	}
}

// probed reports whether the gateway was asked about tenants.
func probed(g *gatewaytest.Gateway) bool {
	for _, c := range g.Calls(gatewaytest.ActivateJobs) {
		if c.Request.(interface{ GetType() string }).GetType() == "analyze-retry:none" {
			return true
		}
	}
	return false
}

func TestAPollForATenantThatIsNotAssignedIsExplained(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	g.Assign("norte")
	cfg := settings(t, address)
	cfg.Tenants = config.Tenants{}
	r := start(t, cfg)
	r.awaitReadiness(503, "PermissionDenied: Command 'ACTIVATE' rejected with code 'UNAUTHORIZED': Expected to activate job batch for tenants '[<default>]'")
}
