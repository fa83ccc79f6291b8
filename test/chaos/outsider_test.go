package chaos

import (
	"encoding/json"
	"fmt"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
)

// outsiders are values of an optional variable, as JSON, that insurers' systems and gateways write, or that nobody should. Those
// that are ignored have a reason.
var outsiders = []struct {
	variable, reason string
	values           []string
}{
	{"retryAfter", "", []string{
		`""`, `" "`, `120`, `"120"`, `" 120 "`, `1.5`, `1e20`, `"PT60S"`, `"P1DT12H"`, `"Wed, 21 Oct 2026 07:28:00 GMT"`,
		`"Wednesday, 21-Oct-26 07:28:00 GMT"`, `"Wed Oct 21 07:28:00 2026"`, `"2099-10-21 07:28:00"`, `"21/10/2099 07:28"`,
	}},
	{"retryAfter", "YEAR", []string{`"0001-01-01T00:00:00Z"`, `"Thu, 01 Jan 1970 00:00:00 GMT"`}},
	{"retryAfter", "UNREADABLE", []string{`"soon"`, `"null"`, `-1`, `"60s"`, `"1,5"`, `"120, 120"`, `"00:02:00"`, `"P1Y"`}},
	{"retryAfter", "TYPE", []string{`true`, `[120]`, `{"seconds":120}`}},
	{"lastSubmissionTime", "", []string{
		`""`, `"2026-11-21 10:00:00"`, `"2026-11-21T10:00:00.5"`, `"2026-11-21T10:00:00-03:00"`, `"2026-11-21T13:00:00Z[Etc/UTC]"`,
		`"21/11/2026 10:00:00"`, `"Sat, 21 Nov 2026 13:00:00 GMT"`, `1795266000`,
	}},
	{"lastSubmissionTime", "YEAR", []string{`0`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`}},
	{"lastSubmissionTime", "UNREADABLE", []string{`"yesterday"`, `-1`, `"20261121100000-0300"`, `"11/21/2026 10:00:00 AM"`}},
	{"lastSubmissionTime", "TYPE", []string{`false`, `[2026,11,21,10,0]`, `{"year":2026}`}},
}

// Row 40. The guard is that what another system wrote is read generously, and where it cannot be read is left out of the
// decision instead of refused. Seen to fail without: where a value that cannot be read is a fault of the job, as one of
// retryUntil is, every job with such a value becomes an incident.
func TestOddRetryAfterAndLastSubmissionTimeMakeNoIncident(t *testing.T) {
	r := newRig(t, setup{row: 40, what: "insurers' unusual Retry-After and lastSubmissionTime", store: inSQLite})
	reasons := map[string]string{}
	for _, o := range outsiders {
		for _, value := range o.values {
			i := len(reasons)
			c := claim{ID: fmt.Sprintf("CLM-%s-%d", r.name, i), Error: passing[i%len(passing)], kind: audit.KindRetry}
			reasons[c.ID] = o.reason
			r.submitOne(c, map[string]any{"claimId": c.ID, "submissionError": c.Error, "retryCount": 0, o.variable: json.RawMessage(value)})
		}
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
	if warned := r.logged("input_ignored"); warned != ignored {
		t.Errorf("%d values were ignored, %d warned of", ignored, warned)
	}
	r.happened(decided, "unusual values decided")
	r.happened(ignored, "of them ignored")
}
