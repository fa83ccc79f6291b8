package history_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// recorded is what a broker recorded of four claims: one that is corrected by a team, one that is corrected by an
// operator, one that is left as an incident, and one that uses up all its retries.
func recorded(t *testing.T) []devbroker.Record {
	t.Helper()
	raw, err := os.ReadFile("testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var records []devbroker.Record
	for line := range bytes.Lines(raw) {
		var r devbroker.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// replay returns the ledger of the records.
func replay(t *testing.T, records ...devbroker.Record) *history.Ledger {
	t.Helper()
	l := history.NewLedger()
	if err := l.Add(records...); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheCalledProcessDoesNotEndTheClaim(t *testing.T) {
	records := recorded(t)
	for i, r := range records {
		if r.ValueType == "PROCESS_INSTANCE" && r.Intent == "ELEMENT_COMPLETED" {
			// The first is the end event of SubmissionRetryProcess, which has the same name as that of SUB_06.
			for _, c := range replay(t, records[:i+1]...).Claims() {
				if c.End != "" {
					t.Errorf("the claim %d ended %s", c.Instance, c.End)
				}
			}
			return
		}
	}
	t.Fatal("nothing was completed")
}

func TestAClaimIsWhereItsLastRecordLeftIt(t *testing.T) {
	records := recorded(t)
	upTo := func(valueType, intent string) (*history.Ledger, devbroker.Record, *history.Claim) {
		for i, r := range records {
			if r.RecordType == "EVENT" && r.ValueType == valueType && r.Intent == intent {
				l := replay(t, records[:i+1]...)
				var in struct{ ProcessInstanceKey int64 }
				if err := json.Unmarshal(r.Value, &in); err != nil {
					t.Fatal(err)
				}
				return l, r, l.Claim(in.ProcessInstanceKey)
			}
		}
		t.Fatalf("no record %s %s", valueType, intent)
		return nil, devbroker.Record{}, nil
	}
	if _, r, c := upTo("JOB", "CREATED"); c.At.Job == nil || c.At.Job.Key != r.Key || c.At.Job.Type != history.SubmitClaim {
		t.Errorf("after its job was created the claim is at %+v", c.At)
	}
	if _, _, c := upTo("JOB", "COMPLETED"); c.At.Job != nil {
		t.Errorf("after its job was completed the claim is at %+v", c.At)
	}
	if _, r, c := upTo("INCIDENT", "CREATED"); c.At.Incident == nil || c.At.Incident.Key != r.Key {
		t.Errorf("after its incident the claim is at %+v", c.At)
	}
	l, r, c := upTo("TIMER", "CREATED")
	var timer struct{ DueDate int64 }
	if err := json.Unmarshal(r.Value, &timer); err != nil {
		t.Fatal(err)
	}
	if due, ok := l.NextDue(); !ok || due.UnixMilli() != timer.DueDate || !c.At.Due.Equal(due) {
		t.Errorf("the next timer is due at %v (%v), the record says %d", due, ok, timer.DueDate)
	}
	if _, _, c := upTo("TIMER", "TRIGGERED"); !c.At.Due.IsZero() {
		t.Errorf("after its timer the claim is at %+v", c.At)
	}
}

func TestTheNextTimerIsTheEarliestOfThoseThatRun(t *testing.T) {
	l, running := history.NewLedger(), map[int64]int64{}
	for _, r := range recorded(t) {
		if err := l.Add(r); err != nil {
			t.Fatal(err)
		}
		if r.ValueType != "TIMER" {
			continue
		}
		var timer struct {
			DueDate         int64
			TargetElementID string
		}
		if err := json.Unmarshal(r.Value, &timer); err != nil {
			t.Fatal(err)
		}
		if timer.TargetElementID != "Event_WaitBackoff" {
			continue
		}
		running[r.Key] = timer.DueDate
		if r.Intent != "CREATED" {
			delete(running, r.Key)
		}
		want := slices.Sorted(maps.Values(running))
		due, ok := l.NextDue()
		if ok != (len(want) > 0) || ok && due.UnixMilli() != want[0] {
			t.Fatalf("at position %d the next timer is due at %v (%v), the records have %v", r.Position, due, ok, want)
		}
	}
	if len(running) > 0 {
		t.Errorf("%d timers run after all is over", len(running))
	}
}

// The clock must not jump over the hour that a resubmission has for its record.
func TestATimerThatBoundsAJobIsNoWait(t *testing.T) {
	for i, records := 0, recorded(t); i < len(records); i++ {
		r := records[i]
		if r.ValueType != "TIMER" || r.Intent != "CREATED" || !strings.Contains(string(r.Value), "ResubmitUnrecorded") {
			continue
		}
		if c := replay(t, records[:i+1]...).Claims()[0]; !c.At.Due.IsZero() {
			t.Errorf("the claim waits until %v", c.At.Due)
		}
		return
	}
	t.Fatal("no timer bounds the record of a resubmission")
}

func TestCommandsAndOtherProcessesAreLeftOut(t *testing.T) {
	value := json.RawMessage(`{"bpmnProcessId":"SUB_06","bpmnElementType":"PROCESS","processInstanceKey":7}`)
	other := json.RawMessage(`{"bpmnProcessId":"OTHER","bpmnElementType":"PROCESS","processInstanceKey":8}`)
	jobOfOther := json.RawMessage(`{"type":"other","processInstanceKey":8,"variables":{}}`)
	l := replay(t,
		devbroker.Record{RecordType: "COMMAND", ValueType: "PROCESS_INSTANCE", Intent: "ELEMENT_ACTIVATING", Value: value},
		devbroker.Record{RecordType: "EVENT", ValueType: "PROCESS_INSTANCE", Intent: "ELEMENT_ACTIVATING", Value: other},
		devbroker.Record{RecordType: "EVENT", ValueType: "JOB", Intent: "COMPLETED", Value: jobOfOther},
	)
	if claims := l.Claims(); len(claims) != 0 {
		t.Errorf("%d claims, want none", len(claims))
	}
}

func TestAJobOfAnotherTypeIsNoSubmission(t *testing.T) {
	c := replay(t,
		devbroker.Record{
			RecordType: "EVENT", ValueType: "PROCESS_INSTANCE", Intent: "ELEMENT_ACTIVATING",
			Value: json.RawMessage(`{"bpmnProcessId":"SUB_06","bpmnElementType":"PROCESS","processInstanceKey":7}`),
		},
		devbroker.Record{
			RecordType: "EVENT", ValueType: "JOB", Intent: "COMPLETED",
			Value: json.RawMessage(`{"type":"print","processInstanceKey":7,"variables":{}}`),
		},
	).Claim(7)
	if len(c.Tries) != 0 {
		t.Errorf("%d submissions, want none", len(c.Tries))
	}
}

func TestARecordThatCannotBeReadIsNamed(t *testing.T) {
	err := history.NewLedger().Add(devbroker.Record{
		Position: 42, RecordType: "EVENT", ValueType: "JOB", Intent: "CREATED", Value: json.RawMessage(`[]`),
	})
	if err == nil || !strings.Contains(err.Error(), "position 42") {
		t.Errorf("error %v, want one that names position 42", err)
	}
}
