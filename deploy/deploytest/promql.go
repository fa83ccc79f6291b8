package deploytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Metric is what an expression may read.
type Metric struct {
	Kind   string // counter or gauge
	Labels []string
}

// OfTheTarget are the labels that Prometheus itself gives to what it scrapes.
var OfTheTarget = []string{"namespace", "job", "pod", "instance"}

// others are the metrics in use that the worker does not count: those of Zeebe 8.5 at :9600/actuator/prometheus, of Go's
// own collectors, and up, which Prometheus makes.
var others = map[string]Metric{
	"zeebe_job_events_total":             {"counter", []string{"action", "partition", "type"}},
	"zeebe_pending_incidents_total":      {"gauge", []string{"partition"}},
	"zeebe_received_request_count_total": {"counter", []string{"partition"}},
	"zeebe_dropped_request_count_total":  {"counter", []string{"partition"}},
	"zeebe_health":                       {"gauge", []string{"partition"}},
	"go_goroutines":                      {"gauge", nil},
	"process_start_time_seconds":         {"gauge", nil},
	"process_resident_memory_bytes":      {"gauge", nil},
	"process_cpu_seconds_total":          {"counter", nil},
	"up":                                 {"gauge", nil},
}

// absentAtFirst is a metric without a series until something is measured.
const absentAtFirst = "retry_success_rate"

// actions are the values of the label action of zeebe_job_events_total.
var actions = []string{"created", "activated", "completed", "failed", "canceled", "error thrown", "timed out", "workers notified"}

// PromQL parses expressions.
var PromQL = parser.NewParser(parser.Options{})

// Metrics are those that an expression may read, by name.
type Metrics struct {
	All map[string]Metric
	// atStart are the series that a worker has when it starts, which are all that it ever has of closed labels.
	atStart []labels.Labels
}

// ReadMetrics returns the metrics of the worker, by the catalogue that its own tests keep, those of others, and the
// records of recording rules. A histogram is there under the names of its series.
func ReadMetrics(t *testing.T, records ...string) Metrics {
	t.Helper()
	m := Metrics{All: maps.Clone(others)}
	for line := range strings.Lines(Read(t, "internal/metrics/testdata/catalogue.golden")) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // name, type, labels, help
		if len(field) != 4 {
			t.Fatalf("catalogue.golden has a line of %d fields: %q", len(field), line)
		}
		names := strings.FieldsFunc(field[2], func(r rune) bool { return r == ',' })
		if field[1] != "histogram" {
			m.All[field[0]] = Metric{field[1], names}
			continue
		}
		m.All[field[0]+"_sum"] = Metric{"counter", names}
		m.All[field[0]+"_count"] = Metric{"counter", names}
		m.All[field[0]+"_bucket"] = Metric{"counter", append(names, model.BucketLabel)}
	}
	for _, name := range records { // such as namespace_policy:retry_claims_decided:increase1d
		level, _, _ := strings.Cut(name, ":")
		m.All[name] = Metric{"gauge", strings.Split(level, "_")}
	}
	for line := range strings.Lines(Read(t, "internal/metrics/testdata/at_start.golden")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		one, err := PromQL.ParseMetric(line[:strings.LastIndexByte(line, ' ')])
		if err != nil {
			t.Fatalf("at_start.golden: %v: %s", err, line)
		}
		m.atStart = append(m.atStart, one)
	}
	return m
}

// Check returns what is wrong with an expression: metrics, labels or values that there are not, and rates of what is no
// counter.
func (m Metrics) Check(expr string) (faults []string) {
	parsed, err := PromQL.ParseExpr(expr)
	if err != nil {
		return []string{err.Error()}
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, s := range Selectors(parsed) {
		faults = append(faults, m.checkSelector(s)...)
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				for _, s := range Selectors(n.Expr) {
					if !m.has(s.Name, label) {
						fault("%s is grouped by %s, which it does not have", s.Name, label)
					}
				}
			}
		case *parser.BinaryExpr:
			if n.VectorMatching != nil && n.VectorMatching.On {
				faults = append(faults, checkJoin(n)...)
			}
		case *parser.Call:
			if n.Func.Name != "rate" && n.Func.Name != "increase" {
				return nil
			}
			for _, s := range Selectors(n) {
				if kind := m.All[s.Name].Kind; kind != "counter" {
					fault("%s of %s, which is a %s", n.Func.Name, s.Name, kind)
				}
			}
		}
		return nil
	})
	return faults
}

// checkJoin returns what is wrong with the labels that two sides are joined on. The namespace is all that worker and broker have in
// common. A side without metrics, such as the day of the week, has no labels.
func checkJoin(n *parser.BinaryExpr) []string {
	on := n.VectorMatching.MatchingLabels
	sides := append(Selectors(n.LHS), Selectors(n.RHS)...)
	ofBroker := slices.ContainsFunc(sides, func(s *parser.VectorSelector) bool { return strings.HasPrefix(s.Name, "zeebe_") })
	switch {
	case slices.Equal(on, []string{"namespace"}),
		slices.Equal(on, []string{"namespace", "policy"}) && !ofBroker,
		len(on) == 0 && len(Selectors(n.RHS)) == 0:
		return nil
	default:
		return []string{fmt.Sprintf("joined on %v, want namespace, or namespace and policy of the worker's own metrics", on)}
	}
}

// checkSelector returns what is wrong with the name of a metric and with the names and the values of its labels.
func (m Metrics) checkSelector(s *parser.VectorSelector) (faults []string) {
	if _, is := m.All[s.Name]; !is {
		return []string{"there is no metric " + s.Name}
	}
	for _, matcher := range s.LabelMatchers {
		if !m.has(s.Name, matcher.Name) {
			faults = append(faults, s.Name+" has no label "+matcher.Name)
		}
		if matcher.Name == "action" && !slices.ContainsFunc(actions, matcher.Matches) {
			faults = append(faults, fmt.Sprintf("the broker has no action that matches %s", matcher))
		}
	}
	_, foreign := others[s.Name]
	if !foreign && s.Name != absentAtFirst && !strings.Contains(s.Name, ":") && m.All[s.Name].Labels != nil && !m.matches(s) {
		faults = append(faults, fmt.Sprintf("no worker has a series %s", s))
	}
	return faults
}

// has reports whether a metric has a label.
func (m Metrics) has(metric, label string) bool {
	return label == model.MetricNameLabel || slices.Contains(OfTheTarget, label) || slices.Contains(m.All[metric].Labels, label)
}

// matches reports whether a selector that narrows its metric finds any series of a worker, the labels of the target aside.
func (m Metrics) matches(s *parser.VectorSelector) bool {
	narrowing := slices.DeleteFunc(slices.Clone(s.LabelMatchers), func(l *labels.Matcher) bool {
		return slices.Contains(OfTheTarget, l.Name)
	})
	return len(narrowing) < 2 || slices.ContainsFunc(m.atStart, func(one labels.Labels) bool {
		return !slices.ContainsFunc(narrowing, func(l *labels.Matcher) bool { return !l.Matches(one.Get(l.Name)) })
	})
}

// Selectors returns all selectors in an expression.
func Selectors(e parser.Node) (all []*parser.VectorSelector) {
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if s, is := node.(*parser.VectorSelector); is {
			all = append(all, s)
		}
		return nil
	})
	return all
}
