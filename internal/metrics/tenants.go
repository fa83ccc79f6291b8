package metrics

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
)

// labelTenant has the ids of the tenants that the worker was given, and otherTenant for all others, so that its values are a closed
// set also where the cluster chooses the tenants.
const (
	labelTenant = "tenant"
	otherTenant = "other"
)

// tenants holds the metrics by tenant. They are apart from those by policy, whose sums by policy stay what they are.
type tenants struct {
	// decided are the series of each tenant, by the form of [audit.TenantOf].
	decided map[string]*tenantSeries
	other   *tenantSeries
}

// tenantSeries are the decisions of one tenant, by their outcome.
type tenantSeries [retry.OutcomePermanent + 1]prometheus.Counter

func newTenants(r registrar, ids []string) tenants {
	decisions := r.counters("retry_decisions_total",
		"Decisions, by the tenant of the job (other: none that the worker was set to) and by what was decided.", labelTenant, "outcome")
	series := func(id string) *tenantSeries {
		return &tenantSeries{
			retry.OutcomeRetry:     decisions.WithLabelValues(id, "retry"),
			retry.OutcomeExhausted: decisions.WithLabelValues(id, "max_retries_exceeded"),
			retry.OutcomePermanent: decisions.WithLabelValues(id, "permanent_error"),
		}
	}
	if ids == nil {
		ids = []string{audit.DefaultTenant}
	}
	t := tenants{decided: map[string]*tenantSeries{}, other: series(otherTenant)}
	for _, id := range ids {
		t.decided[audit.TenantOf(id)] = series(id)
	}
	return t
}

// count counts a decision.
func (t *tenants) count(tenant string, o retry.Outcome) {
	cmp.Or(t.decided[tenant], t.other)[o].Inc()
}

// labels returns the values of the label.
func (t *tenants) labels() []string {
	ids := []string{otherTenant}
	for tenant := range t.decided {
		ids = append(ids, audit.TenantID(tenant))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// claims returns how many open claims each value of the label has, by state.
func (t *tenants) claims(counted map[string]map[claims.State]int64) map[string]map[claims.State]int64 {
	of := map[string]map[claims.State]int64{}
	for _, id := range t.labels() {
		of[id] = map[claims.State]int64{}
	}
	for tenant, states := range counted {
		id := audit.TenantID(tenant)
		if t.decided[tenant] == nil {
			id = otherTenant
		}
		for state, n := range states {
			of[id][state] += n
		}
	}
	return of
}
