package grafana_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"hospital.example/analyze-retry/deploy/deploytest"
)

var (
	interval = regexp.MustCompile(`\$__(rate_interval|range)\b`)
	variable = regexp.MustCompile(`\$[a-z_]+`)
	fixed    = regexp.MustCompile(`\brate\([^\[]*\[[^$]`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

func TestEveryExpressionAsksForSeriesThatThereAre(t *testing.T) {
	metrics := deploytest.ReadMetrics(t)
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
			for _, fault := range faults(q.Expr, metrics) {
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
}

// plain replaces Grafana's variables.
func plain(expr string) string {
	return variable.ReplaceAllString(interval.ReplaceAllString(expr, "5m"), ".+")
}

// faults returns what is wrong with an expression.
func faults(expr string, metrics deploytest.Metrics) []string {
	list := metrics.Check(plain(expr))
	if fixed.MatchString(expr) {
		list = append(list, "the window of its rate is fixed: where scrapes are rarer it has no answer")
	}
	parsed, err := deploytest.PromQL.ParseExpr(plain(expr))
	if err != nil {
		return list
	}
	for _, s := range deploytest.Selectors(parsed) {
		var names []string
		for _, m := range s.LabelMatchers {
			names = append(names, m.Name)
		}
		if !slices.Contains(names, "namespace") {
			list = append(list, s.Name+" is asked for in every namespace")
		}
		if !strings.HasPrefix(s.Name, "zeebe_") && !slices.Contains(names, "job") {
			list = append(list, s.Name+" is asked for of every job")
		}
	}
	return list
}

// labelsOf returns the labels of an expression's result, nil if it has all that its series have.
func labelsOf(expr string) (by []string) {
	parsed, err := deploytest.PromQL.ParseExpr(plain(expr))
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
