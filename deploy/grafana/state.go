package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// state says at a glance whether a person has to get up. What is not green has a runbook.
func state() []cog.Builder[dashboard.Panel] {
	worst := func(gauge string) string { return "min(" + worker(gauge) + ")" }
	return []cog.Builder[dashboard.Panel]{
		now(about{"Workers", "Replicas that Prometheus reaches. None: no claim is decided.", "none"},
			"sum("+worker("up")+")", steps(bad, step{1, good})),
		light(about{"Gateway", "Whether the polls of every replica come through to the Zeebe gateway.", "short"},
			worst("retry_gateway_up"), "up", "DOWN", ""),
		light(about{"Broker", "Whether every partition has a healthy leader, as the gateway reports to each replica.", "short"},
			worst("retry_broker_up"), "up", "DOWN", ""),
		light(about{"Store", "Whether the audit store takes writes of every replica. Without it nothing is decided.", "short"},
			worst("retry_store_up"), "up", "DOWN", ""),
		light(about{"Audit trail", "The last check of the audit trail. BROKEN: a record was changed, removed or added past the worker; copy the store before anything else. The first check comes 5 minutes after a start.", "short"},
			worst("retry_audit_intact"), "intact", "BROKEN", "unchecked"),
		light(about{"Policies", "Whether every replica has in force what its policies file says, or kept the old ones because the file is broken.", "short"},
			worst("retry_policies_last_reload_successful"), "as filed", "OLD", ""),
		now(about{"Oldest event", "How long the oldest event has waited for the queue. It alerts at 15 minutes.", "s"},
			"max("+worker("retry_outbox_oldest_seconds")+")", steps(good, step{60, warn}, step{900, bad})),
		now(about{"Clock skew", "The greatest difference between the clocks of broker and worker. It alerts at 5 minutes: times in the audit trail would be wrong, waits are not. At RETRY_MAX_CLOCK_SKEW (24 hours) nothing is decided any more.", "s"},
			"max(abs("+worker("retry_clock_skew_seconds")+"))", steps(good, step{60, warn}, step{300, bad})).
			Decimals(1),

		now(about{"Active jobs", "Active jobs as a share of their limit, of the replica and job type with the largest share. At 100 % the worker activates no more.", "percentunit"},
			"max("+worker("retry_jobs_active")+" / "+worker("retry_jobs_active_limit")+")", steps(good, step{0.8, warn}, step{1, bad})).
			Decimals(0),
		now(about{"Polls that failed", "Share of the polls for jobs that did not come through, of all replicas.", "percentunit"},
			"sum(rate("+worker("retry_polls_total", `code!="OK"`)+"[$__rate_interval])) / sum(rate("+worker("retry_polls_total")+"[$__rate_interval]))",
			steps(good, step{0.05, warn}, step{0.5, bad})).
			Decimals(0),
		// The broker's series begin with their first event; 0 stands for "none yet" only where the broker is scraped.
		now(about{"Jobs timed out", "In 10 minutes, as the broker counts. A worker took them and did not answer in time; the broker gives them out again.", "none"},
			inLast("10m", broker("zeebe_job_events_total", `type=~"$job_type"`, `action="timed out"`))+" or 0 * sum("+broker("zeebe_health")+")",
			steps(good, step{1, warn}, step{50, bad})).
			Decimals(0),
		now(about{"Open incidents", "At the broker, of any process. The claims behind them stand still until a person resolves them.", "none"},
			"sum(max by (namespace, partition) ("+broker("zeebe_pending_incidents_total")+"))", steps(good, step{1, warn}, step{10, bad})),
		total(about{"Incidents raised", "By the worker in the time range: input that cannot be decided, which a person has to correct.", "none"},
			inRange(worker("retry_incidents_raised_total")), steps(good, step{1, warn}, step{10, bad})).
			Decimals(0),
		total(about{"Panics", "Calls of a handler that panicked or hung, in the time range. The worker goes on; the job loses a retry.", "none"},
			inRange(worker("retry_panics_total")), steps(good, step{0.5, bad})).
			Decimals(0),
		total(about{"Store errors", "Writes to the audit store that failed and were tried again, in the time range.", "none"},
			inRange(worker("retry_store_errors_total")), steps(good, step{1, warn}, step{10, bad})).
			Decimals(0),
		total(about{"Job keys reused", "Jobs whose key is stored with another process instance. Not 0: the broker's data was wiped, or two clusters have one name.", "none"},
			inRange(worker("retry_job_key_reused_total")), steps(good, step{0.5, bad})).
			Decimals(0),
	}
}
