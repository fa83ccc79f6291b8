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
	w.start(`{"called":"nothing"}`)
	w.completes("t", `{}`)
	w.incident("CALLED_ELEMENT_ERROR", "C")
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
	w.refuses(
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", TenantId: "norte"},
		codes.InvalidArgument,
		"multi-tenancy is disabled",
	)
	w.Tenant = "norte"
	w.refuses(
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P"},
		codes.PermissionDenied,
		"tenant is not authorized",
	)
	do[*pb.CreateProcessInstanceResponse](
		w,
		&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1, TenantId: "norte"},
	)
	check.Same(t, "norte", w.job("t").TenantId, "tenant")
}

func TestWhatIsDueHappensInItsOrder(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		B: boundary on='T' timer='=wait'
		E: end
		S > T
		B > E`)
	for _, wait := range []string{"PT3M", "PT1M", "PT2M"} {
		w.start(`{"wait":"` + wait + `"}`)
	}
	w.jobs("t") // locked for a minute
	w.passes(time.Hour)
	var dues []int64
	for _, r := range w.find("TIMER", "TRIGGERED") {
		dues = append(dues, (r.Value["dueDate"].(int64)-w.clock.Add(-time.Hour).UnixMilli())/60_000)
	}
	check.Same(t, []int64{1, 2, 3}, dues, "minutes")
	w.records = nil
	for range 3 {
		w.start(`{"wait":"PT1M"}`)
	}
	w.passes(time.Minute)
	var keys []int64
	for _, r := range w.find("TIMER", "TRIGGERED") {
		keys = append(keys, r.Key)
	}
	check.Same(t, true, len(keys) == 3 && slices.IsSorted(keys), "of those due at once the older one is first")
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
	key := w.last("USER_TASK", "CREATED").Key
	_, err := w.Do(w.clock, &CompleteUserTask{Key: key, Variables: `{"b":2}`})
	check.Must(t, err)
	w.deploys(1, oneTask)
	w.start(`{}`)
	j := w.job("t")
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: j.Key, Retries: 0, Variables: `{"b":2}`})
	w.refuses(&pb.ThrowErrorRequest{JobKey: j.Key, Variables: `{"b":2}`}, codes.FailedPrecondition, "")
	for _, intent := range []string{"USER_TASK COMPLETE", "JOB FAIL", "JOB THROW_ERROR"} {
		n := slices.IndexFunc(w.records, func(r Record) bool { return r.RecordType == "COMMAND" && r.ValueType+" "+r.Intent == intent })
		v := w.records[n].Value
		if string(v["variables"].(json.RawMessage)) != `{"b":2}` || v["bpmnProcessId"] != nil || v["elementId"] != nil {
			t.Errorf("%s recorded %v", intent, v)
		}
	}
}

func TestCancelEndsUserTasks(t *testing.T) {
	w := deploy(t, `
		S: start
		U: user group='a'
		S > U`)
	do[*pb.CancelProcessInstanceResponse](w, &pb.CancelProcessInstanceRequest{ProcessInstanceKey: w.start(`{}`)})
	w.last("USER_TASK", "CANCELED")
	check.Same(t, 0, len(w.userTasks)+len(w.find("JOB", "CREATED")), "user tasks, and jobs for them")
}

func TestMessagesAndDeploymentsHaveTheOneTenant(t *testing.T) {
	w := deploy(t)
	for _, r := range []any{&pb.PublishMessageRequest{Name: "m", TenantId: "norte"}, &pb.DeployResourceRequest{TenantId: "norte"}} {
		w.refuses(r, codes.InvalidArgument, "multi-tenancy is disabled")
	}
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
