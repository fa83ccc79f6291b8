package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
)

// decisions are what the worker says about errors, and how long it takes.
func decisions() []cog.Builder[dashboard.Panel] {
	s := shares{"$__rate_interval"}
	return []cog.Builder[dashboard.Panel]{
		stacked(about{"Decisions by class", "Retries of transient and of unknown errors, permanent errors, and claims whose retries are used up.", "cpm"},
			query{perMinute(ofPolicies("retry_scheduled_total"), "classification"), "retry, {{classification}}"},
			query{perMinute(ofPolicies("permanent_errors_total")), "permanent"},
			query{perMinute(ofPolicies("max_retries_exceeded_total")), "exhausted"}).
			Span(12).
			Overrides(paint("retry, TRANSIENT", good, "retry, UNKNOWN", "yellow", "permanent", bad, "exhausted", "purple")),
		bounded(about{"Shares of the decisions", "A share of unknown errors that jumps means that an insurer has changed its texts: they need a rule. Permanent above 15 % is critical.", "percentunit"},
			steps(good, step{0.15, bad}),
			query{s.unknown(), "unknown"},
			query{s.permanent(), "permanent"}).
			Span(12).
			Overrides(paint("unknown", "yellow", "permanent", bad)),
		bounded(about{"Time of an analysis", "From the job's arrival to its decision. It alerts where one of a hundred takes longer than 1 second.", "s"},
			steps(good, step{1, bad}),
			query{selector(worker).quantile(0.5, "retry_analysis_duration_seconds", "$__rate_interval"), "median"},
			query{selector(worker).quantile(0.9, "retry_analysis_duration_seconds", "$__rate_interval"), "p90"},
			query{selector(worker).quantile(0.99, "retry_analysis_duration_seconds", "$__rate_interval"), "p99"}).
			ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10)).
			Min(1e-6),
		bars(about{"Permanent errors by code", "In the time range. One code alone is a change at an insurer, or in our data.", "none"},
			query{"sort_desc(" + inRange(ofPolicies("permanent_errors_total"), "code") + " > 0)", "{{code}}"}),
		lines(about{"Decisions of retry-submission-backoff by class", "Jobs of RN-BIL-004, which count apart, and those of them whose retries are used up.", "cpm"},
			query{perMinute(ofPolicies("error_classification_distribution"), "classification"), "{{classification}}"},
			query{perMinute(ofPolicies("submission_retry_total")), "retries"},
			query{perMinute(ofPolicies("submission_retry_max_exceeded")), "exhausted"}),
	}
}

// waits are how long claims wait for their next submission.
func waits() []cog.Builder[dashboard.Panel] {
	return []cog.Builder[dashboard.Panel]{
		heat(about{"Waits", "How many waits of which length were set, in minutes. Each retry has its band: 5 to 6, 8 to 12, 16 to 24, 32 to 48, 64 to 96.", "m"},
			"backoff_duration_minutes"),
		bars(about{"Retries by attempt", "How many claims came to which retry, in the time range. Each is a part of the one above it.", "none"},
			query{"sort_desc(" + inRange(ofPolicies("retry_scheduled_total"), "attempt") + " > 0)", "retry {{attempt}}"}).
			Span(6),
		bounded(about{"Mean wait", "Above 30 minutes most claims are in their fourth or fifth retry: an insurer has been away for an hour or more.", "m"},
			steps(good, step{30, bad}),
			query{selector(ofPolicies).mean("backoff_duration_minutes", "$__rate_interval"), "mean wait"},
			query{selector(ofPolicies).mean("submission_retry_backoff_minutes", "$__rate_interval"), "of retry-submission-backoff"}).
			Span(6),
		lines(about{"Time set for waiting, by policy", "Seconds of waits that were scheduled per second: so many claims wait at a time, on average.", "suffix: claims"},
			query{"sum by (policy) (rate(" + ofPolicies("retry_wait_seconds_total") + "[$__rate_interval]))", "{{policy}}"}).
			Span(12),
		bounded(about{"Waits off their delay by more than 30 %", "Share of the waits that the back-off has set, by policy. The jitter of tiss is 20 %; a wait that a deadline cuts is off, too.", "percentunit"},
			steps(good, step{0.05, warn}, step{0.3, bad}),
			query{"1 - sum by (policy) (increase(" + ofPolicies("retry_jitter_deviation_ratio_bucket", `le="0.3"`) + "[$__range]))" +
				" / sum by (policy) (increase(" + ofPolicies("retry_jitter_deviation_ratio_count") + "[$__range]))", "{{policy}}"}).
			Span(12),
	}
}

