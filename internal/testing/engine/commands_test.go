package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

// files returns a deployment of files by name.
func files(pairs ...string) *pb.DeployResourceRequest {
	r := &pb.DeployResourceRequest{}
	for n := 0; n < len(pairs); n += 2 {
		r.Resources = append(r.Resources, &pb.Resource{Name: pairs[n], Content: []byte(pairs[n+1])})
	}
	return r
}

func TestAFileThatHasNotChangedKeepsItsVersion(t *testing.T) {
	w := deploy(t)
	model, form := draw("P", oneTask), `{"id":"f"}`
	deployed := func(r *pb.DeployResourceRequest) (versions []int32, keys []int64) {
		for _, d := range do[*pb.DeployResourceResponse](w, r).Deployments {
			versions = append(versions, d.GetProcess().GetVersion()+d.GetForm().GetVersion())
			keys = append(keys, d.GetProcess().GetProcessDefinitionKey()+d.GetForm().GetFormKey())
		}
		return versions, keys
	}
	first, keys := deployed(files("p.bpmn", model, "f.form", form))
	check.Same(t, []int32{1, 1}, first, "versions")
	again, same := deployed(files("p.bpmn", model, "f.form", form))
	check.Same(t, first, again, "versions")
	check.Same(t, keys, same, "keys")
	renamed, _ := deployed(files("q.bpmn", model, "g.form", form))
	check.Same(t, []int32{2, 2}, renamed, "versions under another name")
	changed, _ := deployed(files("q.bpmn", model+"\n", "g.form", form+"\n"))
	check.Same(t, []int32{3, 3}, changed, "versions of other contents")
}

func TestAllFilesAreDeployedOrNone(t *testing.T) {
	w := deploy(t)
	broken := strings.Replace(draw("P2", oneTask), "serviceTask", "scriptTask", 2)
	_, err := w.Do(w.clock, files("a.bpmn", draw("P", oneTask), "b.bpmn", broken, "c.form", `{}`, "d.dmn", ""))
	for _, part := range []string{"'b.bpmn': ", "scriptTask", "'c.form': the form has no id", "'d.dmn': only .bpmn and .form"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the refusal lacks %q: %v", part, err)
		}
	}
	w.refuses(
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1},
		codes.NotFound,
		"with process ID 'P'",
	)
	w.refuses(&pb.DeployResourceRequest{}, codes.InvalidArgument, "at least one resource")
}

func TestAnInstanceIsOfTheVersionThatIsWanted(t *testing.T) {
	w := deploy(t, oneTask, oneTask)
	w.deploys(1, oneTask+"\n\tF: end")
	other := do[*pb.CreateProcessInstanceResponse](
		w,
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P2", Version: 1},
	)
	check.Same(t, "P2", other.BpmnProcessId, "process")
	for want, r := range map[int32]*pb.CreateProcessInstanceRequest{
		2: {BpmnProcessId: "P", Version: -1},
		1: {BpmnProcessId: "P", Version: 1},
	} {
		check.Same(t, want, do[*pb.CreateProcessInstanceResponse](w, r).Version, "version")
	}
	byKey := do[*pb.CreateProcessInstanceResponse](
		w,
		&pb.CreateProcessInstanceRequest{ProcessDefinitionKey: w.definitions[0].key},
	)
	check.Same(t, int32(1), byKey.Version, "version")
	w.refuses(&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: 3}, codes.NotFound, "")
	w.refuses(&pb.CreateProcessInstanceRequest{BpmnProcessId: "none", Version: -1}, codes.NotFound, "none found")
}

