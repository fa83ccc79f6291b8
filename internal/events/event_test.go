package events_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
	"hospital.example/analyze-retry/internal/text"
)

const schemas = "../../docs/events"

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

// testdata/sdk.jsonl is what the CloudEvents SDK for Go, v2.16.2, writes of two samples, one of them without a claim.
func TestEventsHaveTheBytesOfTheCloudEventsSDK(t *testing.T) {
	want, err := os.ReadFile("testdata/sdk.jsonl")
	check.Must(t, err)
	var got []byte
	for _, r := range eventstest.Samples() {
		if e := fromRecord(t, &r); bytes.Contains(want, []byte(`"id":"`+e.ID+`"`)) {
			got = append(append(got, e.JSON...), '\n')
		}
	}
	check.Same(t, string(want), string(got), "events")
}

func TestASchemaRefusesWhatItDoesNotName(t *testing.T) {
	for _, r := range eventstest.Samples() {
		event := fromRecord(t, &r)
		schema, _ := schema(t, event.Type)
		for what, change := range map[string]func(event, data map[string]any){
			"another name in the data":  func(_, data map[string]any) { data["patientName"] = "x" },
			"no claim or key":           func(_, data map[string]any) { delete(data, "jobKey") },
			"a key as a number":         func(_, data map[string]any) { data["jobKey"] = 2251799813685300 },
			"a time without a zone":     func(event, _ map[string]any) { event["time"] = "2026-03-02T14:30:00" },
			"another type":              func(event, _ map[string]any) { event["type"] = "retry.scheduled.v1" },
			"no place in the audit":     func(_, data map[string]any) { delete(data, "audit") },
			"another version of layout": func(_, data map[string]any) { data["version"] = 4 },
		} {
			changed := parse(t, event.JSON).(map[string]any)
			change(changed, changed["data"].(map[string]any))
			if schema.Validate(changed) == nil {
				t.Errorf("%s passes with %s", event.Type, what)
			}
		}
	}
}

func TestEventNamesItsAuditPositionAndTheUndeliveredEvent(t *testing.T) {
	records := eventstest.Samples()
	undelivered := slices.IndexFunc(records, func(r audit.Record) bool { return r.Kind == audit.KindUndelivered })
	first, last := fromRecord(t, &records[0]), records[undelivered]
	var got struct {
		Data struct {
			Audit struct {
				Chain, Seq int64
				Hash       string
			}
			UndeliveredHash, UndeliveredEventID string
		}
	}
	check.Must(t, json.Unmarshal(fromRecord(t, &last).JSON, &got))
	if a := got.Data.Audit; a.Chain != 1 || a.Seq != last.Seq || a.Hash != last.Hash.String() {
		t.Errorf("audit %+v, want chain 1, seq %d, hash %s", a, last.Seq, last.Hash)
	}
	if got.Data.UndeliveredEventID != first.ID || got.Data.UndeliveredHash != records[0].Hash.String() {
		t.Errorf("undelivered %s %s, want the first event %s", got.Data.UndeliveredEventID, got.Data.UndeliveredHash, first.ID)
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

// decidedBy is the record of a real decision, as the worker's older job type writes it or the other one.
func decidedBy(t *testing.T, policyName string, o retry.Overrides, r retry.Request) audit.Record {
	t.Helper()
	p, err := policy.BuiltIn(policyName).With(o)
	check.Must(t, err)
	d, err := p.Decide(r, eventstest.Began)
	check.Must(t, err)
	record := eventstest.Scheduled(r.ClaimID, eventstest.Began)
	record.Kind = audit.KindOf(d.Outcome)
	record.NextRetryTime = d.NextRetryTime
	decision := contract.Of(&d, contract.JobType, text.English)
	record.Variables, _ = contract.Encode(contract.JobType, &decision, &contract.Detail{})
	audit.NewChain(1).Link(&record)
	return record
}

func TestEventOfARealDecisionShowsItsReason(t *testing.T) {
	until := eventstest.Began.Add(20 * time.Minute)
	three := 3
	for what, test := range map[string]struct {
		policy    string
		overrides retry.Overrides
		request   retry.Request
		kind      string
		want      string // part of the event
	}{
		"a hint": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryAfter: retry.Hint{Source: retry.HintVariable, Until: until}},
			kind: events.TypeScheduled, want: `"reason":"HINT","hint":{"source":"VARIABLE","until":"2026-03-02T14:50:00Z"}`,
		},
		"variables that were ignored": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", Ignored: retry.Ignored{RetryAfter: retry.IgnoredUnreadable, LastSubmissionTime: retry.IgnoredYear}},
			kind: events.TypeScheduled, want: `"ignored":[{"variable":"lastSubmissionTime","reason":"YEAR"},{"variable":"retryAfter","reason":"UNREADABLE"}]`,
		},
		"a deadline that stops": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryUntil: eventstest.Began.Add(time.Minute)},
			kind: events.TypeMaxRetriesExceeded, want: `"reason":"DEADLINE","deadline":"2026-03-02T14:31:00Z"`,
		},
		"a claim that may have arrived": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM"},
			kind: events.TypePermanentError, want: `"advice":"CHECK_STATUS"`,
		},
		"a job with overrides and waits of milliseconds": {
			policy: "job-queue", overrides: retry.Overrides{MaxRetries: &three, Base: 1250 * time.Millisecond, Max: time.Minute},
			request: retry.Request{ClaimID: "JOB-1", SubmissionError: "boom"},
			kind:    events.TypeScheduled, want: `"overrides":{"maxRetries":3,"base":"PT1.25S","max":"PT1M"}`,
		},
	} {
		record := decidedBy(t, test.policy, test.overrides, test.request)
		event := fromRecord(t, &record)
		fits(t, event)
		if event.Type != test.kind || !strings.Contains(string(event.JSON), test.want) {
			t.Errorf("%s: %q is not in the %s %s", what, test.want, event.Type, event.JSON)
		}
	}
}
