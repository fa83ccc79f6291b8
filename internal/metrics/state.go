package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what is asked at every scrape. A value that is not known at the time is NaN, which raises no alarm as 0
// would. All are required, and must come back within a scrape.
type State struct {
	// GatewayUp is 1 while polls come through, StoreUp while the store takes writes; else they are 0.
	GatewayUp, StoreUp func() float64
	// SuccessRate is the share of the retried claims that were accepted in the end, over the last 24 hours.
	SuccessRate func() float64
}

// RegisterState registers the metrics that are asked at every scrape.
func RegisterState(reg prometheus.Registerer, s State) {
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"retry_success_rate", "Share of the retried claims that were accepted in the end, 0 to 1, of those that ended in the last 24 hours; NaN while there are none.", s.SuccessRate},
		{"retry_gateway_up", "1 while polls for jobs come through to the Zeebe gateway, else 0.", s.GatewayUp},
		{"retry_store_up", "1 while the audit store takes writes, else 0.", s.StoreUp},
	} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value))
	}
}

// Unknown is the value of what is not known.
func Unknown() float64 { return math.NaN() }
