package grafana_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// outside are the metrics that other programs have: the broker, Prometheus itself, and what every Go process shows.
var outside = map[string][]string{
	"up":                                 {},
	"process_start_time_seconds":         {},
	"process_resident_memory_bytes":      {},
	"process_cpu_seconds_total":          {},
	"zeebe_job_events_total":             {"type", "action", "partition"},
	"zeebe_pending_incidents_total":      {"partition"},
	"zeebe_received_request_count_total": {"partition"},
	"zeebe_dropped_request_count_total":  {"partition"},
	"zeebe_health":                       {"partition"},
}

// known are all metrics that an expression may name, with their labels. Those of a histogram are there under the names of
// its series.
func known(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../internal/metrics/testdata/catalogue.golden")
	if err != nil {
		t.Fatal(err)
	}
	metrics := maps.Clone(outside)
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, "\t")
		kind, rest, _ := strings.Cut(rest, "\t")
		list, _, _ := strings.Cut(rest, "\t")
		names := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
		if kind != "histogram" {
			metrics[name] = names
			continue
		}
		metrics[name+"_sum"], metrics[name+"_count"] = names, names
		metrics[name+"_bucket"] = append(slices.Clone(names), "le")
	}
	for name := range metrics { // those that a scrape adds
		metrics[name] = append(slices.Clone(metrics[name]), "namespace", "job", "instance")
	}
	return metrics
}

var (
	interval = regexp.MustCompile(`\$__(rate_interval|range)\b`)
	variable = regexp.MustCompile(`\$[a-z_]+`)
	fixed    = regexp.MustCompile(`\brate\([^\[]*\[[^$]`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

func TestEveryExpressionAsksForSeriesThatThereAre(t *testing.T) {
	metrics, used := known(t), map[string]bool{}
	for _, p := range read(t).drawn() {
		if len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		for _, q := range p.Targets {
			where := fmt.Sprintf("%s (%s)", p.Title, q.RefID)
			if q.Instant == q.Range {
				t.Errorf("%s: instant %v, range %v, want one of them", where, q.Instant, q.Range)
			}
			if ds := q.Datasource; ds != p.Datasource || ds.UID != "${DS_PROMETHEUS}" || ds.Type != "prometheus" {
				t.Errorf("%s asks %v, want the variable DS_PROMETHEUS", where, ds)
			}
			for _, fault := range faults(q.Expr, metrics, used) {
				t.Errorf("%s: %s:\n%s", where, fault, q.Expr)
			}
			by := labelsOf(q.Expr)
			for _, name := range legend.FindAllStringSubmatch(q.LegendFormat, -1) {
				if by != nil && !slices.Contains(by, name[1]) {
					t.Errorf("%s: the legend %q names a label that the expression takes away:\n%s", where, q.LegendFormat, q.Expr)
				}
			}
		}
	}
	for name := range outside {
		if !used[name] {
			t.Errorf("no panel asks for %s; take it out of the list", name)
		}
	}
}

func parse(expr string) (parser.Expr, error) {
	expr = variable.ReplaceAllString(interval.ReplaceAllString(expr, "5m"), "x")
	return parser.NewParser(parser.Options{}).ParseExpr(expr)
}

// faults says what is wrong with an expression, and marks the metrics that it uses.
func faults(expr string, metrics map[string][]string, used map[string]bool) (list []string) {
	parsed, err := parse(expr)
	if err != nil {
		return []string{err.Error()}
	}
	if fixed.MatchString(expr) {
		list = append(list, "the window of its rate is fixed: where scrapes are rarer it has no answer")
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			has, ok := metrics[n.Name]
			if !ok {
				list = append(list, "there is no metric "+n.Name)
			}
			used[n.Name] = true
			list = append(list, foreign(n, has)...)
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if !inAll(n.Expr, label, metrics) {
					list = append(list, "it groups by "+label+", which not all of the series have")
				}
			}
		}
		return nil
	})
	return list
}

// foreign says which labels a selector names that its metric does not have, or of those above the panels lacks.
func foreign(n *parser.VectorSelector, has []string) (list []string) {
	var names []string
	for _, m := range n.LabelMatchers {
		names = append(names, m.Name)
		if m.Name != "__name__" && !slices.Contains(has, m.Name) {
			list = append(list, n.Name+" has no label "+m.Name)
		}
	}
	if !slices.Contains(names, "namespace") {
		list = append(list, n.Name+" is asked for in every namespace")
	}
	if !strings.HasPrefix(n.Name, "zeebe_") && !slices.Contains(names, "job") {
		list = append(list, n.Name+" is asked for of every job")
	}
	return list
}

func inAll(expr parser.Expr, label string, metrics map[string][]string) bool {
	all := true
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if n, ok := node.(*parser.VectorSelector); ok && !slices.Contains(metrics[n.Name], label) {
			all = false
		}
		return nil
	})
	return all
}

// labelsOf are the labels that the result of an expression has, nil where it has all that its series have.
func labelsOf(expr string) (by []string) {
	parsed, err := parse(expr)
	if err != nil {
		return nil
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok && by == nil {
			by = append([]string{}, a.Grouping...)
		}
		return nil
	})
	return by
}
