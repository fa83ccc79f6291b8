package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/retry"
)

// vectors are the metrics of decisions and outcomes, all by policy.
type vectors struct {
	analysis, backoff, jitter, timeToSuccess *prometheus.HistogramVec
	attempts                                 *prometheus.SummaryVec
	submissions, scheduled, permanent        *prometheus.CounterVec
	maxExceeded, deadLetters, atMaximum      *prometheus.CounterVec
	ignored                                  *prometheus.CounterVec
	targets                                  *prometheus.GaugeVec

	// RN-BIL-004 section 13.4 fixes these names, which count the jobs of its own job type.
	retries004, maxExceeded004, classes004 *prometheus.CounterVec
	backoff004                             *prometheus.HistogramVec
}

// claimWaits are the steps of the schedule of claims and the edges of their jitter bands, in minutes.
var claimWaits = []float64{5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 240}

// shortWaits are for policies that wait seconds.
var shortWaits = []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2}

func newVectors(r registrar) vectors {
	return vectors{
		// A decision takes microseconds; the alert asks for 1 s.
		analysis: r.histograms("retry_analysis_duration_seconds",
			"Time from a job's activation to its decision, including invalid input.",
			1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 1, 5),
		backoff: r.histograms("backoff_duration_minutes",
			"Waits that were scheduled before the next submission, in minutes.",
			slices.Concat(shortWaits, claimWaits)...),
		jitter: r.histograms("retry_jitter_deviation_ratio",
			"Deviation of waits from the delay before jitter, as a share of it; waits set by a hint are not counted.",
			0.1, 0.2, 0.3),
		// The targets are 60 minutes (median) and 2 hours (mean), of an e-mail 5 minutes.
		timeToSuccess: r.histograms("retry_time_to_success_seconds",
			"Time from the first failure to the acceptance, of claims that had a retry or a person sent again.",
			1, 5, 15, 60, 300, 600, 1200, 1800, 3600, 7200, 10800, 14400, 28800, 86400),
		attempts: register(r, prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "retry_attempts_to_success",
			Help: "Submissions until the claim was accepted; claims that never failed have the policy none.",
		}, []string{labelPolicy})),
		submissions: r.counters("retry_submissions_total",
			"Submissions, by which one of the claim it is and by its result; a claim that never failed has the policy none.",
			labelPolicy, "attempt", "result"),
		scheduled: r.counters("retry_scheduled_total",
			"Retries that were scheduled, by the class of the error.", labelPolicy, "classification"),
		maxExceeded: r.counters("max_retries_exceeded_total", "Claims whose retries were used up.", labelPolicy),
		permanent: r.counters("permanent_errors_total",
			"Claims stopped by a permanent error, by the rule: its word if it looks for one word only, else its id.",
			labelPolicy, "code"),
		deadLetters: r.counters("retry_dead_letters_total",
			"Claims that were given up and wait for a person: retries used up, deadline reached or error permanent.",
			labelPolicy),
		atMaximum: r.counters("retry_waits_at_maximum_total",
			"Waits that the policy's max had shortened, or their band.", labelPolicy),
		ignored: r.counters("retry_input_ignored_total",
			"Optional variables of other systems that could not be read and were left out of the decision.",
			labelPolicy, "variable"),
		targets: register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "retry_kpi_target",
			Help: "Targets of the policies in use, by the document that asks for it: shares from 0 to 1, times in seconds.",
		}, []string{labelPolicy, "kpi", "source"})),
		retries004: r.counters("submission_retry_total",
			"Retries that retry-submission-backoff jobs were given.", labelPolicy),
		backoff004: r.histograms("submission_retry_backoff_minutes",
			"Waits of retry-submission-backoff jobs, in minutes.", claimWaits...),
		maxExceeded004: r.counters("submission_retry_max_exceeded",
			"Claims of retry-submission-backoff jobs whose retries were used up.", labelPolicy),
		classes004: r.counters("error_classification_distribution",
			"Errors of retry-submission-backoff jobs, by class.", labelPolicy, "classification"),
	}
}

// series are the series of one policy. They are looked up once, so that a decision is counted without a
// look-up by labels.
type series struct {
	analysis, backoff, jitter, timeToSuccess, attempts prometheus.Observer

	scheduled map[retry.Class]prometheus.Counter
	// failed counts the submissions that were decided about, accepted those that were accepted.
	failed, accepted                    attempts
	maxExceeded, deadLetters, atMaximum prometheus.Counter
	permanent, ignored                  *prometheus.CounterVec

	retries004, maxExceeded004 prometheus.Counter
	backoff004                 prometheus.Observer
	classes004                 map[retry.Class]prometheus.Counter
}

// ofNone returns the series of what no policy has decided.
func (v *vectors) ofNone() *series {
	return &series{
		analysis:      v.analysis.WithLabelValues(noPolicy),
		timeToSuccess: v.timeToSuccess.WithLabelValues(noPolicy),
		attempts:      v.attempts.WithLabelValues(noPolicy),
		accepted:      newAttempts(v.submissions, noPolicy, "accepted"),
	}
}

