package metrics_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
)

var update = flag.Bool("update", false, "rewrite the golden files and the table of docs/metrics.md")

// decide returns what a policy says about an error text after so many retries.
func decide(t *testing.T, policyName, errorText string, retryCount int) retry.Decision {
	t.Helper()
	d := policy.BuiltIn(policyName).Decide(retry.Request{
		ClaimID: "CLM-001-1", SubmissionError: errorText, RetryCount: retryCount, ProcessInstanceKey: 1,
	}, time.Unix(0, 0))
	return d
}

// exposition is what a scrape reads.
func exposition(t *testing.T, reg prometheus.Gatherer) string {
	t.Helper()
	scrape := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(scrape, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	check.Same(t, http.StatusOK, scrape.Code, "status")
	return scrape.Body.String()
}

// registryOf is the registry of a worker that has just started with these policies in use, and what counts in
// it.
func registryOf(t *testing.T, inUse ...string) (*prometheus.Registry, *metrics.Metrics) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m := metrics.New(reg, policy.BuiltIns().All(), inUse...)
	asked(m)
	return reg, m
}

// asked notes what a worker with the default job types is asked at a scrape.
func asked(m *metrics.Metrics) {
	m.Built("v1.2.3")
	m.Up(false, true)
	for _, jobType := range []string{"analyze-retry", "record-retry-outcome", "retry-submission-backoff"} {
		m.Active(jobType, 0)
	}
}

// Alert rules and dashboard are checked against the series at the start.
func TestMetricsAreThoseThatDashboardsRead(t *testing.T) {
	for name, work := range map[string]func(*metrics.Metrics){
		"at_start": func(m *metrics.Metrics) {
			m.ClaimsCounted(claims.Census{}, map[string]float64{"tiss": 1}) // of an empty store
		},
		"after_work": work(t),
	} {
		t.Run(name, func(t *testing.T) {
			reg, m := registryOf(t, "tiss", "smtp", "fast")
			work(m)
			golden(t, "testdata/"+name+".golden", exposition(t, reg))
		})
	}
}

