package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// The labels that several metrics have. Of an outcome, the policy is that of the last decision of its round.
var (
	ofPolicy = label{name: "policy", each: true}
	// ofCounted is for what is not known, rather than 0, until claims are counted.
	ofCounted = label{name: "policy"}
	ofState   = label{name: "state"}
)

// The decisions and the outcomes of RN-BIL-005.
var (
	// It takes microseconds, the alert asks for 1 s.
	analysis = row(histogram(1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 1, 5),
		"retry_analysis_duration_seconds",
		"Time from a job's activation to its decision, including invalid input.", ofPolicy)
	backoff = row(histogram(slices.Concat(shortWaits, claimWaits)...),
		"backoff_duration_minutes",
		"Waits that were scheduled before the next submission, in minutes.", ofPolicy)
	jitter = row(histogram(0.1, 0.2, 0.3),
		"retry_jitter_deviation_ratio",
		"Deviation of waits from the delay before jitter, as a share of it; not of waits set by a hint.",
		ofPolicy)
	// The targets are 60 minutes (median) and 2 hours (mean), of an e-mail 5 minutes.
	timeToSuccess = row(histogram(1, 5, 15, 60, 300, 600, 1200, 1800, 3600, 7200, 10800, 14400, 28800, 86400),
		"retry_time_to_success_seconds",
		"Time from the first submission, else from the first failure, to the acceptance, of claims that "+
			"had a retry or a person sent again.",
		ofPolicy)
	attempts = row(summary, "retry_attempts_to_success",
		"Submissions until the claim was accepted.", ofPolicy)
	submissions = row(counter, "retry_submissions_total",
		"Submissions, by which one of the round it is and by its result.",
		ofPolicy,
		label{name: "result", values: []string{failed, accepted}},
		label{name: "attempt", values: attemptNumbers})
	scheduled = row(counter, "retry_scheduled_total",
		"Retries that were scheduled, by the class of the error.",
		ofPolicy,
		label{name: "classification", values: []string{string(retry.Transient), string(retry.Unknown)}})
	maxExceeded = row(counter, "max_retries_exceeded_total", "Claims whose retries were used up.", ofPolicy)
	// Every policy has the code unknown: a sum over one without a permanent rule is 0 rather than absent.
	permanent = row(counter, "permanent_errors_total",
		"Claims stopped by a permanent error, by the rule (its word if it looks for one only, else its id) "+
			"and the team that it names.",
		ofPolicy,
		label{name: "code", values: []string{retry.RuleUnknown}},
		label{name: "with", values: []string{""}})
	deadLetters = row(counter, "retry_dead_letters_total",
		"Claims that were given up and wait for a person: retries used up, deadline, error permanent.",
		ofPolicy)
	atMaximum = row(counter, "retry_waits_at_maximum_total",
		"Waits that the policy's max had shortened, or their band.", ofPolicy)
	ignored = row(counter, "retry_input_ignored_total",
		"Optional variables of other systems that could not be read and were left out of the decision.",
		ofPolicy,
		label{name: "variable", values: []string{contract.RetryAfter, contract.LastSubmissionTime}})
	targets = row(gauge, "retry_kpi_target",
		"Targets of the policies in use, by the document that asks for it: shares of 1, or seconds.",
		ofCounted, label{name: "kpi"}, label{name: "source"})
)

// RN-BIL-004 section 13.4 fixes these names, which count the jobs of its own job type.
var (
	retries004 = row(counter, "submission_retry_total",
		"Retries that retry-submission-backoff jobs were given.", ofPolicy)
	backoff004 = row(histogram(claimWaits...), "submission_retry_backoff_minutes",
		"Waits of retry-submission-backoff jobs, in minutes.", ofPolicy)
	maxExceeded004 = row(counter, "submission_retry_max_exceeded",
		"Claims of retry-submission-backoff jobs whose retries were used up.", ofPolicy)
	classes004 = row(counter, "error_classification_distribution",
		"Errors of retry-submission-backoff jobs, by class.",
		ofPolicy,
		label{name: "classification", values: classes})
)

