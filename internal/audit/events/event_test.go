package events_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

const schemas = "../../../docs/events"

// schema is the published schema of a type, and its example.
func schema(t *testing.T, kind string) (*jsonschema.Resolved, any) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(schemas, kind+".schema.json"))
	check.Must(t, err)
	var s jsonschema.Schema
	check.Must(t, json.Unmarshal(file, &s))
	resolved, err := s.Resolve(nil)
	check.Must(t, err)
	if len(s.Examples) != 1 {
		t.Fatalf("the schema of %s has %d examples, want one", kind, len(s.Examples))
	}
	return resolved, s.Examples[0]
}

// fits fails the test unless the event is valid by the schema of its type, and returns it parsed.
func fits(t *testing.T, e events.Event) any {
	t.Helper()
	compiled, _ := schema(t, e.Type)
	parsed := parse(t, e.JSON)
	if err := compiled.Validate(parsed); err != nil {
		t.Errorf("%s: %v", e.JSON, err)
	}
	return parsed
}

func fromRecord(t *testing.T, r *audit.Record) events.Event {
	t.Helper()
	event, err := events.FromRecord(r)
	check.Must(t, err)
	return event
}

func parse(t check.TB, s []byte) (value any) {
	check.Must(t, json.Unmarshal(s, &value))
	return value
}

// One sample of each type, the first of its kind, is the example in its schema: a change of the layout shows here.
func TestTheExampleOfEverySchemaIsWhatIsSent(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range eventstest.Samples() {
		event := fromRecord(t, &r)
		sent := fits(t, event)
		if seen[event.Type] {
			continue
		}
		schema, example := schema(t, event.Type)
		seen[event.Type] = true
		if err := schema.Validate(example); err != nil {
			t.Errorf("the example of %s: %v", event.Type, err)
		}
		check.Same(t, example, sent, "%s: the example and what is sent, %s", event.Type, event.JSON)
	}
	seen[events.TypeAuditHead] = true // TestEventOfTheHeadsFitsItsSchema
	files, err := filepath.Glob(filepath.Join(schemas, "*.schema.json"))
	if err != nil || len(files) != len(seen) {
		t.Errorf("%d schemas for %d types (%v)", len(files), len(seen), err)
	}
}

func TestASchemaRefusesWhatItDoesNotName(t *testing.T) {
	for _, r := range eventstest.Samples() {
		event := fromRecord(t, &r)
		schema, _ := schema(t, event.Type)
		for what, change := range map[string]func(event, data map[string]any){
			"another name in the data":  func(_, data map[string]any) { data["patientName"] = "x" },
			"no key":                    func(_, data map[string]any) { delete(data, "jobKey") },
			"a key as a number":         func(_, data map[string]any) { data["jobKey"] = 2251799813685300 },
			"a time without a zone":     func(event, _ map[string]any) { event["time"] = "2026-03-02T14:30:00" },
			"another type":              func(event, _ map[string]any) { event["type"] = "retry.scheduled.v1" },
			"no place in the audit":     func(_, data map[string]any) { delete(data, "audit") },
			"another version of layout": func(_, data map[string]any) { data["version"] = 3 },
		} {
			changed := parse(t, event.JSON).(map[string]any)
			change(changed, changed["data"].(map[string]any))
			if schema.Validate(changed) == nil {
				t.Errorf("%s passes with %s", event.Type, what)
			}
		}
	}
}

// RN-BIL-005 section 12.3 fixes the names; all else is the record.
func TestEventHasTheNamesOfTheRuleAndTheRecordAsStored(t *testing.T) {
	names := map[audit.Kind][]string{
		audit.KindRetry:     {"claimId", "retryCount", "maxRetries", "backoffMinutes", "nextRetryTime", "errorClassification", "scheduledAt", "version"},
		audit.KindExhausted: {"claimId", "finalError", "totalAttempts", "totalDuration", "exceededAt", "severity"},
		audit.KindPermanent: {"claimId", "errorType", "errorMessage", "detectedAt", "severity"},
	}
	for _, r := range eventstest.Samples() {
		data := parse(t, fromRecord(t, &r).JSON).(map[string]any)["data"].(map[string]any)
		for _, name := range names[r.Kind] {
			if data[name] == nil {
				t.Errorf("%s: %s is missing in %v", r.Kind, name, data)
			}
		}
		place := map[string]any{"chain": 1.0, "seq": float64(r.Seq), "hash": r.Hash.String()}
		check.Same(t, any(place), data["audit"], "%s: audit", r.Kind)
		for name, stored := range map[string]string{"variables": r.Variables, "detail": r.Detail} {
			if stored != "" {
				check.Same(t, parse(t, []byte(stored)), data[name], "%s: %s", r.Kind, name)
			}
		}
	}
}

func TestARecordThatIsNoneOfOursIsNoEvent(t *testing.T) {
	good := eventstest.Samples()[0]
	for what, change := range map[string]func(*audit.Record){
		"an unknown kind":     func(r *audit.Record) { r.Kind = 99 },
		"variables cut short": func(r *audit.Record) { r.Variables = r.Variables[:40] },
		"no kind":             func(r *audit.Record) { r.Kind = 0 },
	} {
		r := good
		change(&r)
		if _, err := events.FromRecord(&r); err == nil || !strings.Contains(err.Error(), "audit record 1") {
			t.Errorf("%s: error %v, want one that names the record", what, err)
		}
	}
}

func TestEventOfARealDecisionFitsItsSchema(t *testing.T) {
	deadline := eventstest.Began.Add(time.Minute)
	for _, jobType := range []string{contract.JobType, contract.BackoffJobType} {
		for _, request := range []retry.Request{
			{ClaimID: "CLM-1-1", SubmissionError: "503", RetryAfter: retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(20 * time.Minute)}},
			{ClaimID: "CLM-1-1", SubmissionError: "503", RetryUntil: deadline},
			{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM"},
		} {
			d := policy.BuiltIn("tiss").Decide(request, eventstest.Began)
			record := eventstest.Scheduled(request.ClaimID, eventstest.Began)
			record.Kind, record.NextRetryTime = audit.KindOf(string(d.Outcome)), d.NextRetryTime
			decision := contract.Of(&d, jobType, text.English)
			record.Variables, record.Detail = decision.Encode(), (&contract.Detail{SubmissionError: request.SubmissionError}).Encode()
			chain := audit.Beginning(1)
			chain.Link(&record)
			fits(t, fromRecord(t, &record))
		}
	}
}
