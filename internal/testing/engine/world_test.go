package engine

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
)

// world is an engine, its clock and everything that it recorded.
type world struct {
	*testing.T
	*Engine
	clock   time.Time
	records []Record
}

// deploy returns an engine with these processes, which are drawn as in [draw]. The first one is P, the second one P2 and
// so on.
func deploy(t *testing.T, drawings ...string) *world {
	t.Helper()
	w := &world{T: t, Engine: New(), clock: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w.Out = func(r Record) { w.records = append(w.records, r) }
	for n, drawing := range drawings {
		w.deploys(n+1, drawing)
	}
	return w
}

func (w *world) deploys(n int, drawing string) *pb.DeployResourceResponse {
	w.Helper()
	id := "P"
	if n > 1 {
		id = fmt.Sprintf("P%d", n)
	}
	return do[*pb.DeployResourceResponse](w, &pb.DeployResourceRequest{
		Resources: []*pb.Resource{{Name: id + ".bpmn", Content: []byte(draw(id, drawing))}},
	})
}

// do wants a request to succeed, and returns its answer.
func do[A any](w *world, request any) A {
	w.Helper()
	answer, err := w.Do(w.clock, request)
	check.Must(w, err)
	return answer.(A)
}

// refuses wants a request to be refused with a code, and a text in the message.
func (w *world) refuses(request any, code codes.Code, text string) {
	w.Helper()
	_, err := w.Do(w.clock, request)
	if status.Code(err) != code || !strings.Contains(fmt.Sprint(err), text) {
		w.Errorf("got %v, want %v with %q", err, code, text)
	}
}

// start starts the process P and returns the key of the instance.
func (w *world) start(variables string) int64 {
	w.Helper()
	return do[*pb.CreateProcessInstanceResponse](w, &pb.CreateProcessInstanceRequest{
		BpmnProcessId: "P", Version: -1, Variables: variables,
	}).ProcessInstanceKey
}

// lockOfTests is how long a job is locked.
const lockOfTests = time.Minute

// jobs activates all jobs of a type.
func (w *world) jobs(kind string, fetch ...string) []*pb.ActivatedJob {
	w.Helper()
	return do[*pb.ActivateJobsResponse](w, &pb.ActivateJobsRequest{
		Type: kind, Worker: "w", Timeout: lockOfTests.Milliseconds(), MaxJobsToActivate: 100, FetchVariable: fetch,
	}).Jobs
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

// completes completes the one job of a type.
func (w *world) completes(kind, variables string) {
	w.Helper()
	do[*pb.CompleteJobResponse](w, &pb.CompleteJobRequest{JobKey: w.job(kind).Key, Variables: variables})
}

// throws throws an error at the one job of a type.
func (w *world) throws(kind, code, variables string) {
	w.Helper()
	do[*pb.ThrowErrorResponse](
		w,
		&pb.ThrowErrorRequest{JobKey: w.job(kind).Key, ErrorCode: code, Variables: variables},
	)
}

// fails fails the one job of a type.
func (w *world) fails(kind string, retries int32) *pb.ActivatedJob {
	w.Helper()
	j := w.job(kind)
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: j.Key, Retries: retries, ErrorMessage: "why"})
	return j
}

// publishes publishes a message that lives so long.
func (w *world) publishes(name, key, id string, ttl time.Duration) {
	w.Helper()
	do[*pb.PublishMessageResponse](w, &pb.PublishMessageRequest{
		Name: name, CorrelationKey: key, MessageId: id, TimeToLive: ttl.Milliseconds(), Variables: `{"said":"yes","id":"` + id + `"}`,
	})
}

// passes lets time pass.
func (w *world) passes(d time.Duration) {
	w.clock = w.clock.Add(d)
	w.Tick(w.clock)
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

// story is what happened, for the message of a failure.
func (w *world) story() string {
	var b strings.Builder
	for _, r := range w.records {
		fmt.Fprintf(&b, "\n%s %s %s %v", r.RecordType, r.ValueType, r.Intent, r.Value["elementId"])
	}
	return b.String()
}

// ended wants the process to have ended by these elements and no others, in this order.
func (w *world) ended(ids ...string) {
	w.Helper()
	var got []string
	for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_COMPLETED") {
		if r.Value["bpmnElementType"] == "END_EVENT" {
			got = append(got, r.Value["elementId"].(string))
		}
	}
	if !slices.Equal(got, ids) || len(w.instances) > 0 {
		w.Errorf("ended by %v with %d elements left, want %v; %s", got, len(w.instances), ids, w.story())
	}
}

