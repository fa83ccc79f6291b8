package metrics_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
)

// metric is one line of the catalogue.
type metric struct{ name, kind, labels, help string }

// catalogue lists the worker's own metrics, in order.
func catalogue(t *testing.T) []metric {
	t.Helper()
	reg, m := registryOf(t)
	m.ClaimsCounted(claims.Census{})
	m.SuccessMeasured(map[string]float64{"tiss": 1})
	var list []metric
	for _, family := range gather(t, reg) {
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
		check.Must(t, os.WriteFile(file, []byte(want), 0o600))
	}
	got, err := os.ReadFile(file)
	check.Must(t, err)
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

// groups are the sections of docs/metrics.md, with the prefixes of the metrics in each.
var groups = []struct {
	title, about string
	prefixes     []string
}{
	{
		"Decisions about claims", "The names of RN-BIL-005 section 13.4, and the metrics that the KPIs of section VI are computed from. They keep the names of the document, although Prometheus's conventions prefer other units.",
		[]string{"retry_analysis", "retry_scheduled", "max_retries", "permanent_errors", "backoff_", "retry_success", "retry_submissions", "retry_smtp", "retry_time_to", "retry_attempts_to", "retry_outcomes", "retry_input", "retry_count", "retry_decisions"},
	},
	{
		"Where the claims are", "Counted every minute over the audit trail, by every replica alike; see `worker claims`. They are absent until they were counted, and where they cannot be.",
		[]string{"retry_claims", "retry_oldest_claim", "retry_longest_in_state", "retry_tenant_claims"},
	},
	{
		"Decisions of retry-submission-backoff", "The names of RN-BIL-004 section 13.4. They count the jobs of that job type, which the metrics above omit.",
		[]string{"submission_retry", "error_classification"},
	},
	{"Policies", "", []string{"retry_polic", "retry_kpi", "retry_dead_letters", "retry_wait", "retry_jitter"}},
	{"Jobs and broker", "", []string{
		"retry_gateway", "retry_broker", "retry_polls", "retry_jobs", "retry_job_answers", "retry_incidents", "retry_panics", "retry_clock",
		"retry_redelivered", "retry_job_key",
	}},
	{
		"For existing dashboards", "Zeebe's own Grafana dashboard shows `zeebe_client_worker_job_*` in its row Worker Jobs, if the worker is scraped with the same `namespace` as the broker. `camunda_client_worker_job_*` are the same counters under the names of Camunda's newer clients. `camunda_job_invocations_total` has the name used by the Camunda starter for Spring, so its panels work.",
		[]string{"zeebe_client", "camunda_"},
	},
	{"Store, audit trail and events", "", []string{"retry_store", "retry_audit", "retry_outbox", "retry_events"}},
	{"The process", "In addition, the standard metrics of Go and of the process: `go_*`, `process_*`, `go_build_info`.", []string{"retry_build"}},
}

const aboutMetrics = `# Metrics

The worker serves these metrics at ` + "`/metrics`" + ` ([address and token](configuration.md)).

- Every series exists from the start, at 0, so that a rate is 0 rather than absent. An unknown value is NaN, which raises no
  alert.
- Labels have closed sets of values: no claim, no insurer's text, no key of a job. A policy makes about 180 series.
- The label policy names the policy that decided. Of an outcome that is the policy of the last decision of its round. A round
  that never failed, and input that names no policy, have the value none.
- The label tenant has the ids of the tenants that the worker was set to, ` + "`<default>`" + ` on a cluster without tenants, and other for all
  else. Only two metrics have it, so that no sum by policy changes.
- Histograms have classic and native buckets. A Prometheus that scrapes native ones (` + "`--enable-feature=native-histograms`" + `)
  must keep the classic ones too (` + "`scrape_classic_histograms`" + `), because the alert rules read them.

Alerts and recording rules are in [deploy/prometheus](../deploy/prometheus/README.md), the steps for each alert in
[runbooks](runbooks/README.md).

This page is generated by ` + "`make generate`" + `.
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

// series counts what Prometheus stores of a worker.
func series(t *testing.T, reg prometheus.Gatherer) (n int) {
	t.Helper()
	for _, family := range gather(t, reg) {
		if family.GetType() == dto.MetricType_HISTOGRAM {
			for _, h := range family.GetMetric() {
				n += len(h.GetHistogram().GetBucket()) + 3 // +Inf, sum, count
			}
			continue
		}
		n += len(family.GetMetric())
	}
	return n
}

// A label that an insurer's text could fill would make a series for each text.
func TestDecisionsMakeNoSeries(t *testing.T) {
	reg, m := registryOf(t)
	before := series(t, reg)
	for i := range 1_000 {
		m.Decided(fmt.Sprintf("tenant-%d", i), decide(t, fmt.Sprintf("strange error %d of patient %d", i, i*7), i%6), 0)
	}
	check.Same(t, before, series(t, reg), "series after a thousand decisions")
}

func TestTheWorkerHasFewSeries(t *testing.T) {
	reg, _ := registryOf(t)
	policies := len(policy.BuiltIns().Names())
	if n, most := series(t, reg), 200*policies; n > most {
		t.Errorf("%d series with %d policies, want at most %d", n, policies, most)
	}
}

func TestHistogramsAreNativeOnesToo(t *testing.T) {
	reg, m := registryOf(t)
	m.Decided("", decide(t, "TIMEOUT", 1), 3)
	for _, family := range gather(t, reg) {
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if h.Schema == nil || len(h.GetBucket()) == 0 {
			t.Errorf("%s: native schema %v and %d classic buckets, want both", family.GetName(), h.Schema, len(h.GetBucket()))
		}
	}
}