// work returns a day's work of a worker.
func work(t *testing.T) func(*metrics.Metrics) {
	t.Helper()
	return func(m *metrics.Metrics) {
		m.Decided(contract.JobType, decide(t, "tiss", "TIMEOUT", 0), 3*time.Microsecond)
		m.Decided(contract.JobType, decide(t, "tiss", "TIMEOUT", 2), 3*time.Microsecond)
		m.Decided(contract.JobType, decide(t, "tiss", "strange", 1), 2*time.Second)
		// The insurer has set the wait, so its jitter is another one.
		m.Decided(contract.JobType, decide(t, "tiss", "HTTP 503 Retry-After: 7200", 0), 3*time.Microsecond)
		m.Decided(contract.JobType, decide(t, "tiss", "HTTP 503 Retry-After: 36000", 3), 3*time.Microsecond) // ten hours, cut to four
		cut := decide(t, "tiss", "TIMEOUT", 1)                                                               // its deviation says nothing about the jitter
		cut.Bounds, cut.Backoff = []retry.Bound{retry.BoundDeadline}, time.Minute
		m.Decided(contract.JobType, cut, 3*time.Microsecond)
		m.Decided(contract.JobType, decide(t, "tiss", "TIMEOUT", 5), 3*time.Microsecond)
		m.Decided(contract.JobType, decide(t, "tiss", "INSURANCE_EXPIRED", 0), 3*time.Microsecond)
		unread := decide(t, "tiss", "TIMEOUT", 0)
		unread.Ignored = []string{contract.RetryAfter}
		m.Decided(contract.JobType, unread, 3*time.Microsecond)
		for _, text := range []string{"451 4.3.0 try again", "no such reply"} {
			m.Decided(contract.JobType, decide(t, "smtp", text, 0), 3*time.Microsecond)
		}
		m.Decided(contract.BackoffJobType, decide(t, "fast", "TIMEOUT", 0), 3*time.Microsecond)
		m.Rejected("tiss", 3*time.Microsecond)
		m.Rejected("", 3*time.Microsecond)
		m.Repeated()
		ahead := time.Now().Add(time.Hour) // by the clock of another replica: the age is 0
		m.ClaimsCounted(claims.Census{
			"tiss": {audit.Waiting: {Claims: 41, Oldest: ahead}, audit.Stopped: {Claims: 300, Oldest: ahead}},
			"old":  {audit.Incident: {Claims: 1, Oldest: ahead}}, // not in use any more
		}, map[string]float64{"tiss": 0.075})
		m.OutcomeRecorded(&audit.Record{Kind: audit.KindAbandoned})
		m.OutcomeRecorded(&audit.Record{
			Kind:       audit.KindSubmitted,
			RetryCount: 2,
			Policy:     "tiss",
			Course:     audit.Course{Attempts: 3, Seconds: 3600, Flags: audit.CourseFailed | audit.CourseRetried},
			Detail:     `{"attempts":3}`,
		})
		// At once: no policy has decided.
		m.OutcomeRecorded(&audit.Record{Kind: audit.KindSubmitted, Course: audit.Course{Attempts: 1}})
		// An incident, then accepted: without a retry it has no time to success.
		m.OutcomeRecorded(&audit.Record{
			Kind:   audit.KindSubmitted,
			Policy: "smtp",
			Course: audit.Course{Attempts: 1, Seconds: 3600, Flags: audit.CourseFailed},
		})
		m.OutcomeRecorded(&audit.Record{ // at the first try of a round that a person began, as failures are counted
			Kind:   audit.KindSubmitted,
			Policy: "smtp",
			Course: audit.Course{Attempts: 2, Seconds: 3600, Flags: audit.CourseFailed | audit.CourseByPerson},
			Detail: `{"attempts":1}`,
		})
		m.Polled("OK")
		m.Polled("Unavailable")
		m.Answered(job.Complete("{}"), job.Accepted)
		m.Answered(job.ThrowError("PERMANENT_ERROR", "", "{}"), job.NotFound)
		m.Answered(job.Incident("no"), job.Accepted)
		m.Answered(new(job.Job).Release("no"), job.Unknown)
		m.HandlerFailed()
		m.AuditChecked(true)
		m.Reloaded(false)
		m.StoreFailed()
		m.Published(2, 3)
		m.Backlog(4, time.Now().Add(time.Hour)) // a clock that was put back makes no age below 0
	}
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

// The table is the end of the page.
func TestTheDocumentationListsEveryMetric(t *testing.T) {
	const page, heading = "../../docs/metrics.md", "| metric | type | labels | |\n|---|---|---|---|\n"
	text, err := os.ReadFile(page)
	check.Must(t, err)
	prose, _, found := strings.Cut(string(text), heading)
	if !found {
		t.Fatalf("%s has no table %q", page, heading)
	}
	reg, m := registryOf(t, "tiss")
	m.ClaimsCounted(claims.Census{}, map[string]float64{"tiss": 1})
	table := heading
	families, err := reg.Gather()
	check.Must(t, err)
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+pair.GetName()+"`")
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s |\n",
			family.GetName(), strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), family.GetHelp())
	}
	golden(t, page, prose+table)
}

// A label that an insurer's text could fill would make a series for each text.
func TestDecisionsMakeNoSeries(t *testing.T) {
	reg, m := registryOf(t, "tiss")
	before := strings.Count(exposition(t, reg), "\n")
	for i := range 1_000 {
		m.Decided(contract.JobType, decide(t, "tiss", fmt.Sprintf("strange error %d of patient %d", i, i*7), i%6), 0)
	}
	check.Same(t, before, strings.Count(exposition(t, reg), "\n"), "lines after a thousand decisions")
}

func TestAScrapeOfAFreshWorkerIsBelow30KB(t *testing.T) {
	reg := metrics.NewRegistry()
	m := metrics.New(reg, policy.BuiltIns().All(), "tiss", "tiss") // of both job types that are worked by default
	asked(m)
	m.ClaimsCounted(claims.Census{}, nil)
	if size := len(exposition(t, reg)); size > 30_000 {
		t.Errorf("a scrape has %d bytes", size)
	}
}