// Where the claims are, as they were when last counted.
var (
	openClaims = row(gauge, "retry_claims",
		"Claims that failed and have not ended, by the policy that decided last and the state.",
		ofCounted, ofState)
	oldestClaim = row(gauge, "retry_oldest_claim_age_seconds",
		"Time since the oldest of these claims first failed; 0 where there is none.", ofCounted, ofState)
	longestInState = row(gauge, "retry_longest_in_state_seconds",
		"The longest time that a claim has been in this state; 0 where there is none.", ofCounted, ofState)
	successRate = row(gauge, "retry_success_rate",
		"Share of the retried claims that were accepted, of those with a record in the last 24 hours that "+
			"ended or are stopped. Absent with none.", ofCounted)
)

// Jobs, store, queue and audit trail.
var (
	polls = row(counter, "retry_polls_total", "Polls for jobs, by gRPC code.",
		label{name: "code", values: codes})
	answers = row(counter, "retry_job_answers_total",
		"Answers to jobs, by kind and result; not_found: the broker no longer had the job.",
		label{name: "answer", values: answerKinds},
		label{name: "result", values: results})
	panics = row(counter, "retry_panics_total",
		"Calls of a handler that panicked or did not return in time.")
	repeated      = row(counter, "retry_redelivered_total", "Jobs that were given their stored answer again.")
	storeErrors   = row(counter, "retry_store_errors_total", "Failed writes to the audit store.")
	published     = row(counter, "retry_events_published_total", "Events that the queue has acknowledged.")
	publishErrors = row(counter, "retry_events_failed_total",
		"Events that the queue has not acknowledged; they are sent again.")
	outboxPending = row(gauge, "retry_outbox_pending", "Events that wait to be published.")
	outboxOldest  = row(gauge, "retry_outbox_oldest_seconds",
		"Age of the oldest event that waits; 0 if none waits.")
	reloaded = row(gauge, "retry_policies_last_reload_successful",
		"1 if the policies in force are those of the file, 0 if the last reload found it broken.")
	intact = row(gauge, "retry_audit_intact",
		"1 if the last check of the audit trail found it in order, 0 if changed; NaN before the first.")
	gatewayUp = row(gauge, "retry_gateway_up",
		"1 while polls for jobs reach the Zeebe gateway, else 0; answers to jobs do not count.")
	storeUp    = row(gauge, "retry_store_up", "1 while the audit store takes writes, else 0.")
	buildInfo  = row(gauge, "retry_build_info", "1, with the version of the worker.", label{name: "version"})
	jobsActive = row(gauge, "retry_jobs_active",
		"Jobs that were activated and not answered yet.", label{name: "job_type"})
)

// The values of labels, and the bounds of histograms.
var (
	// attemptNumbers end with one that stands for all after it too.
	attemptNumbers = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10+"}
	// codes are the names of the gRPC status codes.
	codes = []string{
		"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
		"PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange",
		"Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
	}
	answerKinds = []string{
		string(job.KindComplete), string(job.KindThrowError), string(job.KindFail), string(job.KindRelease),
	}
	results = []string{string(job.Accepted), string(job.NotFound), string(job.Unknown)}
	classes = []string{string(retry.Transient), string(retry.Permanent), string(retry.Unknown)}
	// claimWaits are the steps of the schedule of claims and the edges of their jitter bands, in minutes.
	claimWaits = []float64{5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 240}
	// shortWaits are for policies that wait seconds, in minutes.
	shortWaits = []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2}
)

// table holds every metric of the worker.
var table []*metric

// metric is a row of the table.
type metric struct {
	make       kind
	name, help string
	labels     []label
}

// label is a label of a metric, with the values that have their series from the start; where each is set,
// those are the policies that are in use or seen.
type label struct {
	name   string
	values []string
	each   bool
}

// kind makes the series of a metric.
type kind func(metric, []string) *prometheus.MetricVec

// row adds a metric to the table.
func row(of kind, name, help string, labels ...label) *metric {
	m := &metric{of, name, help, labels}
	table = append(table, m)
	return m
}

func counter(m metric, labels []string) *prometheus.MetricVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.name, Help: m.help}, labels).MetricVec
}

func gauge(m metric, labels []string) *prometheus.MetricVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.name, Help: m.help}, labels).MetricVec
}

func summary(m metric, labels []string) *prometheus.MetricVec {
	return prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: m.name, Help: m.help}, labels).MetricVec
}

func histogram(buckets ...float64) kind {
	return func(m metric, labels []string) *prometheus.MetricVec {
		o := prometheus.HistogramOpts{Name: m.name, Help: m.help, Buckets: buckets}
		return prometheus.NewHistogramVec(o, labels).MetricVec
	}
}
