// Package prometheus_test checks the alert rules and the dashboard against the worker's metrics and the
// runbooks.
package prometheus_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/deploy/deploytest"
)

const (
	dir      = "deploy/prometheus/" // from the top
	runbooks = "docs/runbooks.md"
)

// rule is a recording rule or an alert.
type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

func readRules(t *testing.T) (all []rule) {
	t.Helper()
	var content struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, dir+"analyze-retry.rules.yml")), &content); err != nil {
		t.Fatal(err)
	}
	for _, group := range content.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// alerts returns the alerts by their names.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	all := map[string]rule{}
	for _, r := range readRules(t) {
		if r.Alert != "" {
			all[r.Alert] = r
		}
	}
	return all
}

func TestEveryAlertHasItsTestsAndTexts(t *testing.T) {
	var content struct {
		Tests []struct {
			AlertTests []struct {
				Alert  string      `yaml:"alertname"`
				Firing []yaml.Node `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, dir+"analyze-retry.rules.test.yml")), &content); err != nil {
		t.Fatal(err)
	}
	tested := map[bool]map[string]bool{true: {}, false: {}} // by whether the alert fires
	for _, c := range content.Tests {
		for _, a := range c.AlertTests {
			tested[len(a.Firing) > 0][a.Alert] = true
		}
	}
	for name, alert := range alerts(t) {
		if !tested[true][name] || !tested[false][name] {
			t.Errorf("%s: seen firing %v, silent %v, want both", name, tested[true][name], tested[false][name])
		}
		if s := alert.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity is %q, want critical (pages a person) or warning (a ticket)", name, s)
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", name)
		}
		want := runbooks + "#" + strings.ToLower(name)
		if got := alert.Annotations["runbook_url"]; got != want {
			t.Errorf("%s: runbook_url is %q, want %q", name, got, want)
		}
	}
}

var heading = regexp.MustCompile(`(?m)^### (\w+)$`)

func TestEveryAlertHasARunbookInBothLanguages(t *testing.T) {
	want := slices.Sorted(maps.Keys(alerts(t)))
	for _, page := range []string{runbooks, "docs/pt-BR/runbooks.md"} {
		var got []string
		for _, found := range heading.FindAllStringSubmatch(deploytest.Read(t, page), -1) {
			got = append(got, found[1])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alerts +headings):\n%s", page, diff)
		}
	}
}

// ofOthers are the metrics in use that are not the worker's own, with their labels.
var ofOthers = map[string][]string{
	"up":                     nil,
	"zeebe_job_events_total": {"action", "partition", "type"},
}

// ofTargets are the labels that Prometheus gives to what it scrapes, and the bounds of a histogram.
var ofTargets = []string{model.MetricNameLabel, "namespace", "job", "pod", "instance", model.BucketLabel}

// series are the names and labels of what can be read: the worker's series at its start, of others, and
// records.
func series(t *testing.T) map[string][]labels.Labels {
	t.Helper()
	all := map[string][]labels.Labels{}
	add := func(name string, own []string, value func(label string) string) {
		b := labels.NewScratchBuilder(len(own))
		for _, label := range own {
			b.Add(label, value(label))
		}
		b.Sort()
		all[name] = append(all[name], b.Labels())
	}
	anything := func(string) string { return "any" }
	for name, own := range ofOthers {
		add(name, own, anything)
	}
	for _, r := range readRules(t) {
		if r.Record != "" { // such as namespace_policy:retry_backoffs:increase6h
			level, _, _ := strings.Cut(r.Record, ":")
			add(r.Record, strings.Split(level, "_"), anything)
		}
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(strings.NewReader(deploytest.Read(t, "internal/metrics/testdata/at_start.golden")))
	if err != nil {
		t.Fatal(err)
	}
	for name, family := range families {
		names := map[dto.MetricType][]string{
			dto.MetricType_HISTOGRAM: {name + "_bucket", name + "_count", name + "_sum"},
			dto.MetricType_SUMMARY:   {name + "_count", name + "_sum"},
		}[family.GetType()]
		for _, m := range family.GetMetric() {
			values := map[string]string{}
			for _, pair := range m.GetLabel() {
				values[pair.GetName()] = pair.GetValue()
			}
			for _, name := range append(names, name) {
				add(name, slices.Collect(maps.Keys(values)), func(label string) string { return values[label] })
			}
		}
	}
	return all
}

// faults returns which selectors of an expression find nothing.
func faults(expr string, known map[string][]labels.Labels) (all []string) {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return []string{err.Error()}
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		s, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		if !slices.ContainsFunc(known[s.Name], func(one labels.Labels) bool {
			return !slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool {
				value := one.Get(m.Name)
				return !slices.Contains(ofTargets, m.Name) && (value == "" || value != "any" && !m.Matches(value))
			})
		}) {
			all = append(all, "no worker has a series "+s.String())
		}
		return nil
	})
	return all
}

func TestRulesReadSeriesThatExist(t *testing.T) {
	known := series(t)
	for _, r := range readRules(t) {
		for _, fault := range faults(r.Expr, known) {
			t.Errorf("%s%s: %s", r.Record, r.Alert, fault)
		}
	}
}

// variable is one of Grafana's, as the range of a rate or as a matcher.
var variable = regexp.MustCompile(`\$[a-z_]+`)

func TestTheDashboardReadsSeriesThatExist(t *testing.T) {
	var board struct {
		UID    string
		Panels []struct {
			ID                       int
			Type, Title, Description string
			Targets                  []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(deploytest.Read(t, "deploy/grafana/dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	known, ids, panels := series(t), map[int]bool{}, 0
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("%s has the id of another panel", p.Title)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			continue
		}
		panels++
		if len(p.Targets) == 0 || p.Description == "" {
			t.Errorf("%s has no query or no description", p.Title)
		}
		for _, q := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1d").Replace(q.Expr)
			for _, fault := range faults(variable.ReplaceAllString(expr, ".+"), known) {
				t.Errorf("%s: %s", p.Title, fault)
			}
		}
	}
	if board.UID != "analyze-retry" || panels == 0 || panels > 25 {
		t.Errorf("dashboard %s has %d panels, want analyze-retry with 1 to 25", board.UID, panels)
	}
}
