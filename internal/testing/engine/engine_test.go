package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/testing/check"
)

const oneTask = `
	S: start
	T: task type='t'
	S > T`

// withJobs returns a world with so many jobs of type t.
func withJobs(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t)
	check.Must(t, w.deploys("p.bpmn", draw("P", oneTask)))
	for range n {
		check.Must(t, w.step("start", []string{`{"a":1}`, ""}, ""))
	}
	return w
}

func TestTheOldestJobComesFirst(t *testing.T) {
	w := withJobs(t, 3)
	poll := func() (keys []int64) {
		answer, err := w.Do(w.clock, &pb.ActivateJobsRequest{Type: "t", Timeout: 1000, MaxJobsToActivate: 2})
		check.Must(t, err)
		for _, j := range answer.(*pb.ActivateJobsResponse).Jobs {
			keys = append(keys, j.Key)
		}
		return keys
	}
	first, second := poll(), poll()
	if len(first) != 2 || len(second) != 1 || first[0] > first[1] || first[1] > second[0] {
		t.Errorf("polled %v, then %v", first, second)
	}
	w.clock = w.clock.Add(time.Second)
	w.Tick(w.clock)
	check.Same(t, first, poll(), "jobs after their locks have ended")
}

func TestJobsAreSpreadOverPartitions(t *testing.T) {
	w := withJobs(t, 0)
	w.Partitions = 2
	for range 4 {
		check.Must(t, w.step("start", []string{`{}`, ""}, ""))
	}
	for _, want := range []int64{1, 2} { // each poll begins with another partition
		answer, err := w.Do(w.clock, &pb.ActivateJobsRequest{Type: "t", Timeout: 1000, MaxJobsToActivate: 1})
		check.Must(t, err)
		check.Same(t, want, answer.(*pb.ActivateJobsResponse).Jobs[0].Key>>partitionBits, "partition")
	}
}

// The first answer counts, also that of a worker whose lock has ended. A command's record holds what was sent.
func TestAJobTakesOneAnswer(t *testing.T) {
	for intent, answer := range map[string]func(key int64) any{
		"COMPLETE":    func(key int64) any { return &pb.CompleteJobRequest{JobKey: key, Variables: `{"b":2}`} },
		"THROW_ERROR": func(key int64) any { return &pb.ThrowErrorRequest{JobKey: key, Variables: `{"b":2}`} },
		"FAIL":        func(key int64) any { return &pb.FailJobRequest{JobKey: key, Variables: `{"b":2}`} },
	} {
		w := withJobs(t, 1)
		key := w.job("t").Key
		w.clock = w.clock.Add(time.Hour)
		w.Tick(w.clock)
		check.Must(t, w.does(answer(key)))
		why := map[string]string{
			"COMPLETE":    "'NOT_FOUND': Expected to ",
			"THROW_ERROR": "it is in state 'ERROR_THROWN'",
			"FAIL":        "it is in state 'FAILED'",
		}[intent]
		check.Fails(t, w.does(answer(key)), "Command '"+intent+"' rejected with code ", why)
		last := w.records[len(w.records)-1] // the refused command
		check.Same(t, "COMMAND "+intent, last.RecordType+" "+last.Intent, "last record")
		check.Same(t, `{"b":2}`, string(last.Value["variables"].(json.RawMessage)), "variables")
		check.Same(t, nil, last.Value["bpmnProcessId"], "process")
	}
}

func TestAFileThatHasNotChangedKeepsItsVersion(t *testing.T) {
	w := newWorld(t)
	form, model := `{"id":"f"}`, draw("P", oneTask)
	for _, c := range []struct {
		name, form, model string
		version           int32
	}{
		{"a", form, model, 1},
		{"a", form, model, 1},
		{"b", form, model, 2},
		{"b", form + "\n", model + "\n", 3},
	} {
		answer, err := w.Do(w.clock, &pb.DeployResourceRequest{Resources: []*pb.Resource{
			{Name: c.name + ".form", Content: []byte(c.form)},
			{Name: c.name + ".bpmn", Content: []byte(c.model)},
		}})
		check.Must(t, err)
		deployed := answer.(*pb.DeployResourceResponse).Deployments
		check.Same(t, c.version, deployed[0].GetForm().GetVersion(), "version of the form")
		check.Same(t, c.version, deployed[1].GetProcess().GetVersion(), "version of the process")
	}
}

func TestAllFilesAreDeployedOrNone(t *testing.T) {
	w := newWorld(t)
	err := w.does(&pb.DeployResourceRequest{Resources: []*pb.Resource{
		{Name: "a.bpmn", Content: []byte(draw("P", oneTask))},
		{Name: "b.bpmn", Content: []byte(strings.ReplaceAll(draw("Q", oneTask), "serviceTask", "scriptTask"))},
		{Name: "c.form", Content: []byte(`{}`)},
		{Name: "d.dmn"},
	}})
	check.Fails(t, err,
		"'b.bpmn': ", "scriptTask", "'c.form': the form has no id", "'d.dmn': only .bpmn and .form")
	check.Fails(t, w.step("start", []string{`{}`, ""}, ""), "process ID 'P'")
}
