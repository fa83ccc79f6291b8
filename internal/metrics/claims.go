package metrics

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/claims"
)

// openClaims holds the metrics of where the claims are, as they were when last counted. There are none before the first count, nor
// after one that failed, because 0 would say that no claim is open.
type openClaims struct {
	claims, oldest, longest, older, success *prometheus.Desc

	mu       sync.Mutex
	looked   bool
	census   claims.Census
	rates    map[string]float64
	policies map[string]bool // in force, so that their numbers are 0 rather than absent
}

func newOpenClaims(r registrar) *openClaims {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return register(r, &openClaims{
		claims:  describe("retry_claims", "Claims that failed and have not ended, by the policy that decided last and the state.", labelPolicy, "state"),
		oldest:  describe("retry_oldest_claim_age_seconds", "Time since the oldest of these claims first failed; 0 where there is none.", labelPolicy, "state"),
		longest: describe("retry_longest_in_state_seconds", "Time for which one of these claims has been in this state for the longest; 0 where there is none.", labelPolicy, "state"),
		older:   describe("retry_claims_older_than", "Claims that failed and have not ended, whose first failure is longer ago than age.", labelPolicy, "age"),
		success: describe("retry_success_rate",
			"Share of the retried claims that were accepted in the end, 0 to 1, of those with a record in the last 24 hours that are not under way any more: "+
				"a claim that stands stopped is none. Absent while there are none.", "policy"),
	})
}

// know takes the names of the policies in force.
func (o *openClaims) know(policies map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.policies = policies
}

// Describe implements [prometheus.Collector].
func (o *openClaims) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{o.claims, o.oldest, o.longest, o.older, o.success} {
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
	if !o.looked {
		return
	}
	known := maps.Clone(o.policies)
	for policy := range o.census.Policies {
		known[policy] = true
	}
	for _, policy := range slices.Sorted(maps.Keys(known)) {
		of := o.census.Policies[policy]
		if of == nil {
			of = &claims.PolicyCensus{}
		}
		for _, state := range claims.OpenStates() {
			n := of.States[state]
			gauge(o.claims, float64(n.Claims), policy, string(state))
			gauge(o.oldest, secondsSince(n.Oldest), policy, string(state))
			gauge(o.longest, secondsSince(n.Longest), policy, string(state))
		}
		for i, age := range claims.Ages() {
			gauge(o.older, float64(of.OlderThan[i]), policy, ageLabel(age))
		}
	}
}

// secondsSince returns the time since an instant; 0 since the zero time, and since one that is to come.
func secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(time.Since(t).Seconds(), 0)
}

// ageLabel returns the label of an age, which is in whole hours.
func ageLabel(age time.Duration) string { return strconv.Itoa(int(age/time.Hour)) + "h" }

// ClaimsCounted notes where the open claims are.
func (m *Metrics) ClaimsCounted(census claims.Census) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	m.open.looked, m.open.census = true, census
}

// SuccessMeasured notes the share of retried claims that succeeded, by policy; nil where it is not known.
func (m *Metrics) SuccessMeasured(rates map[string]float64) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	m.open.rates = rates
}

// ClaimsUnknown notes that it is not known where the claims are.
func (m *Metrics) ClaimsUnknown() {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	m.open.looked = false
}
