package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine"
)

// witnessed is one record, of a real broker or of the engine.
type witnessed struct {
	Timestamp, Key                int64
	RecordType, ValueType, Intent string
	Value                         map[string]any
}

// kind is what happened.
func (r witnessed) kind() string { return r.ValueType + " " + r.Intent }

func (r witnessed) key(field string) int64 {
	number, _ := r.Value[field].(json.Number)
	key, _ := number.Int64()
	return key
}

func readWitnessed(t *testing.T, line []byte) (r witnessed) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber() // keys are too long for a float64
	check.Must(t, d.Decode(&r))
	return r
}

// A real Zeebe 8.5.8 recorded four claims: one corrected by a team, one corrected by an operator, one left as
// an incident, and one that used up all its retries. It is the only log of a real broker here. Do not make it
// anew from the engine.
func TestEngineRecordsWhatARealBrokerRecorded(t *testing.T) {
	raw, err := os.ReadFile("testdata/witness/records.jsonl")
	check.Must(t, err)
	check.Same(t, "f8d4a62b5d017b9603a4e9d669358ccefa55ea8a96174d00d4aeecdc42dc2b21",
		fmt.Sprintf("%x", sha256.Sum256(raw)), "sha256 of the log, which nobody may change")
	var want []witnessed
	for line := range bytes.Lines(raw) {
		want = append(want, readWitnessed(t, line))
	}
	w := &witness{T: t, engine: engine.New(), keys: map[string][]int64{}, known: map[int64]int64{}}
	w.engine.Out = w.record
	w.deploy(want[0].Timestamp)
	for _, r := range want {
		w.play(r)
	}
	seen := seenIn(want)
	claims, got := byClaim(seen, want), byClaim(seen, w.records)
	check.Same(t, 4, len(claims), "claims of the real broker")
	check.Same(t, len(claims), len(got), "claims of the engine")
	for i := range claims {
		if diff := cmp.Diff(claims[i], got[i]); diff != "" {
			t.Errorf("claim %d of the real broker (-) and of the engine (+):\n%s", i+1, diff)
		}
	}
}

// witness feeds an engine with the commands of another.
type witness struct {
	*testing.T
	engine  *engine.Engine
	records []witnessed
	// keys are the keys of the engine by what they belong to, in their order; known maps the other's keys to
	// them.
	keys  map[string][]int64
	known map[int64]int64
}

func (w *witness) record(r engine.Record) {
	line, err := json.Marshal(r)
	check.Must(w, err)
	w.records = append(w.records, readWitnessed(w.T, line))
	if of := begins(w.records[len(w.records)-1]); of != "" {
		w.keys[of] = append(w.keys[of], r.Key)
	}
}

// begins returns what begins with a record; "" for none.
func begins(r witnessed) string {
	isProcess := r.kind() == "PROCESS_INSTANCE ELEMENT_ACTIVATING" && r.Value["bpmnElementType"] == "PROCESS"
	if r.RecordType == "EVENT" && (isProcess || r.Intent == "CREATED") {
		return r.ValueType
	}
	return ""
}

func (w *witness) deploy(at int64) {
	files, err := filepath.Glob("testdata/witness/*.bpmn")
	check.Must(w, err)
	deploy := &pb.DeployResourceRequest{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		check.Must(w, err)
		deploy.Resources = append(deploy.Resources, &pb.Resource{Name: filepath.Base(file), Content: content})
	}
	w.do(at, deploy)
}

func (w *witness) do(at int64, command any) {
	w.Helper()
	_, err := w.engine.Do(time.UnixMilli(at), command)
	check.Must(w, err)
}