func TestOnlyPoliciesThatAreInUseOrSeenHaveSeries(t *testing.T) {
	reg, m := registryOf(t, "tiss")
	m.ClaimsCounted(claims.Census{}, nil)
	text := exposition(t, reg)
	if strings.Contains(text, `policy="smtp"`) {
		t.Error("smtp, which nobody uses, has series")
	}
	m.ClaimsCounted(nil, nil) // a number of some hours ago is none
	m.Decided(contract.JobType, decide(t, "smtp", "no such reply", 0), 0)
	text = exposition(t, reg)
	check.Same(t, 0, strings.Count(text, "retry_claims{"), "series of claims that could not be counted")
	for _, line := range []string{
		`permanent_errors_total{code="unknown",policy="smtp",with=""} 1`,
		`permanent_errors_total{code="smtp.550",policy="smtp",with=""} 0`,
		`retry_submissions_total{attempt="1",policy="smtp",result="failed"} 1`,
		`max_retries_exceeded_total{policy="smtp"} 0`,
	} {
		check.Contains(t, text, line+"\n")
	}
}

// A sum over series of which one is missing has no value, so that alerts on it are silent.
func TestAPolicyWithoutAPermanentRuleHasEveryMetric(t *testing.T) {
	metricsOf := func(policyName string) (names []string) {
		reg, _ := registryOf(t, policyName)
		families, err := reg.Gather()
		check.Must(t, err)
		for _, family := range families {
			names = append(names, family.GetName())
		}
		return names
	}
	withoutTargets := slices.DeleteFunc(metricsOf("tiss"), func(name string) bool { return name == "retry_kpi_target" })
	check.Same(t, withoutTargets, metricsOf("fast"), "metrics of a worker with policy fast")
}

func TestTargetsOfAPolicyFollowItsFile(t *testing.T) {
	reg, m := registryOf(t, "tiss")
	changed := *policy.BuiltIn("tiss")
	changed.Targets = []retry.Target{{KPI: "permanentErrors", Source: "hospital", Value: 0.2}}
	m.Know([]*retry.Policy{&changed})
	var got []string
	for line := range strings.Lines(exposition(t, reg)) {
		if strings.HasPrefix(line, "retry_kpi_target{") {
			got = append(got, line)
		}
	}
	check.Same(t, []string{`retry_kpi_target{kpi="permanentErrors",policy="tiss",source="hospital"} 0.2` + "\n"}, got, "targets")
}

func TestMetricsFollowPrometheusConventionsExceptGivenNames(t *testing.T) {
	reg, _ := registryOf(t, "tiss")
	problems, err := testutil.GatherAndLint(reg)
	check.Must(t, err)
	var got []string
	for _, p := range problems {
		got = append(got, p.Metric+": "+p.Text)
	}
	// RN-BIL-005 and RN-BIL-004, both section 13.4, fix these names, with their units and endings.
	want := []string{
		`backoff_duration_minutes: use base unit "seconds" instead of "minutes"`,
		`error_classification_distribution: counter metrics should have "_total" suffix`,
		`submission_retry_backoff_minutes: use base unit "seconds" instead of "minutes"`,
		`submission_retry_max_exceeded: counter metrics should have "_total" suffix`,
	}
	check.Same(t, want, slices.Compact(got), "lint") // some come once for each series
}

// The bounds are the steps of the schedule and the edges of their jitter bands.
func TestBackoffHistogramHasABoundAtEveryJitterEdge(t *testing.T) {
	reg, _ := registryOf(t, "tiss")
	bounds := map[float64]bool{}
	families, err := reg.Gather()
	check.Must(t, err)
	for _, family := range families {
		if family.GetName() == "backoff_duration_minutes" {
			for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
				bounds[bucket.GetUpperBound()] = true
			}
		}
	}
	tiss := policy.BuiltIn("tiss")
	for count := range 10 { // past the policy's own limit, up to its longest wait
		shortest, longest, _ := tiss.Band(count)
		for _, edge := range []time.Duration{shortest, tiss.Delay(count), longest} {
			if !bounds[edge.Minutes()] {
				t.Errorf("retryCount %d: no bound at %v", count, edge)
			}
		}
	}
}