// variable wants the variable of an element's scope to have a value at last, "" for none. Of an element that ran more than
// once the newest counts.
func (w *world) variable(element, name, value string) {
	w.Helper()
	scopes := map[int64]string{}
	for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_ACTIVATING") {
		scopes[r.Key] = r.Value["elementId"].(string)
	}
	got := ""
	for _, r := range w.records {
		if r.ValueType == "VARIABLE" && r.Value["name"] == name && scopes[r.Value["scopeKey"].(int64)] == element {
			got = r.Value["value"].(string)
		}
	}
	if got != value {
		w.Errorf("%s of %s is %s, want %s", name, element, got, value)
	}
}

// incident wants an open incident of a type at an element, and returns its key.
func (w *world) incident(kind, element string) int64 {
	w.Helper()
	r := w.last("INCIDENT", "CREATED")
	if r.Value["errorType"] != kind || r.Value["elementId"] != element || w.incidents[r.Key] == nil {
		w.Errorf("incident %v at %v, want %s at %s, open", r.Value["errorType"], r.Value["elementId"], kind, element)
	}
	return r.Key
}

func (w *world) resolves(incident int64) {
	w.Helper()
	do[*pb.ResolveIncidentResponse](w, &pb.ResolveIncidentRequest{IncidentKey: incident})
}

// sets sets variables of an instance, without looking outward.
func (w *world) sets(instance int64, variables string) {
	w.Helper()
	do[*pb.SetVariablesResponse](
		w,
		&pb.SetVariablesRequest{ElementInstanceKey: instance, Variables: variables, Local: true},
	)
}

var (
	arrow     = regexp.MustCompile(`^(\w+) > (\w+)(?: if '(.*)'| (default))?$`)
	word      = regexp.MustCompile(`^(\w+): (\w+)(.*)$`)
	attribute = regexp.MustCompile(`([\w.]+)='([^']*)'`)
)