// play gives the engine the command that is in a record or led to it. The log has the commands of the
// players, but of those of the operator and the clock only what came of them.
func (w *witness) play(r witnessed) {
	w.Helper()
	text := func(field string) string { return fmt.Sprint(r.Value[field]) }
	variables, err := json.Marshal(r.Value["variables"])
	check.Must(w, err)
	retries, _ := r.Value["retries"].(json.Number)
	left, _ := retries.Int64()
	variable := fmt.Sprintf(`{%q:%s}`, r.Value["name"], r.Value["value"])
	key := w.known[r.Key]
	switch r.RecordType + " " + r.kind() {
	case "EVENT VARIABLE CREATED":
		if text("bpmnProcessId") == "SUB_06" && text("name") == "claimId" {
			process := &pb.CreateProcessInstanceRequest{BpmnProcessId: "SUB_06", Version: -1, Variables: variable}
			w.do(r.Timestamp, process)
		}
	case "EVENT VARIABLE UPDATED":
		if text("bpmnProcessId") == "SubmissionRetryProcess" && text("name") == "claimId" {
			instance := w.known[r.key("processInstanceKey")]
			w.do(r.Timestamp, &pb.SetVariablesRequest{ElementInstanceKey: instance, Variables: variable, Local: true})
		}
	case "COMMAND JOB COMPLETE":
		w.do(r.Timestamp, &pb.CompleteJobRequest{JobKey: key, Variables: string(variables)})
	case "COMMAND JOB THROW_ERROR":
		w.do(r.Timestamp, &pb.ThrowErrorRequest{
			JobKey: key, ErrorCode: text("errorCode"), ErrorMessage: text("errorMessage"),
			Variables: string(variables),
		})
	case "EVENT JOB FAILED":
		message := text("errorMessage")
		w.do(r.Timestamp, &pb.FailJobRequest{JobKey: key, Retries: int32(left), ErrorMessage: message})
	case "EVENT JOB RETRIES_UPDATED":
		w.do(r.Timestamp, &pb.UpdateJobRetriesRequest{JobKey: key, Retries: int32(left)})
	case "EVENT INCIDENT RESOLVED":
		w.do(r.Timestamp, &pb.ResolveIncidentRequest{IncidentKey: key})
	case "COMMAND USER_TASK COMPLETE":
		w.do(r.Timestamp, &engine.CompleteUserTask{Key: key, Variables: string(variables)})
	case "EVENT TIMER TRIGGERED":
		w.engine.Tick(time.UnixMilli(r.Timestamp))
	}
	if of := begins(r); of != "" && len(w.keys[of]) > 0 {
		w.known[r.Key], w.keys[of] = w.keys[of][0], w.keys[of][1:]
	}
}

// seen is what the log of the real broker holds: it was cut to what the demo reads.
type seen struct {
	kinds, elements, variables map[string]bool
	fields                     map[string]map[string]any // by type of value
}

func seenIn(records []witnessed) seen {
	s := seen{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]map[string]any{}}
	for _, r := range records {
		s.kinds[r.RecordType+" "+r.kind()] = true
		s.elements[fmt.Sprint(r.Value["bpmnElementType"])] = true
		s.variables[fmt.Sprint(r.Value["name"])] = true
		s.fields[r.ValueType] = r.Value
	}
	return s
}

func (s seen) has(r witnessed) bool {
	return r.RecordType == "EVENT" && s.kinds["EVENT "+r.kind()] &&
		(r.ValueType != "PROCESS_INSTANCE" || s.elements[fmt.Sprint(r.Value["bpmnElementType"])]) &&
		(r.ValueType != "VARIABLE" || s.variables[fmt.Sprint(r.Value["name"])])
}

// byClaim returns the events of each claim as lines. A key is what it is the first, second, third... of in
// its claim; the time at which something is due is the time until then.
func byClaim(s seen, records []witnessed) (lines [][]string) {
	claims := map[int64]int{} // by process instance
	var numbers []map[int64]int
	for _, r := range records {
		parent, called := claims[r.key("parentProcessInstanceKey")]
		if _, known := claims[r.key("processInstanceKey")]; called {
			claims[r.key("processInstanceKey")] = parent
		} else if !known && begins(r) == "PROCESS_INSTANCE" {
			claims[r.Key] = len(numbers)
			lines, numbers = append(lines, nil), append(numbers, map[int64]int{-1: -1})
		}
	}
	for _, r := range records {
		claim, known := claims[r.key("processInstanceKey")]
		if !known || !s.has(r) {
			continue
		}
		number := func(key int64) int {
			if _, known := numbers[claim][key]; !known {
				numbers[claim][key] = len(numbers[claim])
			}
			return numbers[claim][key]
		}
		line := fmt.Sprintf("%s %d:", r.kind(), number(r.Key))
		for _, field := range slices.Sorted(maps.Keys(s.fields[r.ValueType])) {
			value := r.Value[field]
			switch {
			case strings.HasSuffix(field, "Key"):
				value = number(r.key(field))
			case field == "dueDate" && r.ValueType == "TIMER":
				due := time.Duration(r.key(field)-r.Timestamp) * time.Millisecond
				value = due.Round(time.Second)
			}
			text, _ := json.Marshal(value)
			line += fmt.Sprintf(" %s=%s", field, text)
		}
		lines[claim] = append(lines[claim], line)
	}
	return lines
}
