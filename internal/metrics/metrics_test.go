package metrics_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// decide returns what the policy says about an error text after so many retries.
func decide(t *testing.T, errorText string, retryCount int) retry.Decision {
	t.Helper()
	d, err := policy.BuiltIn("tiss").Decide(retry.Request{
		ClaimID: "CLM-001-1", SubmissionError: errorText, RetryCount: retryCount, ProcessInstanceKey: 1,
	}, time.Unix(0, 0))
	check.Must(t, err)
	return d
}

func gather(t *testing.T, reg prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := reg.Gather()
	check.Must(t, err)
	return families
}

func exposition(t *testing.T, reg prometheus.Gatherer) string {
	t.Helper()
	var text strings.Builder
	for _, family := range gather(t, reg) {
		_, err := expfmt.MetricFamilyToText(&text, family)
		check.Must(t, err)
	}
	return text.String()
}

// always returns a function that returns one value.
func always[T any](value T) func() T { return func() T { return value } }

// jobTypes are those that a worker works where nobody sets others.
var jobTypes = []string{"analyze-retry", "record-retry-outcome", "retry-submission-backoff"}

// registryOf is the registry of a worker that has just started, and what counts in it.
func registryOf(t *testing.T) (*prometheus.Registry, *metrics.Metrics) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m := metrics.New(reg, policy.BuiltIns().All())
	state := metrics.State{
		Version: "v1.2.3", MaxJobsActive: 50, ActiveJobs: map[string]func() int{},
		GatewayUp: always(false), BrokerUp: always(false), StoreUp: always(true),
		ClockSkew: metrics.Unknown, ClockTrusted: always(true),
	}
	for _, jobType := range jobTypes {
		m.Jobs(jobType, "analyze-retry@host")
		state.ActiveJobs[jobType] = always(0)
	}
	metrics.RegisterState(reg, state)
	return reg, m
}

// Dashboards and alerts read these names, labels and values.
func TestTheMetricsAreWhatTheDashboardsWereBuiltOn(t *testing.T) {
	for name, work := range map[string]func(*metrics.Metrics){
		"at_start": func(m *metrics.Metrics) { m.ClaimsCounted(claims.Census{}) }, // of an empty store
		"after_work": func(m *metrics.Metrics) {
			m.Decided(decide(t, "TIMEOUT", 0), 3*time.Microsecond)
			m.Decided(decide(t, "TIMEOUT", 2), 3*time.Microsecond)
			m.Decided(decide(t, "strange", 1), 2*time.Second)
			m.Decided(decide(t, "HTTP 503 Retry-After: 7200", 0), 3*time.Microsecond) // jitter of its own: the insurer has set the wait
			cut := decide(t, "TIMEOUT", 1)                                            // its deviation says nothing about the jitter
			cut.Bounds, cut.Backoff = retry.BoundDeadline, time.Minute
			m.Decided(cut, 3*time.Microsecond)
			exhausted := decide(t, "TIMEOUT", 5)
			exhausted.Ignored = retry.Ignored{RetryAfter: retry.IgnoredUnreadable} // counted whatever becomes of the claim
			m.Decided(exhausted, 3*time.Microsecond)
			m.Decided(decide(t, "INSURANCE_EXPIRED", 0), 3*time.Microsecond)
			decideBy := func(policyName, errorText string) retry.Decision {
				d, err := policy.BuiltIn(policyName).Decide(retry.Request{ClaimID: "MSG-1", SubmissionError: errorText, ProcessInstanceKey: 1}, time.Unix(0, 0))
				check.Must(t, err)
				return d
			}
			for _, text := range []string{"451 4.3.0 try again", "Response: 4.7.1 greylisted", "connection refused", "no such reply"} {
				m.Decided(decideBy("smtp", text), 3*time.Microsecond)
			}
			of004 := metrics.RNBIL004{Metrics: m}
			of004.Decided(decideBy("fast", "TIMEOUT"), 3*time.Microsecond)
			m.Decided(decide(t, "HTTP 503 Retry-After: 36000", 3), 3*time.Microsecond) // ten hours, cut to four
			ahead := time.Now().Add(time.Hour)                                         // by the clock of another replica: the age is 0
			m.ClaimsCounted(claims.Census{Policies: map[string]*claims.PolicyCensus{
				"tiss": {States: map[claims.State]claims.StateCount{claims.Waiting: {Claims: 41, Oldest: ahead}, claims.Stopped: {Claims: 300, Oldest: ahead}}, OlderThan: [5]int64{300, 12, 3}},
				"old":  {States: map[claims.State]claims.StateCount{claims.Incident: {Claims: 1, Oldest: ahead}}}, // not in force any more
			}})
			m.SuccessMeasured(map[string]float64{"tiss": 0.075})
			m.Rejected("tiss", 3*time.Microsecond)
			m.Rejected("", 3*time.Microsecond)
			m.Repeated()
			m.JobKeyReused()
			m.OutcomeRecorded(&audit.Record{Kind: audit.KindAbandoned})
			failed := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			m.OutcomeRecorded(&audit.Record{
				Kind: audit.KindSubmitted, RetryCount: 2, At: failed.Add(time.Hour), Variables: "{}",
				Detail: `{"attempts":3,"firstFailureTime":"2026-03-01T12:00:00Z","policy":"tiss"}`,
			})
			m.OutcomeRecorded(&audit.Record{Kind: audit.KindSubmitted, Variables: "{}", Detail: `{"attempts":1}`}) // at once: no policy has decided
			m.OutcomeRecorded(&audit.Record{                                                                       // without a retry: sent again by a person, so it has no time to success
				Kind: audit.KindSubmitted, At: failed.Add(time.Hour), Variables: "{}",
				Detail: `{"attempts":2,"firstFailureTime":"2026-03-01T12:00:00Z","policy":"smtp"}`,
			})
			jobs := m.Jobs("analyze-retry", "analyze-retry@host")
			jobs.Polled("OK")
			jobs.Polled("Unavailable")
			jobs.Polled("Code(4711)") // which a gateway may make up
			jobs.Activated(4)
			jobs.Answered(1, job.Complete("{}"), job.Accepted)
			jobs.Answered(1, job.ThrowError("PERMANENT_ERROR", "", "{}"), job.NotFound)
			jobs.Answered(1, job.Incident("no"), job.Accepted)
			jobs.Answered(1, job.Incident("no"), job.NotFound) // no incident: nobody took it
			jobs.Answered(1, job.Fail(2, "no"), job.Accepted)  // none either: retries are left
			jobs.Answered(1, job.Release("no"), job.Unknown)
			jobs.HandlerFailed()
			m.AuditIntact(failed)
			m.Reloaded(false)
			m.StoreFailed()
			m.Published(2)
			m.PublishFailed(3)
			m.Backlog(4, time.Now().Add(time.Hour)) // a clock that was put back makes no age below 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			reg, m := registryOf(t)
			work(m)
			golden(t, "testdata/"+name+".golden", exposition(t, reg))
		})
	}
}