// outcomes are how rounds of submissions end.
func outcomes() []cog.Builder[dashboard.Panel] {
	return []cog.Builder[dashboard.Panel]{
		stacked(about{"Outcomes", "Rounds of submissions by how they ended. Redriven: a person had the claim sent again before its time, in the same round.", "cpm"},
			query{perMinute(ofPolicies("retry_outcomes_total"), "outcome"), "{{outcome}}"}).
			Overrides(paint("submitted", good, "resubmitted", blue, "redriven", "purple", "abandoned", bad, "decision_refused", "orange")),
		bounded(about{"Success after retry", "Of the retried claims of the last 24 hours that are not under way any more: one that stands stopped is no success. The targets are 80 % and 85 %.", "percentunit"},
			steps(bad, step{0.8, warn}, step{0.85, good}),
			query{"max by (policy) (" + ofPolicies("retry_success_rate") + ")", "{{policy}}"}).
			Max(1),
		bars(about{"Submissions until success", "How many claims were accepted with so many submissions or fewer, in the time range.", "none"},
			query{"sort(" + inRange(ofPolicies("retry_attempts_to_success_bucket", `le!="+Inf"`), "le") + ")", "≤ {{le}}"}),
	}
}

// claims are where those are that have not ended. Every replica of one store reports the same numbers, so they are not summed.
func claims() []cog.Builder[dashboard.Panel] {
	const hour = 3600
	greatest := func(a about, age string, thresholds cog.Builder[dashboard.ThresholdsConfig]) *stat.PanelBuilder {
		return now(a, "max("+age+")", thresholds).Height(4).Span(8)
	}
	return []cog.Builder[dashboard.Panel]{
		greatest(about{"Longest wait for a person", "Of claims that were given up: since the last stop, or since it became a dead letter. It alerts after a working day.", "s"},
			ofPolicies("retry_longest_in_state_seconds", `state=~"stopped|dead-letter"`), steps(good, step{24 * hour, warn}, step{48 * hour, bad})),
		greatest(about{"Longest overdue", "For how long a claim's wait has been over, with nothing heard of it since. It alerts after 30 minutes.", "s"},
			ofPolicies("retry_longest_in_state_seconds", `state="overdue"`), steps(good, step{600, warn}, step{1800, bad})),
		greatest(about{"Oldest open claim", "Since its first failure, in whatever state. ANS IN 41/2018 allows 48 hours for sending a claim again; it alerts at 24.", "s"},
			ofPolicies("retry_oldest_claim_age_seconds"), steps(good, step{24 * hour, warn}, step{48 * hour, bad})),
		stacked(about{"Claims by state", "Claims that have not ended: they wait for their next try, are overdue for it, were stopped, are an incident or a dead letter, or were sent again by a person.", "suffix: claims"},
			query{"sum by (state) (max by (namespace, policy, state) (" + ofPolicies("retry_claims") + "))", "{{state}}"}).
			Span(12).
			Overrides(paint("waiting", good, "overdue", "orange", "stopped", bad, "incident", "yellow", "dead-letter", "purple", "redriven", blue)),
		bounded(about{"Age of the oldest claim, by state", "48 hours is the bound of ANS IN 41/2018.", "s"},
			steps(good, step{24 * hour, warn}, step{48 * hour, bad}),
			query{"max by (state) (" + ofPolicies("retry_oldest_claim_age_seconds") + ")", "{{state}}"}).
			Span(12),
	}
}

