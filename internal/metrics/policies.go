package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// policies holds the metrics of the policies in force and of their reloads.
type policies struct {
	info, targets *prometheus.GaugeVec
	reloaded      prometheus.Gauge
	failures      prometheus.Counter
}

func newPolicies(r registrar) policies {
	p := policies{
		info: r.gauges("retry_policy_info", "1 for each policy in force, with its version.", labelPolicy, "version"),
		targets: r.gauges("retry_kpi_target",
			"Targets of the policies in force, by the KPI and the document that asks for it: shares from 0 to 1, times in seconds.", labelPolicy, "kpi", "source"),
		reloaded: r.gauge("retry_policies_last_reload_successful",
			"1 if the policies in force are those of the file, 0 if the last reload found it broken and kept the old ones."),
		failures: r.counter("retry_policies_reload_failures_total", "Reloads that found the policies file broken and kept the policies in force."),
	}
	p.reloaded.Set(1)
	return p
}

// Know makes the series of the policies in force, whose names, rules and targets are values of labels, so that they are 0 rather
// than absent.
func (m *Metrics) Know(known iter.Seq[*retry.Policy]) {
	m.policies.info.Reset()
	names := map[string]bool{}
	defer func() { m.open.know(names) }()
	m.policies.targets.Reset()
	for p := range known {
		names[p.Name] = true
		m.policies.info.WithLabelValues(p.Name, p.Version()).Set(1)
		for _, t := range p.Targets {
			m.policies.targets.WithLabelValues(p.Name, t.KPI, t.Source).Set(t.Value)
		}
		m.decisions.know(p)
		m.outcomes.of(p.Name)
	}
}

// Reloaded notes whether the last reload of the policies succeeded.
func (m *Metrics) Reloaded(successful bool) {
	m.policies.reloaded.Set(number(successful))
	if !successful {
		m.policies.failures.Inc()
	}
}
