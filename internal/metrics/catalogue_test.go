package metrics_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
)

// metric is one line of the catalogue.
type metric struct{ name, kind, labels, help string }

// catalogue lists the worker's own metrics, in order.
func catalogue(t *testing.T) []metric {
	t.Helper()
	reg, _ := registryOf(t)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var list []metric
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		list = append(list, metric{
			family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(labels, ","), family.GetHelp(),
		})
	}
	return list
}

// golden compares a file with what it should hold, or rewrites it.
func golden(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale (-want +got); run make generate:\n%s", file, diff)
	}
}

// Alert rules, dashboard and chart are held against this file.
func TestTheCatalogueHasEveryNameLabelAndHelp(t *testing.T) {
	var text strings.Builder
	for _, m := range catalogue(t) {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", m.name, m.kind, m.labels, m.help)
	}
	golden(t, "testdata/catalogue.golden", text.String())
}

// groups are the parts of docs/metrics.md, and the metrics that stand in each by how their names begin.
var groups = []struct {
	title, about string
	prefixes     []string
}{
	{
		"Decisions about claims", "The names of RN-BIL-005 section 13.4, and what its KPIs are reckoned from. They keep their names, even where Prometheus's habits would prefer other units.",
		[]string{"retry_analysis", "retry_scheduled", "max_retries", "permanent_errors", "backoff_", "retry_success", "retry_time_to", "retry_attempts_to", "retry_outcomes", "retry_input"},
	},
	{
		"Decisions of retry-submission-backoff", "The names of RN-BIL-004 section 13.4. They count the jobs of its own job type, which the names above leave out.",
		[]string{"submission_retry", "error_classification"},
	},
	{"Policies", "", []string{"retry_polic", "retry_dead_letters", "retry_wait_", "retry_jitter"}},
	{"Jobs and broker", "", []string{
		"retry_gateway", "retry_broker", "retry_polls", "retry_jobs", "retry_job_answers", "retry_incidents", "retry_panics", "retry_clock",
		"retry_redelivered", "retry_job_key",
	}},
	{
		"For dashboards that people have", "Zeebe's own Grafana dashboard shows the first two in its row Worker Jobs, if the worker is scraped with the same `namespace` as the broker. The third is what the Camunda starter for Spring has, so panels made for it work.",
		[]string{"zeebe_client", "camunda_"},
	},
	{"Store, audit trail and events", "", []string{"retry_store", "retry_audit", "retry_outbox", "retry_events"}},
	{"The process", "Beside these, the usual ones of Go and of the process: `go_*`, `process_*`, `go_build_info`.", []string{"retry_build"}},
}

const aboutMetrics = `# Metrics

What the worker serves at ` + "`/metrics`" + ` ([where and to whom](configuration.md)). Every series is there from the start, at 0, so
that a rate is 0 rather than absent; what is not known is NaN, which raises no alarm. Labels hold closed sets only: no claim,
no insurer's text, no key of a job. Histograms have their bounds, and native buckets beside them for a Prometheus that
scrapes them (` + "`--enable-feature=native-histograms`" + `); let it keep the bounds too (` + "`scrape_classic_histograms`" + `), which the
alert rules read. Alerts and recording rules are in
[deploy/prometheus](../deploy/prometheus/README.md), what to do about an alert in [runbooks](runbooks/README.md).

This page is made by ` + "`make generate`" + `.
`

func TestTheDocumentationHasEveryMetricOnce(t *testing.T) {
	list := catalogue(t)
	var page strings.Builder
	page.WriteString(aboutMetrics)
	for _, g := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n", g.title)
		if g.about != "" {
			fmt.Fprintf(&page, "%s\n\n", g.about)
		}
		page.WriteString("| name | type | labels | |\n|---|---|---|---|\n")
		for _, prefix := range g.prefixes {
			list = slices.DeleteFunc(list, func(m metric) bool {
				if !strings.HasPrefix(m.name, prefix) {
					return false
				}
				labels := ""
				if m.labels != "" {
					labels = "`" + strings.ReplaceAll(m.labels, ",", "`, `") + "`"
				}
				fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, m.help)
				return true
			})
		}
	}
	if len(list) > 0 {
		t.Fatalf("no part of the page has %v; name it in groups", list)
	}
	golden(t, "../../docs/metrics.md", page.String())
}

// A label that an insurer's text could fill would make a series for each text.
func TestTheWorkerHasFewSeries(t *testing.T) {
	reg, m := registryOf(t)
	for i := range 10_000 {
		m.Decided(decide(t, fmt.Sprintf("strange error %d of patient %d", i, i*7), i%5), 0)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, family := range families {
		if family.GetType() == dto.MetricType_HISTOGRAM {
			for _, h := range family.GetMetric() {
				series += len(h.GetHistogram().GetBucket()) + 3 // +Inf, sum, count
			}
			continue
		}
		series += len(family.GetMetric())
	}
	const most = 320
	if series > most {
		t.Errorf("%d series, want at most %d", series, most)
	}
}

func TestHistogramsAreNativeOnesToo(t *testing.T) {
	reg, m := registryOf(t)
	m.Decided(decide(t, "TIMEOUT", 1), 3)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if h.Schema == nil || len(h.GetBucket()) == 0 {
			t.Errorf("%s: native schema %v and %d classic buckets, want both", family.GetName(), h.Schema, len(h.GetBucket()))
		}
	}
}
