package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/retry"
)

// decisions holds the metrics of decisions, all by policy.
type decisions struct {
	*byPolicy[decisionSeries]
	analysis *prometheus.HistogramVec
	replies  *prometheus.CounterVec
}

// decisionSeries are the series of one policy.
type decisionSeries struct {
	analysis  prometheus.Observer
	backoff   prometheus.Observer
	jitter    prometheus.Observer
	scheduled map[retry.Class]*attempts
	// failed counts the submissions that were decided about.
	failed                                                attempts
	maxExceeded, deadLetters, waits, atMaximum, countLost prometheus.Counter
	permanent, ignored                                    *prometheus.CounterVec
	// replies is nil where the policy asks for no reply codes.
	replies  atomic.Pointer[replies]
	rnBIL004 rnBIL004
}

// replies are the series of the SMTP codes that a policy's rules look for.
type replies struct {
	// rules are the ids of the rules that look for some.
	rules map[string]bool
	codes map[string]prometheus.Counter
	none  prometheus.Counter
}

// of returns the series of what decided about an error.
func (r *replies) of(c *retry.Classification) prometheus.Counter {
	if counter := r.codes[c.Code]; counter != nil && r.rules[c.RuleID] {
		return counter
	}
	return r.none
}

// rnBIL004 are the metrics of RN-BIL-004 section 13.4, which count the jobs of its own job type. The names are fixed there, and
// with them units and endings.
type rnBIL004 struct {
	retries, maxExceeded prometheus.Counter
	backoff              prometheus.Observer
	classes              map[retry.Class]prometheus.Counter
}

// claimWaits are the steps of the schedule of claims and the edges of their jitter bands, in minutes.
var claimWaits = []float64{5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 240}

// shortWaits are for policies that wait seconds.
var shortWaits = []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2}

func newDecisions(r registrar, submissions *prometheus.CounterVec) decisions {
	// A decision takes microseconds; the alert asks for 1 s.
	analysis := r.histograms("retry_analysis_duration_seconds", "Time from a job's activation to its decision, including invalid input, by the policy.",
		1e-5, 1e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
	// RN-BIL-005 section 13.4 fixes the name and with it the unit.
	backoff := r.histograms("backoff_duration_minutes", "Waits that were scheduled before the next submission, in minutes, by the policy.", slices.Concat(shortWaits, claimWaits)...)
	jitter := r.histograms("retry_jitter_deviation_ratio",
		"Deviation of backoff waits from the delay before jitter, as a share of that delay, by policy; waits set by a hint are not counted.", 0.1, 0.2, 0.3)
	scheduled := r.counters("retry_scheduled_total",
		"Retries that were scheduled, by the policy, the class of the error, and which retry of the claim it is.", labelPolicy, "classification", labelAttempt)
	maxExceeded := r.counters("max_retries_exceeded_total", "Claims whose retries were used up, by the policy.", labelPolicy)
	permanent := r.counters("permanent_errors_total",
		"Claims stopped by a permanent error, by the policy and by the rule: its word if it looks for one word only, else its id.", labelPolicy, "code")
	replyCodes := r.counters("retry_smtp_replies_total",
		"Decisions of policies that ask for SMTP reply codes, by the policy and the code that decided; none: it was no reply of a server.", labelPolicy, "code")
	deadLetters := r.counters("retry_dead_letters_total",
		"Claims or messages that were given up and wait for a person, by policy: retries used up, deadline reached or error permanent.", labelPolicy)
	waits := r.counters("retry_wait_seconds_total", "Waits that were scheduled before the next try, summed, by the policy.", labelPolicy)
	atMaximum := r.counters("retry_waits_at_maximum_total", "Waits that the policy's max had shortened, or their band, by the policy.", labelPolicy)
	ignored := r.counters("retry_input_ignored_total",
		"Optional variables of other systems that could not be read and were left out of the decision, by the policy and the variable.", labelPolicy, "variable")
	countLost := r.counters("retry_count_lost_total",
		"Decisions for which the trail's count of retries was taken, because the process had brought a lower one, by the policy.", labelPolicy)
	of004 := newRNBIL004(r)
	return decisions{analysis: analysis, replies: replyCodes, byPolicy: newByPolicy(func(policy string) *decisionSeries {
		own := prometheus.Labels{labelPolicy: policy}
		s := &decisionSeries{
			analysis: analysis.WithLabelValues(policy), backoff: backoff.WithLabelValues(policy), jitter: jitter.WithLabelValues(policy),
			scheduled:   map[retry.Class]*attempts{},
			failed:      newAttempts(submissions, prometheus.Labels{labelPolicy: policy, "result": "failed"}),
			maxExceeded: maxExceeded.WithLabelValues(policy), deadLetters: deadLetters.WithLabelValues(policy), waits: waits.WithLabelValues(policy),
			atMaximum: atMaximum.WithLabelValues(policy), countLost: countLost.WithLabelValues(policy),
			permanent: permanent.MustCurryWith(own), ignored: ignored.MustCurryWith(own), rnBIL004: of004(policy),
		}
		for _, class := range []retry.Class{retry.Transient, retry.Unknown} {
			a := newAttempts(scheduled, prometheus.Labels{labelPolicy: policy, "classification": string(class)})
			s.scheduled[class] = &a
		}
		for _, variable := range []string{retry.VariableLastSubmissionTime, retry.VariableRetryAfter} {
			s.ignored.WithLabelValues(variable)
		}
		return s
	})}
}

func newRNBIL004(r registrar) func(policy string) rnBIL004 {
	retries := r.counters("submission_retry_total", "Retries that retry-submission-backoff jobs were given, by the policy.", labelPolicy)
	backoff := r.histograms("submission_retry_backoff_minutes", "Waits that retry-submission-backoff jobs were given, in minutes, by the policy.", claimWaits...)
	maxExceeded := r.counters("submission_retry_max_exceeded", "Claims of retry-submission-backoff jobs whose retries were used up, by the policy.", labelPolicy)
	classes := r.counters("error_classification_distribution", "Errors that retry-submission-backoff jobs brought, by the policy and their class.", labelPolicy, "classification")
	return func(policy string) rnBIL004 {
		s := rnBIL004{
			retries: retries.WithLabelValues(policy), maxExceeded: maxExceeded.WithLabelValues(policy), backoff: backoff.WithLabelValues(policy),
			classes: map[retry.Class]prometheus.Counter{},
		}
		for _, class := range []retry.Class{retry.Transient, retry.Permanent, retry.Unknown} {
			s.classes[class] = classes.WithLabelValues(policy, string(class))
		}
		return s
	}
}

// know makes the series of a policy.
func (m *decisions) know(p *retry.Policy) {
	s := m.of(p.Name)
	if p.Unknown == retry.Permanent {
		s.permanent.WithLabelValues(retry.RuleUnknown)
	}
	for i := range p.Rules {
		if p.Rules[i].Class == retry.Permanent {
			s.permanent.WithLabelValues(p.Rules[i].Label())
		}
	}
	s.replies.Store(m.repliesOf(p))
}

// repliesOf returns the series of the SMTP codes that the policy's rules look for, nil if no rule looks for a reply code.
func (m *decisions) repliesOf(p *retry.Policy) *replies {
	r := &replies{rules: map[string]bool{}, codes: map[string]prometheus.Counter{}}
	asks := false
	for i := range p.Rules {
		for _, code := range p.Rules[i].SMTPCodes() {
			asks = asks || !strings.Contains(code, ".") // tiss looks for the class of an enhanced code, and is about no mail
			r.rules[p.Rules[i].ID] = true
			r.codes[code] = nil
		}
	}
	if !asks {
		return nil
	}
	for code := range r.codes {
		r.codes[code] = m.replies.WithLabelValues(p.Name, code)
	}
	r.none = m.replies.WithLabelValues(p.Name, "none")
	return r
}

// Decided counts a decision and the time that it took.
func (m *Metrics) Decided(d retry.Decision, elapsed time.Duration) {
	s := m.decisions.of(d.Policy)
	s.count(&d, elapsed)
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.backoff.Observe(d.Backoff.Minutes())
		class := retry.Transient
		if d.Error.Class == retry.Unknown {
			class = retry.Unknown
		}
		s.scheduled[class].of(d.RetryCount).Inc()
	case retry.OutcomeExhausted:
		s.maxExceeded.Inc()
	case retry.OutcomePermanent:
		s.permanent.WithLabelValues(d.Error.Label).Inc()
	}
}

