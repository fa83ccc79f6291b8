package grafana

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
)

// shares of the decisions of the chosen policies, over a window. The jobs of RN-BIL-004 (retry-submission-backoff) have metrics of their own, which
// are added; they do not count their attempts, so each of their decisions counts as a claim.
type shares struct{ window string }

func (s shares) sum(metric string, matchers ...string) string {
	return inLast(s.window, ofPolicies(metric, matchers...))
}

// decisions are all of them.
func (s shares) decisions() string {
	return "(" + s.sum("retry_scheduled_total") + " + " + s.sum("max_retries_exceeded_total") + " + " + s.sum("permanent_errors_total") +
		" + " + s.sum("error_classification_distribution") + ")"
}

// permanent is the share of the decisions that found a permanent error.
func (s shares) permanent() string {
	return "(" + s.sum("permanent_errors_total") + " + " + s.sum("error_classification_distribution", `classification="PERMANENT"`) + ")" +
		" / " + s.decisions()
}

// unknown is the share of the decisions about errors that no rule knows.
func (s shares) unknown() string {
	return "(" + s.sum("retry_scheduled_total", `classification="UNKNOWN"`) + " + " + s.sum("error_classification_distribution", `classification="UNKNOWN"`) + ")" +
		" / " + s.decisions()
}

// exhausted is the share of the claims whose retries were used up. A claim with a decision has a first retry or a permanent
// error; one that had both counts twice.
func (s shares) exhausted() string {
	return "(" + s.sum("max_retries_exceeded_total") + " + " + s.sum("submission_retry_max_exceeded") + ")" +
		" / (" + s.sum("retry_scheduled_total", `attempt="1"`) + " + " + s.sum("permanent_errors_total") +
		" + " + s.sum("error_classification_distribution") + ")"
}

// kpis are those of RN-BIL-005 and RN-BIL-004, section VI, each with its target in the title and as its threshold: what meets it
// is green. The targets are those of tiss; the last panel has those of every policy.
func kpis() []cog.Builder[dashboard.Panel] {
	s := shares{"$__range"}
	kpi := func(p *stat.PanelBuilder) *stat.PanelBuilder {
		return p.Height(5).Span(4).ColorMode(common.BigValueColorModeValue)
	}
	return []cog.Builder[dashboard.Panel]{
		// Every replica of one store reports the same number, so it is not summed.
		kpi(now(about{"Success after retry (target ≥ 80 %)", "Share of the retried claims that were accepted, of those that ended in the last 24 hours, whatever the time range, of the chosen policy with the lowest. RN-BIL-004 asks for 85 %.", "percentunit"},
			"min(max by (namespace, policy) ("+ofPolicies("retry_success_rate")+"))", steps(bad, step{0.8, good}))).
			NoValue("no claim yet").Decimals(0).Min(0).Max(1),
		kpi(total(about{"Mean time to success (target ≤ 2 h)", "From the first failure to the acceptance, of claims that had a retry.", "s"},
			selector(ofPolicies).mean("retry_time_to_success_seconds", "$__range"), steps(good, step{7200, bad}))).
			NoValue("no claim yet"),
		kpi(total(about{"Median time to success (target ≤ 60 min)", "Half of the claims that had a retry were accepted within this time. It is read from buckets, so it is rough.", "s"},
			selector(ofPolicies).quantile(0.5, "retry_time_to_success_seconds", "$__range"), steps(good, step{3600, bad}))).
			NoValue("no claim yet"),
		kpi(total(about{"Permanent errors (target < 10 %)", "Share of the decisions that found an error no retry can mend. Above 15 % it is critical.", "percentunit"},
			s.permanent(), steps(good, step{0.1, warn}, step{0.15, bad}))).
			NoValue("no claim yet").Decimals(1),
		kpi(total(about{"Exhausted (target < 5 %)", "Share of the claims with an error whose retries were used up. RN-BIL-004 asks for 3 %, of the retried ones.", "percentunit"},
			s.exhausted(), steps(good, step{0.05, bad}))).
			NoValue("no claim yet").Decimals(1),
		kpi(total(about{"Mean attempts to success (target ≤ 1.2)", "Submissions until a claim was accepted, the first included. It is of all policies, because claims that were accepted at once have none, and count.", "short"},
			selector(worker).mean("retry_attempts_to_success", "$__range"), steps(good, step{1.2, bad}))).
			NoValue("no claim yet").Decimals(2),
	}
}
