package metrics

import (
	"iter"
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// policies holds the metrics of the policies in force and of their reloads.
type policies struct {
	info        *prometheus.GaugeVec
	deadLetters *prometheus.CounterVec
	waits       *prometheus.CounterVec
	jitter      *prometheus.HistogramVec
	ignored     *prometheus.CounterVec
	countLost   *prometheus.CounterVec
	reloaded    prometheus.Gauge
	failures    prometheus.Counter
}

func newPolicies(r registrar) policies {
	p := policies{
		info: r.gauges("retry_policy_info", "1 for each policy in force, with its version.", "policy", "version"),
		deadLetters: r.counters("retry_dead_letters_total",
			"Claims or messages that were given up and wait for a person, by policy: retries used up, deadline reached or error permanent.", "policy"),
		waits: r.counters("retry_wait_seconds_total", "Waits that were scheduled before the next try, summed, by the policy.", "policy"),
		jitter: r.histograms("retry_jitter_deviation_ratio",
			"Deviation of backoff waits from the delay before jitter, as a share of that delay, by policy; waits set by a hint are not counted.", "policy", 0.1, 0.2, 0.3),
		ignored: r.counters("retry_input_ignored_total",
			"Optional variables of other systems that could not be read and were left out of the decision, by the policy and the variable.", "policy", "variable"),
		countLost: r.counters("retry_count_lost_total",
			"Decisions for which the trail's count of retries was taken, because the process had brought a lower one, by the policy.", "policy"),
		reloaded: r.gauge("retry_policies_last_reload_successful",
			"1 if the policies in force are those of the file, 0 if the last reload found it broken and kept the old ones."),
		failures: r.counter("retry_policies_reload_failures_total", "Reloads that found the policies file broken and kept the policies in force."),
	}
	p.reloaded.Set(1)
	return p
}

// count counts what a decision says about its policy.
func (p *policies) count(d *retry.Decision) {
	for variable := range d.Ignored.All() {
		p.ignored.WithLabelValues(d.Policy, variable).Inc()
	}
	if d.CountFrom == retry.CountFromTrail {
		p.countLost.WithLabelValues(d.Policy).Inc()
	}
	if d.Outcome != retry.OutcomeRetry {
		p.deadLetters.WithLabelValues(d.Policy).Inc()
		return
	}
	p.waits.WithLabelValues(d.Policy).Add(d.Backoff.Seconds())
	if d.Step == retry.StepBackoff && d.Bounds&retry.BoundDeadline == 0 && d.Delay > 0 {
		p.jitter.WithLabelValues(d.Policy).Observe(math.Abs(float64(d.Backoff-d.Delay)) / float64(d.Delay))
	}
}

// Know makes the series of the policies in force, whose names and permanent rules are values of labels, so that they are 0
// rather than absent.
func (m *Metrics) Know(known iter.Seq[*retry.Policy]) {
	m.policies.info.Reset()
	names := map[string]bool{}
	defer func() { m.open.know(names) }()
	for p := range known {
		names[p.Name] = true
		m.policies.info.WithLabelValues(p.Name, p.Version()).Set(1)
		m.policies.deadLetters.WithLabelValues(p.Name)
		m.policies.waits.WithLabelValues(p.Name)
		m.policies.countLost.WithLabelValues(p.Name)
		m.policies.jitter.WithLabelValues(p.Name)
		m.policies.ignored.WithLabelValues(p.Name, retry.VariableLastSubmissionTime)
		m.policies.ignored.WithLabelValues(p.Name, retry.VariableRetryAfter)
		if p.Unknown == retry.Permanent {
			m.permanent.WithLabelValues(retry.RuleUnknown)
		}
		for i := range p.Rules {
			if p.Rules[i].Class == retry.Permanent {
				m.permanent.WithLabelValues(p.Rules[i].Label())
			}
		}
	}
}

// Reloaded notes whether the last reload of the policies succeeded.
func (m *Metrics) Reloaded(successful bool) {
	m.policies.reloaded.Set(number(successful))
	if !successful {
		m.policies.failures.Inc()
	}
}
