package history_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// models are those of the recorded broker.
var models = history.Models{
	Process:     "SUB_06",
	Submissions: map[history.Task]string{{Process: "SubmissionRetryProcess", Element: "Task_SubmitClaim"}: ""},
	Analyses:    []string{"analyze-retry"},
}

// recorded is what a broker recorded of four claims: one that is corrected by a team, one that is corrected
// by an operator, one that is left as an incident, and one that uses up all its retries.
func recorded(t *testing.T) []cluster.Record {
	t.Helper()
	raw, err := os.ReadFile("testdata/records.jsonl")
	check.Must(t, err)
	var records []cluster.Record
	for line := range bytes.Lines(raw) {
		var r cluster.Record
		check.Must(t, json.Unmarshal(line, &r))
		records = append(records, r)
	}
	return records
}

// replay returns the ledger of the records.
func replay(t *testing.T, records ...cluster.Record) *history.Ledger {
	t.Helper()
	l := history.NewLedger(models)
	check.Must(t, l.Add(records...))
	return l
}

func TestTheCalledProcessDoesNotEndTheClaim(t *testing.T) {
	records := recorded(t)
	for i, r := range records {
		if r.ValueType == "PROCESS_INSTANCE" && r.Intent == "ELEMENT_COMPLETED" {
			// The first is the end event of SubmissionRetryProcess, which has the same name as that of
			// SUB_06.
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

// The clock must not jump over the hour that a resubmission has for its record.
func TestATimerThatBoundsAJobIsNoWait(t *testing.T) {
	for i, records := 0, recorded(t); i < len(records); i++ {
		r := records[i]
		if r.ValueType != "TIMER" || r.Intent != "CREATED" || !strings.Contains(string(r.Value), "ResubmitUnrecorded") {
			continue
		}
		// The job is the next record. The play jumps only when no more records come.
		if due, waits := replay(t, records[:i+2]...).Claims()[0].At.Due(); waits {
			t.Errorf("the claim waits until %v", due)
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
		cluster.Record{RecordType: "COMMAND", ValueType: "PROCESS_INSTANCE", Intent: "ELEMENT_ACTIVATING", Value: value},
		cluster.Record{RecordType: "EVENT", ValueType: "PROCESS_INSTANCE", Intent: "ELEMENT_ACTIVATING", Value: other},
		cluster.Record{RecordType: "EVENT", ValueType: "JOB", Intent: "COMPLETED", Value: jobOfOther},
	)
	if claims := l.Claims(); len(claims) != 0 {
		t.Errorf("%d claims, want none", len(claims))
	}
}

// From 8.10 on a broker leaves the variables out of JOB COMPLETED. What a person answered is read in the same
// way.
func TestAnswersAreReadFromTheCommands(t *testing.T) {
	records := recorded(t)
	want := replay(t, records...).Claims()
	for i, r := range records {
		if r.RecordType != "EVENT" || r.ValueType != "JOB" && r.ValueType != "USER_TASK" {
			continue
		}
		var value map[string]any
		check.Must(t, json.Unmarshal(r.Value, &value))
		value["variables"] = map[string]any{}
		var err error
		records[i].Value, err = json.Marshal(value)
		check.Must(t, err)
	}
	if got := replay(t, records...).Claims(); !reflect.DeepEqual(got, want) {
		t.Errorf("without the variables of the events the claims are %+v, want %+v", got, want)
	}
	if want[0].Tries[0].Decision == nil || want[0].Tries[0].Decision.Class == "" {
		t.Errorf("the decisions are not among the records: %+v", want[0].Tries[0])
	}
}
