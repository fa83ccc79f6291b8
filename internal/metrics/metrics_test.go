package metrics_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// decide returns what the policy says about an error text after so many retries.
func decide(t *testing.T, errorText string, retryCount int) retry.Decision {
	t.Helper()
	d, err := policy.BuiltIn("tiss").Decide(retry.Request{
		ClaimID: "CLM-001-1", SubmissionError: errorText, RetryCount: retryCount, ProcessInstanceKey: 1,
	}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func exposition(t *testing.T, reg prometheus.Gatherer) string {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// state is that of a worker that has just started.
var state = metrics.State{
	GatewayUp: func() float64 { return 0 }, StoreUp: func() float64 { return 1 },
	SuccessRate: metrics.Unknown,
}

func TestTheMetricsAreWhatTheDashboardsWereBuiltOn(t *testing.T) {
	for name, work := range map[string]func(*metrics.Metrics){
		"at_start": func(*metrics.Metrics) {},
		"after_work": func(m *metrics.Metrics) {
			m.Decided(decide(t, "TIMEOUT", 0), 3*time.Microsecond)
			m.Decided(decide(t, "TIMEOUT", 2), 3*time.Microsecond)
			m.Decided(decide(t, "strange", 1), 2*time.Second)
			m.Decided(decide(t, "TIMEOUT", 5), 3*time.Microsecond)
			m.Decided(decide(t, "INSURANCE_EXPIRED", 0), 3*time.Microsecond)
			m.Rejected(3 * time.Microsecond)
			m.Repeated()
			m.JobKeyReused()
			m.OutcomeRecorded(audit.KindAbandoned)
			m.PollFailed()
			m.Answered(job.KindComplete, job.Taken)
			m.StoreFailed()
			m.Published(2)
			m.PublishFailed(3)
			m.Backlog(4, time.Now().Add(time.Hour)) // a clock that was put back makes no age below 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			work(metrics.New(reg, policy.BuiltIns().All()))
			metrics.RegisterState(reg, state)
			golden := "testdata/" + name + ".golden"
			got := exposition(t, reg)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the exposition changed (-want +got); dashboards and alerts read it:\n%s", diff)
			}
		})
	}
}

func TestEveryMetricFollowsPrometheusHabitsExceptThoseThatWereNamedForUs(t *testing.T) {
	reg := prometheus.NewRegistry()
	metrics.New(reg, policy.BuiltIns().All())
	metrics.RegisterState(reg, state)
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
}

func TestTheBackoffHistogramHasABoundAtEveryEdgeOfEveryJitterBand(t *testing.T) {
	reg := prometheus.NewRegistry()
	metrics.New(reg, policy.BuiltIns().All())
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[float64]bool{}
	for _, family := range families {
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

func TestTheRegistryTellsAboutTheProcessItself(t *testing.T) {
	text := exposition(t, metrics.NewRegistry())
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "go_build_info"} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is missing", name)
		}
	}
}