// draw returns a model. A line is an element, "ID: kind name='value'", or a flow, "A > B", "A > B if '=condition'" or "A > B
// default". The lines between "Sub: sub" and "end Sub" are in a subprocess.
//
// Kinds: start, end, task, user, person (a user task that is a job), call, throw, choose (an exclusive gateway), await (an event-based gateway), catch, boundary,
// sub. Their attributes: type, retries and header of a task; error, timer, date, message and key of an event; on of a boundary
// event; process and propagate of a call; group and form of a user; items of a multi-instance. Any other one is an output
// mapping, or with "in." before its name an input mapping.
func draw(id, drawing string) string {
	var body, roots strings.Builder
	for line := range strings.Lines(drawing) {
		line = strings.TrimSpace(line)
		if m := arrow.FindStringSubmatch(line); m != nil {
			flow(&body, m)
		} else if m := word.FindStringSubmatch(line); m != nil {
			element(&body, &roots, drawing, m)
		} else if strings.HasPrefix(line, "end ") {
			body.WriteString("</subProcess>")
		}
	}
	return fmt.Sprintf(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="%s" isExecutable="true">%s</process>%s</definitions>`, id, body.String(), roots.String())
}

func flow(body *strings.Builder, m []string) {
	condition := ""
	if m[3] != "" {
		condition = "<conditionExpression>" + escape(m[3]) + "</conditionExpression>"
	}
	fmt.Fprintf(
		body,
		`<sequenceFlow id="%[1]s_%[2]s" sourceRef="%[1]s" targetRef="%[2]s">%[3]s</sequenceFlow>`,
		m[1],
		m[2],
		condition,
	)
}

var kinds = map[string]string{
	"start": "startEvent", "end": "endEvent", "task": "serviceTask", "user": "userTask", "person": "userTask", "call": "callActivity", "sub": "subProcess",
	"throw": "intermediateThrowEvent", "catch": "intermediateCatchEvent", "boundary": "boundaryEvent",
	"choose": "exclusiveGateway", "await": "eventBasedGateway",
}

func element(body, roots *strings.Builder, drawing string, m []string) {
	id, kind := m[1], kinds[m[2]]
	var attrs, extensions, mappings, inner string
	if d := regexp.MustCompile(`(?m)^\s*` + id + ` > (\w+) default`).FindStringSubmatch(drawing); d != nil {
		attrs += fmt.Sprintf(` default="%s_%s"`, id, d[1])
	}
	for _, to := range regexp.MustCompile(`(?m)^\s*`+id+` > (\w+)`).FindAllStringSubmatch(drawing, -1) {
		inner += fmt.Sprintf("<outgoing>%s_%s</outgoing>", id, to[1])
	}
	values := map[string]string{}
	for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
		name, value := a[1], escape(a[2])
		values[name] = value
		switch name {
		case "type", "retries", "message", "key", "propagate":
		case "on":
			attrs += fmt.Sprintf(` attachedToRef="%s"`, value)
		case "triggered":
			attrs += ` triggeredByEvent="true"`
		case "header":
			extensions += fmt.Sprintf(
				`<zeebe:taskHeaders><zeebe:header key="h" value="%s"/></zeebe:taskHeaders>`,
				value,
			)
		case "error":
			fmt.Fprintf(roots, `<error id="Error_%s" errorCode="%s"/>`, id, value)
			inner += fmt.Sprintf(`<errorEventDefinition errorRef="Error_%s"/>`, id)
		case "any":
			inner += `<errorEventDefinition/>`
		case "timer":
			inner += "<timerEventDefinition><timeDuration>" + value + "</timeDuration></timerEventDefinition>"
		case "date":
			inner += "<timerEventDefinition><timeDate>" + value + "</timeDate></timerEventDefinition>"
		case "group":
			extensions += fmt.Sprintf(`<zeebe:assignmentDefinition candidateGroups="%s"/>`, value)
			if m[2] == "user" {
				extensions += "<zeebe:userTask/>"
			}
		case "form":
			extensions += fmt.Sprintf(`<zeebe:formDefinition formId="%s"/>`, value)
		case "items":
			inner += fmt.Sprintf(`<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics `+
				`inputCollection="%s" inputElement="item"/></extensionElements></multiInstanceLoopCharacteristics>`, value)
		case "process":
			propagate := ""
			if p := regexp.MustCompile(`propagate='(\w+)'`).FindStringSubmatch(m[3]); p != nil {
				propagate = fmt.Sprintf(` propagateAllChildVariables="%s"`, p[1])
			}
			extensions += fmt.Sprintf(`<zeebe:calledElement processId="%s"%s/>`, value, propagate)
		default:
			direction := "output"
			if in, ok := strings.CutPrefix(name, "in."); ok {
				direction, name = "input", in
			}
			mappings += fmt.Sprintf(`<zeebe:%s source="%s" target="%s"/>`, direction, value, name)
		}
	}
	if kind == "serviceTask" {
		retries := ""
		if r, ok := values["retries"]; ok {
			retries = fmt.Sprintf(` retries="%s"`, r)
		}
		extensions += fmt.Sprintf(`<zeebe:taskDefinition type="%s"%s/>`, values["type"], retries)
	}
	if name, ok := values["message"]; ok {
		fmt.Fprintf(roots, `<message id="Message_%s" name="%s"><extensionElements><zeebe:subscription correlationKey="%s"/></extensionElements></message>`,
			id, name, values["key"])
		inner += fmt.Sprintf(`<messageEventDefinition messageRef="Message_%s"/>`, id)
	}
	if mappings != "" {
		extensions += "<zeebe:ioMapping>" + mappings + "</zeebe:ioMapping>"
	}
	fmt.Fprintf(body, `<%s id="%s"%s><extensionElements>%s</extensionElements>%s`, kind, id, attrs, extensions, inner)
	if kind != "subProcess" {
		fmt.Fprintf(body, "</%s>", kind)
	}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
