package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// State holds what is asked at every scrape. A number that is not known at the time is NaN, which raises no alarm as 0
// would. All are required, and must return within a scrape.
type State struct {
	// Version is that of the worker's build.
	Version string
	// GatewayUp reports whether polls come through, BrokerUp whether every partition has a healthy leader, StoreUp whether the
	// store takes writes.
	GatewayUp, BrokerUp, StoreUp func() bool
	// ClockTrusted reports whether jobs are decided by the worker's clock: not while it and the broker's differ too much.
	ClockTrusted func() bool
	// ClockSkew is how far the broker's clock is ahead of the worker's, in seconds.
	ClockSkew func() float64
	// ActiveJobs is the number of active jobs by the types that are worked; MaxJobsActive is the limit of each.
	ActiveJobs    map[string]func() int
	MaxJobsActive int
}

// RegisterState registers the metrics that are asked at every scrape.
func RegisterState(reg prometheus.Registerer, s State) {
	r := registrar{reg}
	flag := func(name, help string, value func() bool) {
		r.gaugeFunc(name, help, nil, func() float64 { return number(value()) })
	}
	flag("retry_gateway_up", "1 while polls for jobs reach the Zeebe gateway, else 0.", s.GatewayUp)
	flag("retry_broker_up", "1 while every partition of the broker has a healthy leader, as the gateway reports, else 0.", s.BrokerUp)
	flag("retry_store_up", "1 while the audit store takes writes, else 0.", s.StoreUp)
	flag("retry_clock_trusted", "1 while jobs are decided, 0 while the clocks of worker and broker differ by more than RETRY_MAX_CLOCK_SKEW and jobs are released.", s.ClockTrusted)
	r.gaugeFunc("retry_clock_skew_seconds", "How far the broker's clock is ahead of the worker's, by the lock of the last job; NaN before the first.", nil, s.ClockSkew)
	r.gaugeFunc("retry_build_info", "1, with the version of the worker.", prometheus.Labels{"version": s.Version}, func() float64 { return 1 })
	for jobType, active := range s.ActiveJobs {
		labels := prometheus.Labels{"job_type": jobType}
		r.gaugeFunc("retry_jobs_active", "Active jobs: activated and not answered yet.", labels, func() float64 { return float64(active()) })
		r.gaugeFunc("retry_jobs_active_limit", "Maximum number of active jobs (RETRY_MAX_JOBS_ACTIVE).", labels, func() float64 { return float64(s.MaxJobsActive) })
	}
}

// Unknown returns the value of what is not known.
func Unknown() float64 { return math.NaN() }

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
