package engine

import (
	"os"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

func BenchmarkJob(b *testing.B) {
	e := New(Options{})
	n := 0
	e.Out = func(Record) { n++ }
	x, _ := os.ReadFile("../../../test/e2e/testdata/one-task.bpmn")
	now := time.Now()
	if _, err := e.Do(now, &pb.DeployResourceRequest{Resources: []*pb.Resource{{Name: "a.bpmn", Content: x}}}); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		_, _ = e.Do(now, &pb.CreateProcessInstanceRequest{BpmnProcessId: "OneTask", Version: -1, Variables: `{"claimId":"CLM-1-1","submissionError":"TIMEOUT"}`})
		a, _ := e.Do(now, &pb.ActivateJobsRequest{Type: "analyze-retry", MaxJobsToActivate: 1, Timeout: 1000})
		_, _ = e.Do(now, &pb.CompleteJobRequest{JobKey: a.(*pb.ActivateJobsResponse).Jobs[0].Key, Variables: `{"a":1}`})
	}
	b.ReportMetric(float64(n)/float64(b.N), "records/op")
}

func BenchmarkSUB06(b *testing.B) {
	e := New(Options{})
	now := time.Now()
	for _, f := range []string{"sub-06.bpmn", "submission-retry.bpmn", "review-claim.form", "correct-data.form"} {
		x, _ := os.ReadFile("../../../bpmn/" + f)
		if _, err := e.Do(now, &pb.DeployResourceRequest{Resources: []*pb.Resource{{Name: f, Content: x}}}); err != nil {
			b.Fatal(err)
		}
	}
	take := func(kind string) int64 {
		a, _ := e.Do(now, &pb.ActivateJobsRequest{Type: kind, MaxJobsToActivate: 1, Timeout: 1000})
		return a.(*pb.ActivateJobsResponse).Jobs[0].Key
	}
	for range b.N {
		_, _ = e.Do(now, &pb.CreateProcessInstanceRequest{BpmnProcessId: "SUB_06", Version: -1, Variables: `{"claimId":"CLM-1-1"}`})
		_, _ = e.Do(now, &pb.ThrowErrorRequest{JobKey: take("submit-claim"), ErrorCode: "X", Variables: `{"submissionError":"TIMEOUT"}`})
		_, _ = e.Do(now, &pb.CompleteJobRequest{JobKey: take("analyze-retry"), Variables: `{"shouldRetry":true,"retryCount":1,"backoffMinutes":5,"retryDecision":{}}`})
		now = now.Add(5 * time.Minute)
		e.Tick(now)
		_, _ = e.Do(now, &pb.CompleteJobRequest{JobKey: take("submit-claim")})
		_, _ = e.Do(now, &pb.CompleteJobRequest{JobKey: take("record-retry-outcome")})
	}
	if len(e.instances)+len(e.jobs)+len(e.alarms.all)+len(e.subs)+len(e.incidents) > 0 {
		b.Errorf("left: %d %d %d %d", len(e.instances), len(e.jobs), len(e.subs), len(e.incidents))
	}
}
