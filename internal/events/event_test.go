package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

const schemas = "../../docs/events"

// schema is the published schema of a type, and its example.
func schema(t *testing.T, kind string) (*jsonschema.Schema, any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(schemas, kind+".schema.json"))
	check.Must(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check.Must(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	name := "urn:analyze-retry:schema:" + kind
	check.Must(t, compiler.AddResource(name, document))
	compiled, err := compiler.Compile(name)
	check.Must(t, err)
	examples, _ := document.(map[string]any)["examples"].([]any)
	if len(examples) != 1 {
		t.Fatalf("the schema of %s has %d examples, want one", kind, len(examples))
	}
	return compiled, examples[0]
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

func parse(t check.TB, text []byte) any {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	check.Must(t, err)
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

func TestEveryEventFitsItsSchema(t *testing.T) {
	compiled := map[string]*jsonschema.Schema{}
	for _, r := range eventstest.Samples() {
		kind := fromRecord(t, &r).Type
		compiled[kind], _ = schema(t, kind)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := record(rt)
		event, err := events.FromRecord(&r)
		if err != nil {
			rt.Fatal(err)
		}
		if err := compiled[event.Type].Validate(parse(rt, event.JSON)); err != nil {
			rt.Fatalf("%v\n%s", err, event.JSON)
		}
		if again, _ := events.FromRecord(&r); !bytes.Equal(again.JSON, event.JSON) {
			rt.Fatal("the same record made two events")
		}
	})
}

// record is any record that the worker may write.
func record(t *rapid.T) audit.Record {
	r := rapid.SampledFrom(eventstest.Samples()).Draw(t, "sample")
	micros := rapid.Int64Range(0, 4102444800_000000)
	facts := map[string]any{}
	_ = json.Unmarshal([]byte(r.Variables), &facts)
	detail := map[string]any{}
	_ = json.Unmarshal([]byte(r.Detail), &detail)
	if r.ClaimID != "" {
		r.ClaimID = "CLM-" + rapid.StringMatching(`[^\pC\pZ]{0,20}`).Draw(t, "claim") + "-" + rapid.StringMatching(`[0-9]{1,12}`).Draw(t, "number")
		if rapid.Bool().Draw(t, "no claim") {
			r.ClaimID = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}`).Filter(retry.ValidID).Draw(t, "id")
		}
	} else if rapid.Bool().Draw(t, "claim known") {
		r.ClaimID = "CLM-1-1"
	}
	r.Cluster = rapid.String().Draw(t, "cluster")
	r.JobKey, r.ProcessInstanceKey = rapid.Int64().Draw(t, "job"), rapid.Int64().Draw(t, "instance")
	r.At = time.UnixMicro(micros.Draw(t, "at"))
	if r.Kind == audit.KindRetry {
		r.NextRetryTime = time.UnixMicro(micros.Draw(t, "next"))
		facts["backoffMinutes"] = rapid.IntRange(0, 1440).Draw(t, "minutes")
		facts["errorClassification"] = rapid.SampledFrom([]string{"TRANSIENT", "UNKNOWN"}).Draw(t, "class")
		if rapid.Bool().Draw(t, "no code") {
			facts["retryDecision"].(map[string]any)["matchedCode"] = ""
		}
	}
	if r.Kind.IsDecision() {
		detail["submissionError"] = rapid.String().Draw(t, "text")
		facts["retryCount"] = rapid.IntRange(0, 1<<31-1).Draw(t, "count")
	}
	if rapid.Bool().Draw(t, "first failure known") && (r.Kind.IsOutcome() || r.Kind == audit.KindRedriven || r.Kind == audit.KindExhausted) {
		detail["firstFailureTime"] = time.UnixMicro(micros.Draw(t, "first")).UTC()
	} else {
		delete(detail, "firstFailureTime")
	}
	if r.Kind.IsOutcome() && rapid.Bool().Draw(t, "said why") {
		detail["justification"], detail["decidedBy"] = rapid.StringN(0, 500, -1).Draw(t, "why"), rapid.StringN(0, 100, -1).Draw(t, "who")
		detail["redriveId"] = "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"
	}
	if (r.Kind == audit.KindExhausted || r.Kind == audit.KindPermanent) && rapid.Bool().Draw(t, "with somebody") {
		detail["with"] = rapid.StringMatching(`[a-z-]{1,30}`).Draw(t, "with")
	} else {
		delete(detail, "with")
	}
	if r.Kind == audit.KindRedriven && rapid.Bool().Draw(t, "waits") {
		detail["redriveWait"] = contract.ISODuration(time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "wait")) * time.Millisecond)
	}
	for _, name := range []string{"processId", "elementId", "steps"} {
		if rapid.Bool().Draw(t, "without "+name) {
			delete(detail, name)
		}
	}
	if len(facts) > 0 {
		r.Variables = text(facts)
	}
	r.Detail = text(detail)
	audit.NewChain(rapid.IntRange(0, 1000).Draw(t, "chain")).Link(&r)
	return r
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
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

func TestDurationIsLeftOutIfTheFirstFailureIsUnknown(t *testing.T) {
	r := eventstest.Samples()[1]
	at := func(first string) string {
		r.Detail = `{"submissionError":"503"` + first + `}`
		var got struct {
			Data struct{ TotalDuration *string }
		}
		check.Must(t, json.Unmarshal(fromRecord(t, &r).JSON, &got))
		if got.Data.TotalDuration == nil {
			return "none"
		}
		return *got.Data.TotalDuration
	}
	known := func(first time.Time) string {
		return fmt.Sprintf(`,"firstFailureTime":%q`, first.Format(time.RFC3339Nano))
	}
	for _, c := range []struct{ first, want string }{
		{"", "none"},
		{known(r.At.Add(-3*time.Hour - 6*time.Minute - 12345*time.Millisecond)), "PT3H6M12S"},
		{known(r.At.Add(-40 * time.Second)), "PT40S"},
		{known(r.At.Add(time.Minute)), "PT0S"}, // two replicas, two clocks
	} {
		check.Same(t, c.want, at(c.first), "totalDuration")
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

func BenchmarkFromRecord(b *testing.B) {
	r := eventstest.Samples()[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := events.FromRecord(&r); err != nil {
			b.Fatal(err)
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
	decision := contract.Of(&d, contract.JobType, lang.English)
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
		"the policy's own wait": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "weird"},
			kind: events.TypeScheduled, want: `"ruleId":"unknown","reason":"BACKOFF",`,
		},
		"a hint": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryAfter: retry.Hint{Source: retry.HintVariable, Until: until}},
			kind: events.TypeScheduled, want: `"reason":"HINT","hint":{"source":"VARIABLE","until":"2026-03-02T14:50:00Z"}`,
		},
		"variables that were ignored": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", Ignored: retry.Ignored{RetryAfter: retry.IgnoredUnreadable, LastSubmissionTime: retry.IgnoredYear}},
			kind: events.TypeScheduled, want: `"ignored":[{"variable":"lastSubmissionTime","reason":"YEAR"},{"variable":"retryAfter","reason":"UNREADABLE"}]`,
		},
		"a variable that was ignored before a stop": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM", Ignored: retry.Ignored{RetryAfter: retry.IgnoredType}},
			kind: events.TypePermanentError, want: `"ignored":[{"variable":"retryAfter","reason":"TYPE"}]`,
		},
		"a deadline that pulls forward": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryCount: 3, RetryUntil: until},
			kind: events.TypeScheduled, want: `"bounds":["DEADLINE"]`,
		},
		"a deadline that stops": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryUntil: eventstest.Began.Add(time.Minute)},
			kind: events.TypeMaxRetriesExceeded, want: `"reason":"DEADLINE","deadline":"2026-03-02T14:31:00Z"`,
		},
		"a count that is used up": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503", RetryCount: 5},
			kind: events.TypeMaxRetriesExceeded, want: `"reason":"COUNT"`,
		},
		"a claim that may have arrived": {
			policy: "tiss", request: retry.Request{ClaimID: "CLM-1-1", SubmissionError: "DUPLICATE_CLAIM"},
			kind: events.TypePermanentError, want: `"advice":"CHECK_STATUS"`,
		},
		"a permanent error without a code": {
			policy: "smtp", request: retry.Request{ClaimID: "mail/7", SubmissionError: "weird"},
			kind: events.TypePermanentError, want: `"errorType":"unknown"`,
		},
		"a job with overrides and waits of milliseconds": {
			policy: "job-queue", overrides: retry.Overrides{MaxRetries: &three, Base: 1250 * time.Millisecond, Max: time.Minute},
			request: retry.Request{ClaimID: "JOB-1", SubmissionError: "boom"},
			kind:    events.TypeScheduled, want: `"overrides":{"maxRetries":3,"base":"PT1.25S","max":"PT1M"}`,
		},
		"a wait of milliseconds with jitter": {
			policy: "smtp", request: retry.Request{ClaimID: "mail:8", SubmissionError: "421 later"},
			kind: events.TypeScheduled, want: `"backoffMinutes":1,"backoffDuration":"PT`,
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

func TestTheSchemasKnowEveryReasonToIgnoreAVariable(t *testing.T) {
	for _, reason := range []retry.IgnoredReason{retry.IgnoredType, retry.IgnoredUnreadable, retry.IgnoredYear} {
		for text, count := range map[string]int{"503": 0, "DUPLICATE_CLAIM": 0, "504": 5} { // one of each kind
			record := decidedBy(t, "tiss", retry.Overrides{}, retry.Request{
				ClaimID: "CLM-1-1", SubmissionError: text, RetryCount: count, Ignored: retry.Ignored{RetryAfter: reason, LastSubmissionTime: reason},
			})
			fits(t, fromRecord(t, &record))
		}
	}
}

// The older job type answers with less; the rest lies in the detail.
func TestEventDoesNotDependOnWhereTheExplanationIsKept(t *testing.T) {
	record := decidedBy(t, "tiss", retry.Overrides{}, retry.Request{ClaimID: "CLM-1-1", SubmissionError: "503 Retry-After: 900"})
	want := dataOf(t, &record)
	var variables, detail map[string]json.RawMessage
	for from, into := range map[*string]*map[string]json.RawMessage{&record.Variables: &variables, &record.Detail: &detail} {
		check.Must(t, json.Unmarshal([]byte(*from), into))
	}
	for _, name := range []string{"maxRetries", "errorClassification", "retryDecision"} {
		detail[name] = variables[name]
		delete(variables, name)
	}
	record.Variables, record.Detail = text(variables), text(detail)
	check.Same(t, want, dataOf(t, &record), "text")
}

// dataOf is an event's data without its place in the audit log.
func dataOf(t *testing.T, r *audit.Record) string {
	t.Helper()
	var event struct{ Data map[string]any }
	check.Must(t, json.Unmarshal(fromRecord(t, r).JSON, &event))
	delete(event.Data, "audit")
	return text(event.Data)
}

func TestEventOfAnOlderRecordLeavesOutWhatItLacks(t *testing.T) {
	newer := []string{"reason", "hint", "deadline", "advice", "bounds", "overrides", "ignored"}
	for _, r := range eventstest.Samples() {
		if !r.Kind.IsDecision() {
			continue
		}
		var facts map[string]any
		check.Must(t, json.Unmarshal([]byte(r.Variables), &facts))
		for _, name := range newer {
			delete(facts["retryDecision"].(map[string]any), name)
		}
		r.Variables = text(facts)
		for name := range fits(t, fromRecord(t, &r)).(map[string]any)["data"].(map[string]any) {
			if slices.Contains(newer, name) {
				t.Errorf("%s has %s, which its record does not know", r.Kind, name)
			}
		}
	}
}

func TestASchemaRefusesAnIDThatNoPolicyTakes(t *testing.T) {
	event := fromRecord(t, &eventstest.Samples()[0])
	for id, want := range map[string]bool{"JOB-1": true, "CLM-1-1": true, "a b": false, "-1": false, "maria@example.org": false, "": false} {
		schema, _ := schema(t, event.Type)
		changed := parse(t, event.JSON).(map[string]any)
		changed["subject"], changed["data"].(map[string]any)["claimId"] = id, id
		if got := schema.Validate(changed) == nil; got != want || retry.ValidID(id) != want {
			t.Errorf("%q: the schema says %t, the rule %t, want %t", id, got, retry.ValidID(id), want)
		}
	}
}