// emails are what 02-retry-strategy asks to see, of policy smtp.
func emails() []cog.Builder[dashboard.Panel] {
	smtp := func(metric string, matchers ...string) string {
		return worker(metric, append([]string{`policy="smtp"`}, matchers...)...)
	}
	again := `attempt!="1"`
	return []cog.Builder[dashboard.Panel]{
		bars(about{"Success of each attempt", "Of the e-mails that were sent for the second, third, ... time, how many were accepted, in the time range. Those that are accepted at once have no policy.", "percentunit"},
			query{"sort_desc(" + inRange(smtp("retry_submissions_total", again, `result="accepted"`), "attempt") + " / (" +
				inRange(smtp("retry_submissions_total", again), "attempt") + " > 0))", "attempt {{attempt}}"}).
			Max(1),
		bars(about{"Replies of mail servers", "Decisions by the SMTP code that decided, in the time range; none: a lost connection, or another text. docs/smtp.md has what each is about.", "none"},
			query{"sort_desc(" + inRange(smtp("retry_smtp_replies_total"), "code") + " > 0)", "{{code}}"}),
		bounded(about{"Time to success of e-mails", "From the first failure to the acceptance, of e-mails that had a retry. It alerts where one in twenty takes longer than 5 minutes.", "s"},
			steps(good, step{300, bad}),
			query{selector(smtp).quantile(0.5, "retry_time_to_success_seconds", "$__rate_interval"), "median"},
			query{selector(smtp).quantile(0.95, "retry_time_to_success_seconds", "$__rate_interval"), "p95"}),
		lines(about{"Mean time between tries", "The mean wait before the next try of an e-mail. By smtp's own schedule it is between 1 and 8 seconds.", "s"},
			query{"60 * " + selector(smtp).mean("backoff_duration_minutes", "$__rate_interval"), "mean wait"}).
			Span(12),
		bounded(about{"Dead letters", "E-mails that were given up and wait for a person. It alerts above 100.", "suffix: e-mails"},
			steps(good, step{100, bad}),
			query{"sum by (state) (max by (namespace, state) (" + smtp("retry_claims", `state=~"stopped|dead-letter"`) + "))", "{{state}}"}).
			Span(12),
	}
}

// jobs are how worker and broker get along.
func jobs() []cog.Builder[dashboard.Panel] {
	types := `type=~"$job_type"`
	return []cog.Builder[dashboard.Panel]{
		stacked(about{"Polls by code", "Polls for jobs that ended. Other codes than OK: the gateway is away (Unavailable), refuses the login (Unauthenticated), or has too much to do (ResourceExhausted).", "cpm"},
			query{perMinute(worker("retry_polls_total"), "code") + " > 0", "{{code}}"}),
		lines(about{"Active jobs", "Jobs that were taken and not answered yet, and how many may be. At the limit the worker takes no more, and jobs wait at the broker.", "suffix: jobs"},
			query{"sum by (job_type) (" + worker("retry_jobs_active") + ")", "{{job_type}}"},
			query{"min(sum by (job_type) (" + worker("retry_jobs_active_limit") + "))", "limit of each"}).
			OverrideByName("limit of each", []dashboard.DynamicConfigValue{
				{Id: "color", Value: fixed(bad)},
				{Id: "custom.fillOpacity", Value: 0},
				{Id: "custom.lineStyle", Value: map[string]any{"fill": "dash", "dash": []int{10, 10}}},
			}),
		lines(about{"Answers by result", "What was answered to jobs and what became of it. Not found: the broker did not know the job any more. Unknown: no answer came from the broker.", "cpm"},
			query{perMinute(worker("retry_job_answers_total"), "answer", "result") + " > 0", "{{answer}}, {{result}}"}),
		lines(about{"Jobs at the broker", "Created and ended, as the broker counts. Where more are created than end, a queue of jobs grows.", "cpm"},
			query{perMinute(broker("zeebe_job_events_total", types, `action="created"`)), "created"},
			query{perMinute(broker("zeebe_job_events_total", types, `action="completed"`)), "completed"},
			query{perMinute(broker("zeebe_job_events_total", types, `action="error thrown"`)), "ended with an error"},
			query{perMinute(broker("zeebe_job_events_total", types, `action="failed"`)), "failed"},
			query{perMinute(broker("zeebe_job_events_total", types, `action="timed out"`)), "timed out"}),
		lines(about{"Jobs out of the ordinary", "Redelivered: a job was given its stored answer again, for example after its lock ran out. Also the worker's incidents and panics.", "cpm"},
			query{perMinute(worker("retry_redelivered_total")), "redelivered"},
			query{perMinute(worker("retry_incidents_raised_total"), "job_type"), "incident, {{job_type}}"},
			query{perMinute(worker("retry_panics_total")), "panics"}),
		bounded(about{"Clock skew", "The broker's clock minus the worker's, by replica.", "s"},
			steps(good, step{300, bad}),
			query{worker("retry_clock_skew_seconds"), "{{instance}}"}),
		lines(about{"Requests at the broker", "Requests that partitions received, and those that they dropped because of back-pressure.", "reqps"},
			query{"sum(rate(" + broker("zeebe_received_request_count_total") + "[$__rate_interval]))", "received"},
			// A series that begins with the first request that was dropped.
			query{"sum(rate(" + broker("zeebe_dropped_request_count_total") + "[$__rate_interval])) or 0 * sum(rate(" +
				broker("zeebe_received_request_count_total") + "[$__rate_interval]))", "dropped"}).
			Span(12),
		lines(about{"Open incidents", "At the broker, of any process.", "suffix: incidents"},
			query{"sum by (partition) (max by (namespace, partition) (" + broker("zeebe_pending_incidents_total") + "))", "partition {{partition}}"}).
			Span(12),
	}
}

