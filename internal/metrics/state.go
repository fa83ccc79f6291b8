package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what is asked at every scrape. A value that is not known at the time is NaN, which raises no alarm as 0
// would. All are required, and must come back within a scrape.
type State struct {
	// Version is that of the worker's build.
	Version string
	// GatewayUp is 1 while polls come through, BrokerUp while every partition has a healthy leader, StoreUp while the store
	// takes writes; else they are 0.
	GatewayUp, BrokerUp, StoreUp func() float64
	// ClockSkew is how far the broker's clock is ahead of the worker's, in seconds. ClockTrusted is 1 while jobs are decided
	// by the worker's clock, 0 while it and the broker's differ too much.
	ClockSkew, ClockTrusted func() float64
	// SuccessRate is the share of the retried claims that were accepted in the end, over the last 24 hours.
	SuccessRate func() float64
	// InHand is how many jobs of a type are in hand, by the types that are worked; MaxJobsActive is the limit of each.
	InHand        map[string]func() float64
	MaxJobsActive int
}

// RegisterState registers the metrics that are asked at every scrape.
func RegisterState(reg prometheus.Registerer, s State) {
	gauge := func(name, help string, labels prometheus.Labels, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value))
	}
	gauge("retry_success_rate", "Share of the retried claims that were accepted in the end, 0 to 1, of those that ended in the last 24 hours; NaN while there are none.", nil, s.SuccessRate)
	gauge("retry_gateway_up", "1 while polls for jobs come through to the Zeebe gateway, else 0.", nil, s.GatewayUp)
	gauge("retry_broker_up", "1 while every partition of the broker has a healthy leader, as the gateway tells, else 0.", nil, s.BrokerUp)
	gauge("retry_store_up", "1 while the audit store takes writes, else 0.", nil, s.StoreUp)
	gauge("retry_clock_skew_seconds", "How far the broker's clock is ahead of the worker's, by the lock of the last job that came; NaN before the first.", nil, s.ClockSkew)
	gauge("retry_clock_trusted", "1 while jobs are decided, 0 while the clocks of worker and broker differ by more than RETRY_MAX_CLOCK_SKEW and jobs go back.", nil, s.ClockTrusted)
	gauge("retry_build_info", "1, with the version of the worker.", prometheus.Labels{"version": s.Version}, func() float64 { return 1 })
	for jobType, inHand := range s.InHand {
		labels := prometheus.Labels{"job_type": jobType}
		gauge("retry_jobs_in_hand", "Jobs that were taken and not answered yet.", labels, inHand)
		gauge("retry_jobs_in_hand_limit", "How many jobs may be in hand (RETRY_MAX_JOBS_ACTIVE).", labels,
			func() float64 { return float64(s.MaxJobsActive) })
	}
}

// Unknown is the value of what is not known.
func Unknown() float64 { return math.NaN() }
