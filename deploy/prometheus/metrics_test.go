package prometheus_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// metric is what a rule may read.
type metric struct {
	kind   string // counter, gauge, histogram
	labels []string
}

// ofTheTarget are the labels that Prometheus itself gives to what it scrapes.
var ofTheTarget = []string{"namespace", "job", "pod", "instance"}

// others are the metrics in use that the worker does not count: those of Zeebe 8.5 at :9600/actuator/prometheus, of Go's
// own collectors, and up, which Prometheus makes.
var others = map[string]metric{
	"zeebe_job_events_total":            {"counter", []string{"action", "partition", "type"}},
	"zeebe_pending_incidents_total":     {"gauge", []string{"partition"}},
	"zeebe_dropped_request_count_total": {"counter", []string{"partition"}},
	"zeebe_health":                      {"gauge", []string{"partition"}},
	"go_goroutines":                     {"gauge", nil},
	"process_start_time_seconds":        {"gauge", nil},
	"process_cpu_seconds_total":         {"counter", nil},
	"up":                                {"gauge", nil},
}

// actions are the values of the label action of zeebe_job_events_total.
var actions = []string{"created", "activated", "completed", "failed", "canceled", "error thrown", "timed out", "workers notified"}

var promql = parser.NewParser(parser.Options{})

// known are the metrics of the worker, by the catalogue that its own tests keep, those of the broker, and our records.
func known(t *testing.T) map[string]metric {
	t.Helper()
	all := maps.Clone(others)
	for line := range strings.Lines(read(t, "../../internal/metrics/testdata/catalogue.golden")) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // name, type, labels, help
		if len(field) != 4 {
			t.Fatalf("catalogue.golden has a line of %d fields: %q", len(field), line)
		}
		m := metric{field[1], strings.FieldsFunc(field[2], func(r rune) bool { return r == ',' })}
		if m.kind != "histogram" {
			all[field[0]] = m
			continue
		}
		all[field[0]+"_sum"] = metric{"counter", m.labels}
		all[field[0]+"_count"] = metric{"counter", m.labels}
		all[field[0]+"_bucket"] = metric{"counter", append(m.labels, model.BucketLabel)}
	}
	for _, r := range rules(t) {
		if r.Record != "" {
			all[r.Record] = metric{"gauge", nil}
		}
	}
	return all
}

// series are those that a worker has when it starts, which are all that it ever has of closed labels.
func series(t *testing.T) []labels.Labels {
	t.Helper()
	var all []labels.Labels
	for line := range strings.Lines(read(t, "../../internal/metrics/testdata/at_start.golden")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		one, err := promql.ParseMetric(line[:strings.LastIndexByte(line, ' ')])
		if err != nil {
			t.Fatalf("at_start.golden: %v: %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// matches reports whether a selector finds any of the series, the labels of the target aside.
func matches(selector *parser.VectorSelector, all []labels.Labels) bool {
	return slices.ContainsFunc(all, func(one labels.Labels) bool {
		return !slices.ContainsFunc(selector.LabelMatchers, func(m *labels.Matcher) bool {
			return !slices.Contains(ofTheTarget, m.Name) && !m.Matches(one.Get(m.Name))
		})
	})
}

// selectors are all selectors in an expression.
func selectors(e parser.Node) []*parser.VectorSelector {
	var all []*parser.VectorSelector
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if s, is := node.(*parser.VectorSelector); is {
			all = append(all, s)
		}
		return nil
	})
	return all
}

func TestTheRulesReadMetricsAndLabelsThatAreThere(t *testing.T) {
	all, atStart := known(t), series(t)
	for _, r := range rules(t) {
		expr, err := promql.ParseExpr(r.Expr)
		if err != nil {
			t.Fatalf("%s%s: %v", r.Record, r.Alert, err)
		}
		t.Run(r.Record+r.Alert, func(t *testing.T) {
			for _, s := range selectors(expr) {
				checkSelector(t, s, all, atStart)
			}
			parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
				checkNode(t, node, all)
				return nil
			})
		})
	}
}

// checkSelector looks at the name of the metric, and at the names and the values of its labels.
func checkSelector(t *testing.T, s *parser.VectorSelector, all map[string]metric, atStart []labels.Labels) {
	t.Helper()
	m, is := all[s.Name]
	if !is {
		t.Errorf("nobody has a metric %s", s.Name)
		return
	}
	narrow := false
	for _, matcher := range s.LabelMatchers {
		switch {
		case matcher.Name == model.MetricNameLabel, slices.Contains(ofTheTarget, matcher.Name):
		case !slices.Contains(m.labels, matcher.Name):
			t.Errorf("%s has no label %s", s.Name, matcher.Name)
		default:
			narrow = true
		}
		if matcher.Name == "action" && !slices.ContainsFunc(actions, matcher.Matches) {
			t.Errorf("the broker has no action that matches %s", matcher)
		}
		if matcher.Name == "job" && !slices.ContainsFunc([]string{"analyze-retry", "zeebe"}, matcher.Matches) {
			t.Errorf("no scrape job matches %s", matcher)
		}
	}
	if _, notOurs := others[s.Name]; narrow && !notOurs && !matches(s, atStart) {
		t.Errorf("no worker has a series %s", s)
	}
}