// storage is what has to be kept and passed on.
func storage() []cog.Builder[dashboard.Panel] {
	return []cog.Builder[dashboard.Panel]{
		lines(about{"Events that wait", "Events in the outbox. Replicas of one store report the same number.", "suffix: events"},
			query{"max(" + worker("retry_outbox_pending") + ")", "waiting"}),
		bounded(about{"Age of the oldest event", "It alerts at 15 minutes. Decisions go on meanwhile.", "s"},
			steps(good, step{900, bad}),
			query{"max(" + worker("retry_outbox_oldest_seconds") + ")", "oldest"}),
		lines(about{"Events sent", "Events that the queue acknowledged, and sendings that it did not; those are repeated.", "cpm"},
			query{perMinute(worker("retry_events_published_total")), "published"},
			query{perMinute(worker("retry_events_failed_total")), "failed"}),
		lines(about{"Failed writes to the store", "Each was tried again. The tile Store above shows whether the store takes writes.", "cpm"},
			query{perMinute(worker("retry_store_errors_total")), "failed writes"}),
		bounded(about{"Audit trail intact", "Whether the last check found the trail in order; nothing before the first check.", "bool_yes_no"},
			steps(bad, step{1, good}),
			query{worker("retry_audit_intact"), "{{instance}}"}).
			Max(1),
		// 0 stands for "not yet".
		bounded(about{"Age of the last good check", "How long ago the audit trail was last found in order. It is checked 5 minutes after a start and then daily, and alerts after 2 days.", "s"},
			steps(good, step{172800, bad}),
			query{"time() - max(" + worker("retry_audit_verified_timestamp_seconds") + " > 0)", "since the check"}),
	}
}

// perDay is what people have to work on.
func perDay() []cog.Builder[dashboard.Panel] {
	return []cog.Builder[dashboard.Panel]{
		days(about{"Exhausted and permanent per day", "Claims that were given up because their retries were used up, or because of a permanent error, in the 24 hours before each bar.", "suffix: claims"},
			query{inLast("1d", ofPolicies("max_retries_exceeded_total")), "exhausted"},
			query{inLast("1d", ofPolicies("permanent_errors_total")), "permanent"}).
			Overrides(paint("exhausted", "purple", "permanent", bad)),
		days(about{"Dead letters per day, by policy", "What was given up and waits for a person, in the 24 hours before each bar. The row Claims shows how many are there now.", "suffix: dead letters"},
			query{inLast("1d", ofPolicies("retry_dead_letters_total"), "policy"), "{{policy}}"}),
	}
}

// chartMemory is the default of resources.limits.memory in the chart, in bytes.
const chartMemory = 128 << 20

// builds are what runs. Replicas that differ in version or policies decide differently.
func builds() []cog.Builder[dashboard.Panel] {
	return []cog.Builder[dashboard.Panel]{
		list(about{"Policies in force", "By how many replicas. A policy that is there in two versions: a replica did not reload.", "short"},
			"count by (policy, version) ("+worker("retry_policy_info")+")", "replicas"),
		list(about{"Targets of the policies", "By the KPI and the document that asks for it: shares from 0 to 1, times in seconds.", "short"},
			"max by (policy, kpi, source) ("+ofPolicies("retry_kpi_target")+")", "target"),
		list(about{"Versions of the worker", "By how many replicas.", "short"},
			"count by (version) ("+worker("retry_build_info")+")", "replicas").
			Span(4),
		now(about{"Youngest replica", "How long it has been running. Short again and again: something restarts it.", "s"},
			"time() - max("+worker("process_start_time_seconds")+")", steps(warn, step{300, good})).
			Height(8).Span(4),
		bounded(about{"Memory", "Resident memory, by replica. The chart's limit is 128 MiB: above it the container is killed.", "bytes"},
			steps(good, step{chartMemory, bad}),
			query{worker("process_resident_memory_bytes"), "{{instance}}"}).
			Span(12),
		lines(about{"CPU", "Cores in use, by replica.", "suffix: cores"},
			query{"rate(" + worker("process_cpu_seconds_total") + "[$__rate_interval])", "{{instance}}"}).
			Span(12),
	}
}
