package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
)

// A fact of testdata/facts is a heading, processes as in [draw], and steps, each one of [world.step] or of
// [world.expect]. A step after "! CODE" is refused with that code of gRPC.
func TestFacts(t *testing.T) {
	files, err := filepath.Glob("testdata/facts/*.txt")
	check.Must(t, err)
	check.Same(t, 5, len(files), "files of facts")
	for _, file := range files {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		for fact := range strings.SplitSeq(string(text), "\n\n") {
			name, steps, _ := strings.Cut(fact, "\n")
			t.Run(strings.TrimPrefix(name, "# "), func(t *testing.T) { newWorld(t).play(steps) })
		}
	}
}

// world is an engine, its clock and everything that it recorded.
type world struct {
	*testing.T
	*Engine
	clock   time.Time
	records []Record
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Engine: New(), clock: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w.Out = func(r Record) { w.records = append(w.records, r) }
	return w
}

// play takes the steps of a fact.
func (w *world) play(steps string) {
	w.Helper()
	lines := strings.Split(strings.TrimSpace(steps), "\n")
	for n := 0; n < len(lines); n++ {
		line := lines[n]
		var indented []string
		for ; n+1 < len(lines) && strings.HasPrefix(lines[n+1], "\t"); n++ {
			indented = append(indented, lines[n+1])
		}
		want, step := "OK", line
		if refused, is := strings.CutPrefix(line, "! "); is {
			want, step, _ = strings.Cut(refused, " ")
		}
		args := append(strings.Fields(step), "", "", "", "", "")
		err := w.step(args[0], args[1:], strings.Join(indented, "\n"))
		if code := status.Code(err).String(); code != want {
			w.Fatalf("%s: %v; %s", line, err, w.story())
		}
	}
}

// story is what happened, for the message of a failure.
func (w *world) story() string {
	var b strings.Builder
	for _, r := range w.records {
		fmt.Fprintf(&b, "\n%s %s %s %v", r.RecordType, r.ValueType, r.Intent, r.Value["elementId"])
	}
	return b.String()
}

func (w *world) step(name string, args []string, drawing string) error {
	w.Helper()
	switch name {
	case "process": // ID
		return w.deploys(args[0]+".bpmn", draw(args[0], drawing))
	case "form": // ID TEXT
		return w.deploys(args[0]+".form", fmt.Sprintf(`{"id":%q,"text":%q}`, args[0], args[1]))
	case "start": // [PROCESS] VARIABLES
		id, variables := "P", args[0]
		if args[1] != "" {
			id, variables = args[0], args[1]
		}
		return w.does(&pb.CreateProcessInstanceRequest{BpmnProcessId: id, Version: -1, Variables: variables})
	case "cancel": // PROCESS
		return w.does(&pb.CancelProcessInstanceRequest{ProcessInstanceKey: w.newest(args[0])})
	case "set", "set-outward": // ELEMENT VARIABLES
		return w.does(&pb.SetVariablesRequest{
			ElementInstanceKey: w.newest(args[0]), Variables: args[1], Local: name == "set",
		})
	case "complete": // TYPE VARIABLES
		return w.does(&pb.CompleteJobRequest{JobKey: w.job(args[0]).Key, Variables: args[1]})
	case "throw": // TYPE CODE VARIABLES
		return w.does(&pb.ThrowErrorRequest{
			JobKey: w.job(args[0]).Key, ErrorCode: args[1], ErrorMessage: "why", Variables: args[2],
		})
	case "fail": // TYPE RETRIES PAUSE VARIABLES
		return w.does(&pb.FailJobRequest{
			JobKey: w.job(args[0]).Key, Retries: w.number(args[1]), RetryBackOff: w.duration(args[2]).Milliseconds(),
			ErrorMessage: "why", Variables: args[3],
		})
	case "give-retries": // N
		return w.does(&pb.UpdateJobRetriesRequest{JobKey: w.last("JOB", "CREATED").Key, Retries: w.number(args[0])})
	case "person": // VARIABLES: completes the newest user task
		return w.does(&CompleteUserTask{Key: w.last("USER_TASK", "CREATED").Key, Variables: args[0]})
	case "publish": // NAME KEY ID TIME-TO-LIVE
		return w.does(&pb.PublishMessageRequest{
			Name: args[0], CorrelationKey: args[1], MessageId: args[2], TimeToLive: w.duration(args[3]).Milliseconds(),
			Variables: `{"id":"` + args[2] + `"}`,
		})
	case "resolve":
		return w.does(&pb.ResolveIncidentRequest{IncidentKey: w.last("INCIDENT", "CREATED").Key})
	case "pass": // DURATION
		w.clock = w.clock.Add(w.duration(args[0]))
		w.Tick(w.clock)
	default:
		w.expect(name, args)
	}
	return nil
}