func TestACallTakesTheNewestVersionWhenItIsMade(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		C: call process='=called'
		S > T
		T > C`, oneTask)
	w.start(`{"called":"P2"}`)
	w.deploys(2, strings.Replace(oneTask, "type='t'", "type='new'", 1))
	w.completes("t", `{}`)
	w.job("new")
}

func TestCancelEndsEverything(t *testing.T) {
	w := deploy(t, `
		S: start
		C: call process='P2'
		S > C`, `
		S: start
		T: task type='t'
		B: boundary on='T' timer='PT1H'
		M: boundary on='T' message='m' key='="k"'
		S > T`)
	root := w.start(`{}`)
	w.fails("t", 0)
	task := w.last("JOB", "CREATED").Value["elementInstanceKey"].(int64)
	w.refuses(&pb.CancelProcessInstanceRequest{ProcessInstanceKey: task}, codes.NotFound, "no such process was found")
	called := w.last("JOB", "CREATED").Value["processInstanceKey"].(int64)
	w.refuses(
		&pb.CancelProcessInstanceRequest{ProcessInstanceKey: called},
		codes.FailedPrecondition,
		"it is created by a parent process instance",
	)
	do[*pb.CancelProcessInstanceResponse](w, &pb.CancelProcessInstanceRequest{ProcessInstanceKey: root})
	for _, gone := range [][2]string{{"JOB", "CANCELED"}, {"TIMER", "CANCELED"}, {"PROCESS_MESSAGE_SUBSCRIPTION", "DELETED"}, {"INCIDENT", "RESOLVED"}} {
		w.last(gone[0], gone[1])
	}
	check.Same(
		t,
		0,
		len(w.instances)+len(w.Engine.jobs)+len(w.alarms.all)+len(w.subs)+len(w.incidents),
		"what is left",
	)
	w.refuses(&pb.CancelProcessInstanceRequest{ProcessInstanceKey: root}, codes.NotFound, "no such process was found")
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	w := deploy(t)
	w.refuses(
		&pb.SetVariablesRequest{ElementInstanceKey: 1, Variables: `{}`},
		codes.NotFound,
		"no such element was found",
	)
	w.refuses(&pb.ResolveIncidentRequest{IncidentKey: 1}, codes.NotFound, "no such incident was found")
}

func TestACommandOfAnotherKindIsRefusedByName(t *testing.T) {
	w := deploy(t)
	w.refuses(
		&pb.ModifyProcessInstanceRequest{},
		codes.Unimplemented,
		"ModifyProcessInstanceRequest is not supported by this engine",
	)
	w.refuses(&pb.CreateProcessInstanceRequest{
		BpmnProcessId: "P", StartInstructions: []*pb.ProcessInstanceCreationStartInstruction{{ElementId: "T"}},
	}, codes.Unimplemented, "start instructions are not supported")
}

func TestThereIsOneTenant(t *testing.T) {
	w := deploy(t, oneTask)
	for _, r := range []any{
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", TenantId: "norte"},
		&pb.PublishMessageRequest{Name: "m", TenantId: "norte"},
		&pb.DeployResourceRequest{TenantId: "norte"},
	} {
		w.refuses(r, codes.InvalidArgument, "multi-tenancy is disabled")
	}
	w.Tenant = "norte"
	create := &pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1}
	w.refuses(create, codes.PermissionDenied, "tenant is not authorized")
	create.TenantId = "norte"
	do[*pb.CreateProcessInstanceResponse](w, create)
	check.Same(t, "norte", w.job("t").TenantId, "tenant")
}

func TestWhatIsDueHappensInItsOrder(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		B: boundary on='T' timer='=wait'
		S > T`)
	for _, wait := range []string{"PT5M", "PT3M", "PT3M", "PT4M"} {
		w.start(`{"wait":"` + wait + `"}`)
	}
	check.Same(t, 4, len(w.jobs("t")), "jobs that are locked for a minute")
	w.publishes("m", "k", "", 2*time.Minute)
	began := w.clock
	w.passes(time.Hour)
	var ends []string
	var timers []int64
	for _, r := range w.records {
		if slices.Contains([]string{"TIMED_OUT", "EXPIRED", "TRIGGERED"}, r.Intent) {
			ends = append(ends, r.Intent)
		}
		if r.Intent == "TRIGGERED" {
			timers = append(timers, (r.Value["dueDate"].(int64)-began.UnixMilli())/60_000)
		}
	}
	check.Same(t, []string{"TIMED_OUT", "EXPIRED", "TRIGGERED"}, slices.Compact(ends), "what happened")
	check.Same(t, []int64{3, 3, 4, 5}, timers, "minutes")
	atOnce := w.find("TIMER", "TRIGGERED")
	check.Same(t, true, atOnce[0].Key < atOnce[1].Key, "of those due at once the older one is first")
}

