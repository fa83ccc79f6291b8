package metrics

import (
	"cmp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/audit"
)

// outcomes holds the metrics of how rounds of submissions end, all by policy. The KPIs of RN-BIL-005 section VI are computed from
// them.
type outcomes struct{ *byPolicy[outcomeSeries] }

// outcomeSeries are the series of one policy.
type outcomeSeries struct {
	ended          map[audit.Kind]prometheus.Counter
	time, attempts prometheus.Observer
	// accepted counts the submissions that were accepted.
	accepted attempts
}

func newOutcomes(r registrar, submissions *prometheus.CounterVec) outcomes {
	ended := r.counters("retry_outcomes_total",
		"Outcomes of rounds of submissions, by the policy of the round's last decision (none: there was none); redriven: a person sent the claim again before its time, in the same round; decision_refused: a person's answer was no decision, so the person was asked again.",
		labelPolicy, "outcome")
	// The targets are 60 minutes (median) and 2 hours (mean), of an e-mail 5 minutes.
	time := r.histograms("retry_time_to_success_seconds", "Time from the claim's first failure to its acceptance, of claims that had a retry or were sent again by a person, by the policy.",
		1, 5, 15, 60, 300, 600, 1200, 1800, 3600, 7200, 10800, 14400, 28800, 86400)
	count := r.histograms("retry_attempts_to_success",
		"Submissions until the claim was accepted, the first one included, by the policy; claims that never failed have the policy none.", 1, 2, 3, 4, 5, 6)
	o := outcomes{newByPolicy(func(policy string) *outcomeSeries {
		s := &outcomeSeries{
			ended: map[audit.Kind]prometheus.Counter{}, time: time.WithLabelValues(policy), attempts: count.WithLabelValues(policy),
			accepted: newAttempts(submissions, prometheus.Labels{labelPolicy: policy, "result": "accepted"}),
		}
		for _, kind := range []audit.Kind{audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned, audit.KindRedriven, audit.KindDecisionRefused} {
			s.ended[kind] = ended.WithLabelValues(policy, strings.ToLower(kind.String()))
		}
		return s
	})}
	o.of(noPolicy)
	return o
}

// OutcomeRecorded counts a round of submissions that ended, a re-drive, or an answer that was no decision.
func (m *Metrics) OutcomeRecorded(r *audit.Record) {
	facts, err := r.Facts()
	s := m.outcomes.of(cmp.Or(facts.Policy, noPolicy))
	s.ended[r.Kind].Inc()
	if r.Kind != audit.KindSubmitted || err != nil { // it has just been written; the check of the trail reports such a record
		return
	}
	s.attempts.Observe(float64(facts.Attempts))
	s.accepted.of(facts.Attempts).Inc()
	if first := cmp.Or(facts.OpenedAt, facts.FirstFailureTime); first != nil && (r.RetryCount > 0 || facts.Resubmitted) {
		// The clocks of two replicas may differ: a success is never before the failure.
		s.time.Observe(max(r.At.Sub(*first), 0).Seconds())
	}
}