// expect looks at what there is.
func (w *world) expect(name string, args []string) {
	w.Helper()
	switch args = slices.DeleteFunc(args, func(s string) bool { return s == "" }); name {
	case "jobs": // TYPE N: so many can be activated
		check.Same(w, args[1], strconv.Itoa(len(w.jobs(args[0]))), "jobs")
	case "job": // TYPE VARIABLES NAMES: the one that there is has these variables, of those with these names
		check.Same(w, args[1], w.job(args[0], args[2:]...).Variables, "variables")
	case "retries": // N, of the newest job
		jobs := w.last("JOB_BATCH", "ACTIVATED").Value["jobs"].([]Value)
		check.Same(w, args[0], fmt.Sprint(jobs[0]["retries"]), "retries")
	case "incident": // TYPE ELEMENT TEXT: the newest one is open, and says this
		r := w.last("INCIDENT", "CREATED")
		if w.incidents[r.Key] == nil || r.Value["errorType"] != args[0] || r.Value["elementId"] != args[1] ||
			!strings.Contains(r.Value["errorMessage"].(string), strings.Join(args[2:], " ")) {
			w.Fatalf("the newest incident is %v, want %s", r.Value, args)
		}
	case "count": // VALUE-TYPE INTENT N: so many events there were
		check.Same(w, args[2], strconv.Itoa(len(w.find(args[0], args[1]))), "%s", args)
	case "ended": // ELEMENTS: the end events so far
		var ends []string
		for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_COMPLETED") {
			if r.Value["bpmnElementType"] == "END_EVENT" {
				ends = append(ends, r.Value["elementId"].(string))
			}
		}
		check.Same(w, strings.Join(args, " "), strings.Join(ends, " "), "end events")
	case "order": // INTENTS: the events so far that have one of them
		var intents []string
		for _, r := range w.records {
			if slices.Contains(args, r.Intent) {
				intents = append(intents, r.Intent)
			}
		}
		check.Same(w, args, intents, "order")
	case "var": // ELEMENT NAME VALUE: of the element's newest scope, or none
		value, scope := "none", w.newest(args[0])
		for _, r := range w.records {
			if r.ValueType == "VARIABLE" && r.Value["name"] == args[1] && r.Value["scopeKey"] == scope {
				value = r.Value["value"].(string)
			}
		}
		check.Same(w, args[2], value, "%s of %s", args[1], args[0])
	default:
		w.Fatalf("%s is no step", name)
	}
}

// does makes a request.
func (w *world) does(request any) error {
	_, err := w.Do(w.clock, request)
	return err
}

func (w *world) deploys(name, content string) error {
	return w.does(&pb.DeployResourceRequest{Resources: []*pb.Resource{{Name: name, Content: []byte(content)}}})
}

// jobs activates all jobs of a type, for a minute.
func (w *world) jobs(kind string, fetch ...string) []*pb.ActivatedJob {
	w.Helper()
	answer, err := w.Do(w.clock, &pb.ActivateJobsRequest{
		Type: kind, Timeout: time.Minute.Milliseconds(), MaxJobsToActivate: 100, FetchVariable: fetch,
	})
	check.Must(w, err)
	return answer.(*pb.ActivateJobsResponse).Jobs
}

// job activates the one job of a type.
func (w *world) job(kind string, fetch ...string) *pb.ActivatedJob {
	w.Helper()
	jobs := w.jobs(kind, fetch...)
	if len(jobs) != 1 {
		w.Fatalf("%d jobs of type %s, want one; %s", len(jobs), kind, w.story())
	}
	return jobs[0]
}

// find returns the events of a type.
func (w *world) find(valueType, intent string) []Record {
	return slices.DeleteFunc(slices.Clone(w.records), func(r Record) bool {
		return r.RecordType != "EVENT" || r.ValueType != valueType || r.Intent != intent
	})
}

// last returns the newest event of a type.
func (w *world) last(valueType, intent string) Record {
	w.Helper()
	all := w.find(valueType, intent)
	if len(all) == 0 {
		w.Fatalf("there is no %s %s; %s", valueType, intent, w.story())
	}
	return all[len(all)-1]
}

// newest returns the key of the newest instance of an element, or of a process; 0 for none.
func (w *world) newest(id string) (key int64) {
	for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_ACTIVATING") {
		if r.Value["elementId"] == id {
			key = r.Key
		}
	}
	return key
}

func (w *world) number(text string) int32 {
	w.Helper()
	n, err := strconv.ParseInt(text, 10, 32)
	check.Must(w, err)
	return int32(n)
}

func (w *world) duration(text string) (d time.Duration) {
	w.Helper()
	if text != "" {
		var err error
		d, err = time.ParseDuration(text)
		check.Must(w, err)
	}
	return d
}
