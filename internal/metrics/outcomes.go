package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/audit"
)

// success holds the metrics of how rounds of submissions end, from which the KPIs of RN-BIL-005 section 13.4 are computed.
type success struct {
	outcomes *prometheus.CounterVec
	time     prometheus.Histogram
	attempts prometheus.Histogram
}

func newSuccess(r registrar) success {
	s := success{
		outcomes: r.counters("retry_outcomes_total",
			"Outcomes of rounds of submissions; redriven: a person sent the claim again before its time, in the same round.", "outcome"),
		// The targets are 60 minutes (median) and 2 hours (mean).
		time: r.histogram("retry_time_to_success_seconds", "Time from the first failure to the acceptance, of claims that had a retry and were accepted.",
			300, 600, 1200, 1800, 3600, 7200, 10800, 14400, 28800, 86400),
		attempts: r.histogram("retry_attempts_to_success", "Submissions until the insurer accepted the claim, the first one included.", 1, 2, 3, 4, 5, 6),
	}
	for _, kind := range []audit.Kind{audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven} {
		s.outcomes.WithLabelValues(outcome(kind))
	}
	return s
}

// outcome returns the label of a kind of record.
func outcome(kind audit.Kind) string { return strings.ToLower(kind.String()) }

// OutcomeRecorded counts a round of submissions that ended, or a re-drive.
func (m *Metrics) OutcomeRecorded(r *audit.Record) {
	m.success.outcomes.WithLabelValues(outcome(r.Kind)).Inc()
	if r.Kind != audit.KindSubmitted {
		return
	}
	facts, err := r.Facts()
	if err != nil {
		return // it has just been written; the check of the trail reports such a record
	}
	m.success.attempts.Observe(float64(facts.Attempts))
	if r.RetryCount > 0 && facts.FirstFailureTime != nil {
		// The clocks of two replicas may differ: a success is never before the failure.
		m.success.time.Observe(max(r.At.Sub(*facts.FirstFailureTime), 0).Seconds())
	}
}
