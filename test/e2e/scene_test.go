package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// patience bounds every wait for something that is to happen. Most take milliseconds; a machine may be busy.
const patience = 3 * time.Minute

// scene is the stage of one test: a broker, and helpers that end the test where the broker does not do what the story
// says.
type scene struct {
	*testing.T
	broker *broker
	// since is the position of the last record from before the test. Older ones are not looked at.
	since int64
}

// withoutWorker sets the scene.
func withoutWorker(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, broker: newBroker(t)}
	records, err := s.broker.Records()
	s.must(err)
	if len(records) > 0 {
		s.since = records[len(records)-1].Position
	}
	return s
}

// withWorker sets the scene with one worker. The worker is not asked whether it is ready: for up
// to a minute after its clock was moved Camunda's broker calls its partition unhealthy, though it works on.
func withWorker(t *testing.T) *scene {
	t.Helper()
	s := withoutWorker(t)
	s.startWorker()
	return s
}

// part runs a part of the test on the same scene.
func (s *scene) part(name string, story func(*scene)) {
	s.Helper()
	s.Run(name, func(t *testing.T) { story(&scene{t, s.broker, s.since}) })
}

// within bounds one step of the story.
func (s *scene) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Context(), d)
}

// until waits for a condition; describe says what was seen last.
func (s *scene) until(what string, done func() bool, describe func() string) {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	for !done() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			s.Fatalf("not within %v: %s; %s", patience, what, describe())
		}
	}
}

// must ends the test on an error.
func (s *scene) must(err error) {
	s.Helper()
	check.Must(s, err)
}

// event is something that happened at the broker, as its exporters saw it.
type event struct {
	cluster.Record
	fields
}

// fields are those parts of a record's value that the tests look at; which ones are set depends on the type of value.
type fields struct {
	ProcessInstanceKey       int64
	ParentProcessInstanceKey int64
	BpmnProcessID            string
	BpmnElementType          string
	ElementID                string
	ElementInstanceKey       int64
	TargetElementID          string
	ScopeKey                 int64
	Name                     string
	VariableValue            string `json:"value"`
	Type                     string
	JobKey                   int64
	ErrorType                string
	ErrorMessage             string
	Retries                  int32
	Variables                json.RawMessage
	DueDate                  any // a number of a timer, a text of a user task
	CandidateGroupsList      []string
	FormKey                  int64 // of a user task: the form that was deployed for it
}

// at is when it happened, on the broker's clock.
func (e event) at() time.Time { return time.UnixMilli(e.Timestamp) }

// due is when a timer is to fire, on the broker's clock.
func (e event) due() time.Time {
	millis, _ := e.DueDate.(float64)
	return time.UnixMilli(int64(millis))
}

// parse reads a record as an event of the given type; it is none where it is a command, a rejection or of another type.
func parse(r cluster.Record, valueType, intent string) (e event, ok bool) {
	if r.RecordType != "EVENT" || r.ValueType != valueType || r.Intent != intent {
		return event{}, false
	}
	e.Record = r
	return e, json.Unmarshal(r.Value, &e.fields) == nil
}

// await returns the first event of this type in the test that match accepts, past or to come.
func (s *scene) await(what, valueType, intent string, match func(event) bool) event {
	s.Helper()
	return s.awaitAfter(s.since, what, valueType, intent, match)
}

// awaitAfter is await for the records after a position.
func (s *scene) awaitAfter(position int64, what, valueType, intent string, match func(event) bool) event {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	var found event
	_, err := s.broker.AwaitRecord(ctx, func(r cluster.Record) (ok bool) {
		if r.Position > position {
			found, ok = parse(r, valueType, intent)
		}
		return ok && match(found)
	})
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
	return found
}

// events returns what has happened in the test so far, oldest first.
func (s *scene) events(valueType, intent string, match func(event) bool) []event {
	s.Helper()
	records, err := s.broker.Records()
	s.must(err)
	var found []event
	first, _ := slices.BinarySearchFunc(records, s.since+1, func(r cluster.Record, position int64) int { return cmp.Compare(r.Position, position) })
	for _, r := range records[first:] {
		if e, ok := parse(r, valueType, intent); ok && match(e) {
			found = append(found, e)
		}
	}
	return found
}

// answer returns the variables that a job was completed with, or its error thrown with, which e is the event of. They are read from
// the command: from 8.10 on a broker leaves them out of the event.
func (s *scene) answer(e event) string {
	s.Helper()
	records, err := s.broker.Records()
	s.must(err)
	i := slices.IndexFunc(records, func(r cluster.Record) bool { return r.Position == e.SourceRecordPosition })
	if i < 0 || records[i].RecordType != "COMMAND" || records[i].ValueType != "JOB" || records[i].Key != e.Key {
		s.Fatalf("the command behind %s of job %d, at position %d, is not among the records", e.Intent, e.Key, e.SourceRecordPosition)
	}
	var command fields
	s.must(json.Unmarshal(records[i].Value, &command))
	return string(command.Variables)
}

// advance moves the broker's clock. Timers that fall due fire; long polls that are open end.
func (s *scene) advance(d time.Duration) {
	s.Helper()
	_, err := s.broker.Advance(s.Context(), d)
	s.must(err)
}

// clock is the time at the broker.
func (s *scene) clock() time.Time {
	s.Helper()
	now, err := s.broker.Now(s.Context())
	s.must(err)
	return now
}