func (v *vectors) of(policy string) *series {
	byClass := func(of *prometheus.CounterVec, classes ...retry.Class) map[retry.Class]prometheus.Counter {
		all := map[retry.Class]prometheus.Counter{}
		for _, class := range classes {
			all[class] = of.WithLabelValues(policy, string(class))
		}
		return all
	}
	s := &series{
		analysis:       v.analysis.WithLabelValues(policy),
		backoff:        v.backoff.WithLabelValues(policy),
		jitter:         v.jitter.WithLabelValues(policy),
		timeToSuccess:  v.timeToSuccess.WithLabelValues(policy),
		attempts:       v.attempts.WithLabelValues(policy),
		scheduled:      byClass(v.scheduled, retry.Transient, retry.Unknown),
		failed:         newAttempts(v.submissions, policy, "failed"),
		accepted:       newAttempts(v.submissions, policy, "accepted"),
		maxExceeded:    v.maxExceeded.WithLabelValues(policy),
		deadLetters:    v.deadLetters.WithLabelValues(policy),
		atMaximum:      v.atMaximum.WithLabelValues(policy),
		permanent:      v.permanent.MustCurryWith(prometheus.Labels{labelPolicy: policy}),
		ignored:        v.ignored.MustCurryWith(prometheus.Labels{labelPolicy: policy}),
		retries004:     v.retries004.WithLabelValues(policy),
		maxExceeded004: v.maxExceeded004.WithLabelValues(policy),
		backoff004:     v.backoff004.WithLabelValues(policy),
		classes004:     byClass(v.classes004, retry.Transient, retry.Permanent, retry.Unknown),
	}
	// Also where the policy retries unknown errors: a sum over a policy without a permanent rule is 0 rather
	// than absent.
	s.permanent.WithLabelValues(retry.RuleUnknown)
	for _, variable := range []string{retry.VariableRetryAfter, retry.VariableLastSubmissionTime} {
		s.ignored.WithLabelValues(variable)
	}
	return s
}

// know makes the series of a policy's rules and targets.
func (v *vectors) know(s *series, p *retry.Policy) {
	for i := range p.Rules {
		if p.Rules[i].Class == retry.Permanent {
			s.permanent.WithLabelValues(p.Rules[i].Label())
		}
	}
	for _, t := range p.Targets {
		v.targets.WithLabelValues(p.Name, t.KPI, t.Source).Set(t.Value)
	}
}

// mostAttempts is the last value of the label attempt, which stands for all after it too.
const mostAttempts = 10

// attempts are the series of one metric by its label attempt.
type attempts [mostAttempts]prometheus.Counter

func newAttempts(of *prometheus.CounterVec, policy, result string) (a attempts) {
	for i := range a {
		value := strconv.Itoa(i + 1)
		if i+1 == mostAttempts {
			value += "+"
		}
		a[i] = of.WithLabelValues(policy, value, result)
	}
	return a
}

// of returns the series of the n-th attempt, counted from 1.
func (a *attempts) of(n int) prometheus.Counter { return a[min(max(n, 1), mostAttempts)-1] }

// Decided counts a decision and the time that it took.
func (m *Metrics) Decided(d retry.Decision, elapsed time.Duration) {
	s := m.of(d.Policy)
	s.count(&d, elapsed)
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.backoff.Observe(d.Backoff.Minutes())
		class := retry.Transient
		if d.Error.Class == retry.Unknown {
			class = retry.Unknown
		}
		s.scheduled[class].Inc()
	case retry.OutcomeExhausted:
		s.maxExceeded.Inc()
	case retry.OutcomePermanent:
		s.permanent.WithLabelValues(d.Error.Label).Inc()
	}
}

// RNBIL004 counts the decisions of `retry-submission-backoff` jobs under the names of RN-BIL-004, and
// everything else under those that both job types have.
type RNBIL004 struct{ *Metrics }

// Decided counts as [Metrics.Decided] does.
func (m RNBIL004) Decided(d retry.Decision, elapsed time.Duration) {
	s := m.of(d.Policy)
	s.count(&d, elapsed)
	s.classes004[d.Error.Class].Inc()
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.retries004.Inc()
		s.backoff004.Observe(d.Backoff.Minutes())
	case retry.OutcomeExhausted:
		s.maxExceeded004.Inc()
	case retry.OutcomePermanent:
	}
}

// count counts what both job types have.
func (s *series) count(d *retry.Decision, elapsed time.Duration) {
	s.analysis.Observe(elapsed.Seconds())
	for variable := range d.Ignored.All() {
		s.ignored.WithLabelValues(variable).Inc()
	}
	if d.Outcome != retry.OutcomeRetry {
		s.failed.of(d.RetryCount + 1).Inc()
		s.deadLetters.Inc()
		return
	}
	s.failed.of(d.RetryCount).Inc() // which counts the retry that follows already
	if d.Bounds&retry.BoundMax != 0 {
		s.atMaximum.Inc()
	}
	if d.Step == retry.StepBackoff && d.Bounds&retry.BoundDeadline == 0 && d.Delay > 0 {
		s.jitter.Observe(math.Abs(float64(d.Backoff-d.Delay)) / float64(d.Delay))
	}
}

// Rejected counts a job whose input was invalid. The policy is empty where the input does not show which one
// would have decided.
func (m *Metrics) Rejected(policy string, elapsed time.Duration) {
	m.of(cmp.Or(policy, noPolicy)).analysis.Observe(elapsed.Seconds())
}

// OutcomeRecorded counts a round of submissions that ended with the claim's acceptance.
func (m *Metrics) OutcomeRecorded(r *audit.Record) {
	if r.Kind != audit.KindSubmitted {
		return
	}
	s := m.of(cmp.Or(r.Policy, noPolicy))
	s.attempts.Observe(float64(r.Course.Attempts))
	s.accepted.of(r.Course.Attempts).Inc()
	if f := r.Course.Flags; f.Has(audit.CourseFailed) && f.Has(audit.CourseRetried|audit.CourseByPerson) {
		s.timeToSuccess.Observe(float64(r.Course.Seconds))
	}
}