func TestNothingEndsBeforeAClockThatWentBackIsThereAgain(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	w.job("t")
	w.passes(-time.Hour)
	w.passes(time.Hour)
	check.Same(t, 0, len(w.jobs("t")), "jobs")
	w.passes(lockOfTests)
	w.job("t")
}

func TestTheSameCommandsLeadToTheSameRecords(t *testing.T) {
	play := func() (records []Record) {
		w := deploy(t, twoConditions, waits)
		w.start(`{"a":1,"b":"x","c":[1,2],"d":{"e":null}}`)
		do[*pb.CreateProcessInstanceResponse](
			w,
			&pb.CreateProcessInstanceRequest{BpmnProcessId: "P2", Version: -1, Variables: `{"x":1,"y":2,"z":3}`},
		)
		w.completes("t", `{"q":1,"p":2}`)
		w.passes(time.Hour)
		w.publishes("m", "k", "", 0)
		return w.records
	}
	first, second := play(), play()
	a, _ := json.Marshal(first)
	b, _ := json.Marshal(second)
	if string(a) != string(b) || len(first) < 50 {
		t.Errorf("%d records, which differ", len(first))
	}
}

func TestTheRecordsOfAllAnswersHaveOnlyWhatWasSent(t *testing.T) {
	w := reviewed(t, `{"id":"review"}`)
	_, err := w.Do(w.clock, &CompleteUserTask{Key: w.last("USER_TASK", "CREATED").Key, Variables: `{"b":2}`})
	check.Must(t, err)
	w.deploys(1, oneTask)
	w.start(`{"a":1}`)
	w.start(`{"a":1}`)
	jobs := w.jobs("t")
	failed, completed := jobs[0].Key, jobs[1].Key
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: failed, Retries: 0, Variables: `{"b":2}`})
	w.refuses(&pb.ThrowErrorRequest{JobKey: failed, Variables: `{"b":2}`}, codes.FailedPrecondition, "")
	complete := &pb.CompleteJobRequest{JobKey: completed, Variables: `{"b":2}`}
	do[*pb.CompleteJobResponse](w, complete)
	w.refuses(complete, codes.NotFound, "") // also where it is rejected
	var answers []string
	for _, r := range w.records {
		kind := r.ValueType + " " + r.Intent
		if r.RecordType != "COMMAND" ||
			!slices.Contains([]string{"USER_TASK COMPLETE", "JOB FAIL", "JOB THROW_ERROR", "JOB COMPLETE"}, kind) {
			continue
		}
		answers = append(answers, kind)
		v := r.Value
		if string(v["variables"].(json.RawMessage)) != `{"b":2}` ||
			v["bpmnProcessId"] != nil || v["elementId"] != nil || v["type"] != nil {
			t.Errorf("%s recorded %v", kind, v)
		}
	}
	check.Same(t, []string{"USER_TASK COMPLETE", "JOB FAIL", "JOB THROW_ERROR", "JOB COMPLETE", "JOB COMPLETE"},
		answers, "answers")
}

func TestOneRowOfKeysServesAllThings(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{"a":1}`)
	var keys []int64
	for _, r := range w.records {
		if r.Intent == "CREATED" || r.Intent == "ELEMENT_ACTIVATING" {
			keys = append(keys, r.Key)
		}
	}
	slices.Sort(keys)
	if all := len(keys); all < 5 || len(slices.Compact(keys)) != all {
		t.Errorf("keys %v", keys)
	}
}