// checkNode looks at the labels by which is grouped or joined, and at what a rate is taken of.
func checkNode(t *testing.T, node parser.Node, all map[string]metric) {
	t.Helper()
	switch n := node.(type) {
	case *parser.AggregateExpr:
		for _, label := range n.Grouping {
			for _, s := range selectors(n.Expr) {
				if !slices.Contains(ofTheTarget, label) && !slices.Contains(all[s.Name].labels, label) {
					t.Errorf("%s is grouped by %s, which it does not have", s.Name, label)
				}
			}
		}
	case *parser.BinaryExpr:
		if n.VectorMatching != nil && n.VectorMatching.On && !slices.Equal(n.VectorMatching.MatchingLabels, []string{"namespace"}) {
			t.Errorf("joined on %v, want namespace: it is all that worker and broker have in common", n.VectorMatching.MatchingLabels)
		}
	case *parser.Call:
		if n.Func.Name != "rate" && n.Func.Name != "increase" {
			return
		}
		for _, s := range selectors(n) {
			if kind := all[s.Name].kind; kind != "counter" {
				t.Errorf("%s of %s, which is a %s", n.Func.Name, s.Name, kind)
			}
		}
	}
}

func TestTheTestsFeedMetricsAndLabelsThatAreThere(t *testing.T) {
	all := known(t)
	for _, c := range testCases(t) {
		for _, input := range c.InputSeries {
			fed, err := promql.ParseMetric(input.Series)
			if err != nil {
				t.Fatalf("%s: %v", input.Series, err)
			}
			m, is := all[fed.Get(model.MetricNameLabel)]
			if !is {
				t.Errorf("%s: nobody has this metric", input.Series)
				continue
			}
			fed.Range(func(l labels.Label) {
				if l.Name != model.MetricNameLabel && !slices.Contains(ofTheTarget, l.Name) && !slices.Contains(m.labels, l.Name) {
					t.Errorf("%s: the metric has no label %s", input.Series, l.Name)
				}
			})
		}
	}
}

// In what is written for people: a metric or a line of the log in backticks, a query in backticks, and what a description
// has instead of backticks.
var (
	quotedName   = regexp.MustCompile("`([a-z0-9]+(?:_[a-z0-9]+)+)[`{\\[]")
	quotedQuery  = regexp.MustCompile("`((?:(?:sum|topk|count|rate|increase|changes)[ (]|time\\(\\)|[a-z_]+(?:\\{| == ))[^`]*)`")
	unquotedName = regexp.MustCompile(`\b[a-z0-9]+(?:_[a-z0-9]+)+\b`)
)

// isNamed returns what reports whether a word is a metric, or a text of the worker's code as the name of a log line is.
func isNamed(t *testing.T) func(word string) bool {
	t.Helper()
	all := known(t)
	var code strings.Builder
	for _, pattern := range []string{"../../internal/*/*.go", "../../internal/*/*/*.go"} {
		for _, file := range files(t, pattern) {
			if !strings.HasSuffix(file, "_test.go") {
				code.WriteString(read(t, file))
			}
		}
	}
	return func(word string) bool {
		_, is := all[word]
		_, histogram := all[word+"_bucket"]
		return is || histogram || strings.Contains(code.String(), `"`+word+`"`)
	}
}

func TestTheRunbooksNameMetricsAndLogLinesThatAreThere(t *testing.T) {
	is, all, atStart := isNamed(t), known(t), series(t)
	for _, file := range files(t, runbooks+"*.md") {
		t.Run(strings.TrimPrefix(file, runbooks), func(t *testing.T) {
			text := read(t, file)
			for _, found := range quotedName.FindAllStringSubmatch(text, -1) {
				if !is(found[1]) {
					t.Errorf("%s is neither a metric nor a line of the log", found[1])
				}
			}
			for _, found := range quotedQuery.FindAllStringSubmatch(text, -1) {
				expr, err := promql.ParseExpr(found[1])
				if err != nil {
					t.Errorf("%s: %v", found[1], err)
					continue
				}
				for _, s := range selectors(expr) {
					checkSelector(t, s, all, atStart)
				}
			}
		})
	}
}

func TestTheDescriptionsNameMetricsAndLogLinesThatAreThere(t *testing.T) {
	is := isNamed(t)
	for name, alert := range alerts(t) {
		for _, word := range unquotedName.FindAllString(alert.Annotations["description"], -1) {
			if !is(word) && word != "job_type" {
				t.Errorf("%s: %s is neither a metric nor a line of the log", name, word)
			}
		}
	}
}
