package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/claims"
)

// openClaims holds the metrics of where the claims are, as they were when last counted. There are none before
// the first count, nor after one that failed, because 0 would say that no claim is open.
type openClaims struct {
	claims, oldest, longest, success *prometheus.Desc

	// inUse are policies whose numbers are 0 rather than absent.
	inUse []string

	mu     sync.Mutex
	census claims.Census
	rates  map[string]float64
}

func newOpenClaims(inUse []string) *openClaims {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &openClaims{
		inUse: inUse,
		claims: describe("retry_claims",
			"Claims that failed and have not ended, by the policy that decided last and the state.", labelPolicy, "state"),
		oldest: describe("retry_oldest_claim_age_seconds",
			"Time since the oldest of these claims first failed; 0 where there is none.", labelPolicy, "state"),
		longest: describe("retry_longest_in_state_seconds",
			"The longest time that a claim has been in this state; 0 where there is none.", labelPolicy, "state"),
		success: describe("retry_success_rate",
			"Share of the retried claims that were accepted in the end, of those with a record in the last 24 hours "+
				"that are not under way any more. Absent while there are none.", labelPolicy),
	}
}

// Describe implements [prometheus.Collector].
func (o *openClaims) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{o.claims, o.oldest, o.longest, o.success} {
		all <- d
	}
}

// Collect implements [prometheus.Collector].
func (o *openClaims) Collect(all chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for policy, rate := range o.rates {
		gauge(o.success, rate, policy)
	}
	if o.census == nil {
		return
	}
	policies := slices.AppendSeq(slices.Clone(o.inUse), maps.Keys(o.census))
	slices.Sort(policies)
	for _, policy := range slices.Compact(policies) {
		for _, standing := range claims.OpenStandings() {
			n := o.census[policy][standing]
			gauge(o.claims, float64(n.Claims), policy, string(standing))
			gauge(o.oldest, secondsSince(n.Oldest), policy, string(standing))
			gauge(o.longest, secondsSince(n.Longest), policy, string(standing))
		}
	}
}

// ClaimsCounted notes where the open claims are, and the share of retried claims that succeeded, by policy. Either is
// nil where it is not known.
func (m *Metrics) ClaimsCounted(census claims.Census, rates map[string]float64) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	m.open.census, m.open.rates = census, rates
}