func TestMetricsFollowPrometheusConventionsExceptGivenNames(t *testing.T) {
	reg, _ := registryOf(t)
	problems, err := testutil.GatherAndLint(reg)
	check.Must(t, err)
	var got []string
	for _, p := range problems {
		got = append(got, p.Metric+": "+p.Text)
	}
	// RN-BIL-005 and RN-BIL-004, both section 13.4, fix these names, with their units and endings; Zeebe's Grafana dashboard
	// fixes the labels of Camunda's.
	want := []string{
		`backoff_duration_minutes: use base unit "seconds" instead of "minutes"`,
		"camunda_client_worker_job_activated_total: label names should be written in 'snake_case' not 'camelCase'",
		"camunda_client_worker_job_handled_total: label names should be written in 'snake_case' not 'camelCase'",
		`error_classification_distribution: counter metrics should have "_total" suffix`,
		`submission_retry_backoff_minutes: use base unit "seconds" instead of "minutes"`,
		`submission_retry_max_exceeded: counter metrics should have "_total" suffix`,
		"zeebe_client_worker_job_activated_total: label names should be written in 'snake_case' not 'camelCase'",
		"zeebe_client_worker_job_handled_total: label names should be written in 'snake_case' not 'camelCase'",
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" { // some come once for each series
		t.Errorf("lint (-want +got):\n%s", diff)
	}
}

func TestTheBackoffHistogramHasABoundAtEveryJitterEdge(t *testing.T) {
	reg := prometheus.NewRegistry()
	metrics.New(reg, policy.BuiltIns().All())
	bounds := map[float64]bool{}
	for _, family := range gather(t, reg) {
		if family.GetName() == "backoff_duration_minutes" {
			for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
				bounds[bucket.GetUpperBound()] = true
			}
		}
	}
	tiss := policy.BuiltIn("tiss")
	for count := range 10 { // past the policy's own limit, up to its longest wait
		shortest, longest := tiss.Band(count)
		for _, edge := range []time.Duration{shortest, tiss.Delay(count), longest} {
			if !bounds[edge.Minutes()] {
				t.Errorf("retryCount %d: no bound at %v", count, edge)
			}
		}
	}
}

func TestTheRegistryHasProcessMetrics(t *testing.T) {
	text := exposition(t, metrics.NewRegistry())
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "go_build_info"} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestAReplacedPolicyIsNotShownAsInForce(t *testing.T) {
	reg, m := registryOf(t)
	m.Know(slices.Values([]*retry.Policy{policy.BuiltIn("tiss")}))
	text := exposition(t, reg)
	if n := strings.Count(text, "retry_policy_info{"); n != 1 || !strings.Contains(text, `retry_policy_info{policy="tiss"`) {
		t.Errorf("%d policies are shown as in force, want tiss alone", n)
	}
	if !strings.Contains(text, `retry_dead_letters_total{policy="smtp"}`) {
		t.Error("what smtp had counted is gone: the rate of a counter that vanishes is wrong")
	}
}

func TestCountingADecisionAllocatesNothing(t *testing.T) {
	_, m := registryOf(t)
	for _, observer := range []interface {
		Decided(retry.Decision, time.Duration)
	}{m, metrics.RNBIL004{Metrics: m}} {
		for _, d := range []retry.Decision{decide(t, "TIMEOUT", 0), decide(t, "strange", 5), decide(t, "INSURANCE_EXPIRED", 0)} {
			if n := testing.AllocsPerRun(100, func() { observer.Decided(d, time.Microsecond) }); n > 0 {
				t.Errorf("%T, %s: %v allocations", observer, d.Outcome, n)
			}
		}
	}
}