// RNBIL004 counts the decisions of `retry-submission-backoff` jobs under the names of RN-BIL-004, and everything else under
// those that both job types have.
type RNBIL004 struct{ *Metrics }

// Decided counts as [Metrics.Decided] does.
func (m RNBIL004) Decided(d retry.Decision, elapsed time.Duration) {
	s := m.decisions.of(d.Policy)
	s.count(&d, elapsed)
	s.rnBIL004.classes[d.Error.Class].Inc()
	switch d.Outcome {
	case retry.OutcomeRetry:
		s.rnBIL004.retries.Inc()
		s.rnBIL004.backoff.Observe(d.Backoff.Minutes())
	case retry.OutcomeExhausted:
		s.rnBIL004.maxExceeded.Inc()
	case retry.OutcomePermanent:
	}
}

// count counts what both job types have.
func (s *decisionSeries) count(d *retry.Decision, elapsed time.Duration) {
	s.analysis.Observe(elapsed.Seconds())
	for variable := range d.Ignored.All() {
		s.ignored.WithLabelValues(variable).Inc()
	}
	if d.CountFrom == retry.CountFromTrail {
		s.countLost.Inc()
	}
	if r := s.replies.Load(); r != nil {
		r.of(&d.Error).Inc()
	}
	if d.Outcome != retry.OutcomeRetry {
		s.failed.of(d.RetryCount + 1).Inc()
		s.deadLetters.Inc()
		return
	}
	s.failed.of(d.RetryCount).Inc() // which counts the retry that follows already
	s.waits.Add(d.Backoff.Seconds())
	if d.Bounds&retry.BoundMax != 0 {
		s.atMaximum.Inc()
	}
	if d.Step == retry.StepBackoff && d.Bounds&retry.BoundDeadline == 0 && d.Delay > 0 {
		s.jitter.Observe(math.Abs(float64(d.Backoff-d.Delay)) / float64(d.Delay))
	}
}

// Rejected counts a job whose input was invalid. The policy is empty where the input does not show which one would have decided.
func (m *Metrics) Rejected(policy string, elapsed time.Duration) {
	m.decisions.analysis.WithLabelValues(cmp.Or(policy, noPolicy)).Observe(elapsed.Seconds())
}
