package chaos

import (
	"encoding/json"
	"fmt"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
)

// outsiders are values of an optional variable as insurers' systems and gateways write them, or as nobody should. Those that
// are ignored have a reason.
var outsiders = []struct{ variable, reason, value string }{
	{"retryAfter", "", `""`},
	{"retryAfter", "", `" "`},
	{"retryAfter", "", `120`},
	{"retryAfter", "", `"120"`},
	{"retryAfter", "", `" 120 "`},
	{"retryAfter", "", `1.5`},
	{"retryAfter", "", `"292.052427053"`},
	{"retryAfter", "", `"60s"`},
	{"retryAfter", "", `"1m0s"`},
	{"retryAfter", "", `"370ms"`},
	{"retryAfter", "", `"5m"`},
	{"retryAfter", "", `"2 min"`},
	{"retryAfter", "", `"90 segundos"`},
	{"retryAfter", "", `"PT60S"`},
	{"retryAfter", "", `"P1DT12H"`},
	{"retryAfter", "", `"120, 120"`},
	{"retryAfter", "", `"60, 120"`},
	{"retryAfter", "", `1e20`},
	{"retryAfter", "", `1795266000`},
	{"retryAfter", "", `1795266000000`},
	{"retryAfter", "", `"Wed, 21 Oct 2026 07:28:00 GMT"`},
	{"retryAfter", "", `"Wed, 21 Oct 2026 07:28:00 UTC"`},
	{"retryAfter", "", `"Wed, 21 Oct 2099 04:28:00 -0300"`},
	{"retryAfter", "", `"Wednesday, 21-Oct-26 07:28:00 GMT"`},
	{"retryAfter", "", `"Wed Oct 21 07:28:00 2026"`},
	{"retryAfter", "", `"2099-10-21 07:28:00"`},
	{"retryAfter", "NEGATIVE", `-1`},
	{"retryAfter", "NEGATIVE", `"-60s"`},
	{"retryAfter", "AMBIGUOUS", `"1,5"`},
	{"retryAfter", "AMBIGUOUS", `"1 h, 30 min"`},
	{"retryAfter", "YEAR", `"0001-01-01T00:00:00Z"`},
	{"retryAfter", "YEAR", `"Thu, 01 Jan 1970 00:00:00 GMT"`},
	{"retryAfter", "UNREADABLE", `"soon"`},
	{"retryAfter", "UNREADABLE", `"null"`},
	{"retryAfter", "UNREADABLE", `"00:02:00"`},
	{"retryAfter", "UNREADABLE", `"P1Y"`},
	{"retryAfter", "TYPE", `true`},
	{"retryAfter", "TYPE", `[120]`},
	{"retryAfter", "TYPE", `{"seconds":120}`},
	{"lastSubmissionTime", "", `""`},
	{"lastSubmissionTime", "", `"2026-11-21 10:00:00"`},
	{"lastSubmissionTime", "", `"2026-11-21T10:00:00-0300"`},
	{"lastSubmissionTime", "", `"2026-11-21 13:00:00+00"`},
	{"lastSubmissionTime", "", `"2026-11-21T10:00:00,5"`},
	{"lastSubmissionTime", "", `"2026-11-21T13:00:00Z[Etc/UTC]"`},
	{"lastSubmissionTime", "", `"2026-11-21"`},
	{"lastSubmissionTime", "", `"21/11/2026 10:00:00"`},
	{"lastSubmissionTime", "", `"Sat, 21 Nov 2026 13:00:00 GMT"`},
	{"lastSubmissionTime", "", `"Sat Nov 21 10:00:00 BRT 2026"`},
	{"lastSubmissionTime", "", `"20261121100000-0300"`},
	{"lastSubmissionTime", "", `1795266000`},
	{"lastSubmissionTime", "", `1795266000000`},
	{"lastSubmissionTime", "", `"1795266000000"`},
	{"lastSubmissionTime", "NEGATIVE", `-1`},
	{"lastSubmissionTime", "YEAR", `0`},
	{"lastSubmissionTime", "YEAR", `"0001-01-01T00:00:00Z"`},
	{"lastSubmissionTime", "YEAR", `"9999-12-31T23:59:59Z"`},
	{"lastSubmissionTime", "UNREADABLE", `"yesterday"`},
	{"lastSubmissionTime", "UNREADABLE", `"11/21/2026 10:00:00 AM"`},
	{"lastSubmissionTime", "TYPE", `false`},
	{"lastSubmissionTime", "TYPE", `[2026,11,21,10,0]`},
	{"lastSubmissionTime", "TYPE", `{"year":2026}`},
}

// Row 40. The guard is that what another system wrote is read generously, and where it cannot be read is left out of the
// decision instead of refused. Seen to fail without: where a value that cannot be read is a fault of the job, as one of
// retryUntil is, 22 of the 62 jobs become incidents.
func TestOddRetryAfterAndLastSubmissionTimeMakeNoIncident(t *testing.T) {
	r := newRig(t, setup{row: 40, what: "insurers' odd Retry-After and lastSubmissionTime", store: inSQLite})
	reasons := map[string]string{}
	for i, o := range outsiders {
		c := claim{ID: fmt.Sprintf("CLM-%s-%d", r.name, i), Error: passing[i%len(passing)], kind: audit.KindRetry}
		reasons[c.ID] = o.reason
		r.submitOne(c, map[string]any{"claimId": c.ID, "submissionError": c.Error, "retryCount": 0, o.variable: json.RawMessage(o.value)})
	}
	r.start()
	records := invariants(r)
	decided, ignored := 0, 0
	for key, job := range r.ledger.jobs {
		if job.fate != "COMPLETED" {
			t.Errorf("job %d became %s %q", key, job.fate, job.message)
			continue
		}
		decided++
		facts, err := records[key][0].Facts()
		r.must(err)
		id, got := records[key][0].ClaimID, ""
		for _, one := range facts.RetryDecision.Ignored {
			got += string(one.Reason)
			ignored++
		}
		if got != reasons[id] {
			t.Errorf("claim %s: %q is kept as the reason to ignore it, want %q", id, got, reasons[id])
		}
	}
	warned, counted := r.logged("input_ignored"), sample(r.workers[0].scraped, "retry_input_ignored_total")
	if warned != ignored || counted != float64(ignored) {
		t.Errorf("%d values were ignored, %d warned of, %g counted", ignored, warned, counted)
	}
	r.happened(decided, "odd values decided")
	r.happened(ignored, "of them ignored")
}
