package metrics

import (
	"iter"
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// policies are the metrics of the policies that are in force, and of their reloads.
type policies struct {
	info        *prometheus.GaugeVec
	deadLetters *prometheus.CounterVec
	waits       *prometheus.CounterVec
	jitter      *prometheus.HistogramVec
	ignored     *prometheus.CounterVec
	reloaded    prometheus.Gauge
	failures    prometheus.Counter
}

func newPolicies() policies {
	p := policies{
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "retry_policy_info",
			Help: "1 for each policy in force, with its version.",
		}, []string{"policy", "version"}),
		deadLetters: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "retry_dead_letters_total",
			Help: "What was given up and waits for a person, by the policy: retries used up, deadline reached or error permanent.",
		}, []string{"policy"}),
		waits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "retry_wait_seconds_total",
			Help: "Waits that were scheduled before the next try, summed, by the policy.",
		}, []string{"policy"}),
		jitter: prometheus.NewHistogramVec(native(prometheus.HistogramOpts{
			Name:    "retry_jitter_deviation_ratio",
			Help:    "How far waits that the back-off alone has set are from what they would be without jitter, as a share of that, by the policy.",
			Buckets: []float64{0.1, 0.2, 0.3},
		}), []string{"policy"}),
		ignored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "retry_input_ignored_total",
			Help: "Optional variables of other systems that could not be read and were left out of the decision, by the policy and the variable.",
		}, []string{"policy", "variable"}),
		reloaded: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "retry_policies_last_reload_successful",
			Help: "1 if the policies in force are those of the file, 0 if the last reload found it broken and kept the old ones.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "retry_policies_reload_failures_total",
			Help: "Reloads that found the policies file broken and kept the policies in force.",
		}),
	}
	p.reloaded.Set(1)
	return p
}

func (p *policies) register(reg prometheus.Registerer) {
	reg.MustRegister(p.info, p.deadLetters, p.waits, p.jitter, p.ignored, p.reloaded, p.failures)
}

// count counts what a decision says about its policy.
func (p *policies) count(d *retry.Decision) {
	for variable := range d.Ignored.All() {
		p.ignored.WithLabelValues(d.Policy, variable).Inc()
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

// Know makes the series of the policies in force, so that they are 0 rather than absent: their permanent rules and their
// names are the values of labels.
func (m *Metrics) Know(known iter.Seq[*retry.Policy]) {
	m.policies.info.Reset()
	for p := range known {
		m.policies.info.WithLabelValues(p.Name, p.Version()).Set(1)
		m.policies.deadLetters.WithLabelValues(p.Name)
		m.policies.waits.WithLabelValues(p.Name)
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

// Reloaded notes whether the last reload of the policies came through.
func (m *Metrics) Reloaded(successful bool) {
	if successful {
		m.policies.reloaded.Set(1)
		return
	}
	m.policies.reloaded.Set(0)
	m.policies.failures.Inc()
}
