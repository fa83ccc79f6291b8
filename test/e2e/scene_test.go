package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// patience bounds every wait for something that is to happen. Most take milliseconds; a machine may be busy.
const patience = 3 * time.Minute

// scene is the stage of one test: a broker with a worker, and helpers that end the test where they do not do what the story
// says.
type scene struct {
	*testing.T
	broker  *cluster.Cluster
	program suite.Program // the worker at the broker, with a store of its own
	worker  *suite.Worker
}

// newScene connects to the cluster that the environment names, one test at a time, or starts an engine for the test, and
// starts a worker there, with further settings if there are any. The models are there: that of the tests is deployed directly,
// the bundled ones by the worker's own command.
//
// The worker is not asked whether it is ready: for up to a minute after its clock was moved Camunda's broker calls its
// partition unhealthy, though it works on. When the test ends the worker is stopped, and must then end well.
func newScene(t *testing.T, settings ...string) *scene {
	t.Helper()
	broker, err := cluster.FromEnv()
	if broker == nil && err == nil {
		t.Parallel()
		broker, err = cluster.Start()
	}
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, broker.Stop()) })
	s := &scene{T: t, broker: broker}
	s.program = suite.NewProgram(binary, broker.Address(), append(settings,
		"RETRY_MAX_CLOCK_SKEW=87600h", // the tests move the broker's clock through days of waiting
		"RETRY_DATABASE_URL=sqlite://"+filepath.Join(t.TempDir(), "store.db"))...)
	check.Must(t, broker.Deploy(t.Context(), "testdata/one-task.bpmn"))
	s.says(0, "", "deploy")
	if overREST(t) {
		s.program.Settings = append(s.program.Settings, "ZEEBE_ADDRESS="+broker.RESTURL())
	}
	log := filepath.Join(logs, strings.ReplaceAll(t.Name(), "/", "-")+".log")
	s.worker, err = s.program.Start(t.Context(), log)
	check.Must(t, err)
	t.Cleanup(func() {
		if s.worker.Alive() {
			s.stopsWorker()
		}
		if t.Failed() {
			t.Logf("the worker's log ends with:\n%s", process.LogTail(log))
		}
	})
	return s
}

// stopsWorker sends SIGTERM and waits for the end, which must be a good one.
func (s *scene) stopsWorker() {
	s.Helper()
	if err := s.worker.Stop(); err != nil {
		s.Errorf("the worker after SIGTERM: %v", err)
	}
}

// says runs a command of the worker next to the one that works. It must end with this exit code and print these words.
func (s *scene) says(code int, words string, args ...string) {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	got, text, err := s.program.Says(ctx, args...)
	s.must(err)
	if got != code || !strings.Contains(strings.Join(strings.Fields(text), " "), words) {
		s.Fatalf("worker %v: exit code %d, want %d with %q:\n%s", args, got, code, words, text)
	}
}

// shows fails the test unless this is a line of the worker's metrics.
func (s *scene) shows(line string) {
	s.Helper()
	if _, text := s.worker.Get(s.Context(), "/metrics"); !slices.Contains(strings.Split(text, "\n"), line) {
		s.Errorf("the metrics lack the line %q:\n%s", line, text)
	}
}

// example puts models of the examples on the broker, with the forms that they link.
func (s *scene) example(names ...string) {
	s.Helper()
	files := []string{"../../examples/review-job.form", "../../bpmn/review-claim.form"}
	for _, name := range names {
		files = append(files, filepath.Join("../../examples", name))
	}
	s.must(s.broker.Deploy(s.Context(), files...))
}

// variant puts a model on the broker that differs from the one of the tests by these replacements: old, new, old, new, ...
func (s *scene) variant(oldNew ...string) {
	s.Helper()
	text, err := os.ReadFile("testdata/one-task.bpmn")
	s.must(err)
	file := filepath.Join(s.TempDir(), "variant.bpmn")
	s.must(os.WriteFile(file, []byte(strings.NewReplacer(oldNew...).Replace(string(text))), 0o600))
	s.must(s.broker.Deploy(s.Context(), file))
}

// within bounds one step of the story.
func (s *scene) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Context(), d)
}

// must ends the test on an error.
func (s *scene) must(err error) {
	s.Helper()
	check.Must(s, err)
}

// event is something that happened at the broker, as its exporters saw it.
type event = cluster.Record

// await returns the first event of this type that match accepts, past or to come.
func (s *scene) await(what, valueType, intent string, match func(event) bool) event {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	found, err := s.broker.AwaitRecord(ctx, func(e event) bool { return e.Is(valueType, intent) && match(e) })
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
	return found
}

// events returns what has happened so far, oldest first.
func (s *scene) events(valueType, intent string, match func(event) bool) []event {
	s.Helper()
	records, err := s.broker.Records()
	s.must(err)
	return slices.DeleteFunc(slices.Clone(records), func(e event) bool { return !e.Is(valueType, intent) || !match(e) })
}

// answer returns the variables that a job was completed with, or its error thrown with, which e is the event of. They are read from
// the command: from 8.10 on a broker leaves them out of the event.
func (s *scene) answer(e event) string {
	s.Helper()
	records, err := s.broker.Records()
	s.must(err)
	i := slices.IndexFunc(records, func(r event) bool { return r.Position == e.SourceRecordPosition })
	if i < 0 || records[i].RecordType != "COMMAND" || records[i].ValueType != "JOB" || records[i].Key != e.Key {
		s.Fatalf("the command behind %s of job %d, at position %d, is not among the records", e.Intent, e.Key, e.SourceRecordPosition)
	}
	return string(records[i].Variables)
}

// advance moves the broker's clock. Timers that fall due fire; long polls that are open end.
func (s *scene) advance(d time.Duration) {
	s.Helper()
	s.must(s.broker.Advance(s.Context(), d))
}

// clock is the time at the broker.
func (s *scene) clock() time.Time {
	s.Helper()
	now, err := s.broker.Now(s.Context())
	s.must(err)
	return now
}
