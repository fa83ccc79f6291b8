package prometheus_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// metrics are all that a rule may read, our records included.
func metrics(t *testing.T) deploytest.Metrics {
	t.Helper()
	var records []string
	for _, r := range rules(t) {
		if r.Record != "" {
			records = append(records, r.Record)
		}
	}
	return deploytest.ReadMetrics(t, records...)
}

func TestTheRulesReadMetricsAndLabelsThatAreThere(t *testing.T) {
	known := metrics(t)
	for _, r := range rules(t) {
		for _, fault := range known.Check(r.Expr) {
			t.Errorf("%s%s: %s", r.Record, r.Alert, fault)
		}
		expr, err := deploytest.PromQL.ParseExpr(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range deploytest.Selectors(expr) {
			for _, m := range s.LabelMatchers {
				if m.Name == "job" && !m.Matches("analyze-retry") && !m.Matches("zeebe") {
					t.Errorf("%s%s: no scrape job matches %s", r.Record, r.Alert, m)
				}
			}
		}
	}
}

func TestTheTestsFeedMetricsAndLabelsThatAreThere(t *testing.T) {
	known := metrics(t).All
	for _, c := range testCases(t) {
		for _, input := range c.InputSeries {
			fed, err := deploytest.PromQL.ParseMetric(input.Series)
			if err != nil {
				t.Fatalf("%s: %v", input.Series, err)
			}
			m, is := known[fed.Get(model.MetricNameLabel)]
			if !is {
				t.Errorf("%s: there is no such metric", input.Series)
				continue
			}
			fed.Range(func(l labels.Label) {
				if l.Name != model.MetricNameLabel && !slices.Contains(deploytest.OfTheTarget, l.Name) && !slices.Contains(m.Labels, l.Name) {
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

func TestRunbooksAndDescriptionsNameWhatExists(t *testing.T) {
	known := metrics(t)
	var code strings.Builder
	for _, file := range append(deploytest.Files(t, "internal/*/*.go"), deploytest.Files(t, "internal/*/*/*.go")...) {
		if !strings.HasSuffix(file, "_test.go") {
			code.WriteString(deploytest.Read(t, file))
		}
	}
	check := func(where, word string) {
		_, is := known.All[word]
		_, histogram := known.All[word+"_bucket"]
		if !is && !histogram && !strings.Contains(code.String(), `"`+word+`"`) {
			t.Errorf("%s: %s is neither a metric nor a line of the log", where, word)
		}
	}
	for name, alert := range alerts(t) {
		for _, word := range unquotedName.FindAllString(alert.Annotations["description"], -1) {
			if word != "job_type" {
				check(name, word)
			}
		}
	}
	for _, file := range deploytest.Files(t, runbooks+"*.md") {
		text := deploytest.Read(t, file)
		for _, found := range quotedName.FindAllStringSubmatch(text, -1) {
			check(file, found[1])
		}
		for _, found := range quotedQuery.FindAllStringSubmatch(text, -1) {
			for _, fault := range known.Check(found[1]) {
				t.Errorf("%s: %s: %s", file, found[1], fault)
			}
		}
	}
}
