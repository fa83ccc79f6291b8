package engine

import (
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

const oneTask = `
	S: start
	T: task type='t' header='x'
	E: end
	S > T
	T > E`

func TestAJobComesWithWhatItsTaskSays(t *testing.T) {
	w := deploy(t, oneTask)
	instance := w.start(`{"a":1}`)
	j := w.job("t")
	task := w.last("PROCESS_INSTANCE", "ELEMENT_ACTIVATED").Key
	check.Same(t, &pb.ActivatedJob{
		Key: j.Key, Type: "t", ProcessInstanceKey: instance, BpmnProcessId: "P", ProcessDefinitionVersion: 1,
		ProcessDefinitionKey: w.definitions[0].key, ElementId: "T", ElementInstanceKey: task, CustomHeaders: `{"h":"x"}`, Worker: "w",
		Retries: 3, Deadline: w.clock.Add(lockOfTests).UnixMilli(), Variables: `{"a":1}`, TenantId: "<default>",
	}, j, "job")
}

func TestTheOldestJobComesFirst(t *testing.T) {
	w := deploy(t, oneTask)
	for range 3 {
		w.start(`{}`)
	}
	poll := func() (keys []int64) {
		for _, j := range do[*pb.ActivateJobsResponse](w, &pb.ActivateJobsRequest{Type: "t", Timeout: 1000, MaxJobsToActivate: 2}).Jobs {
			keys = append(keys, j.Key)
		}
		return keys
	}
	first, second := poll(), poll()
	if len(first) != 2 || len(second) != 1 || first[0] > first[1] || first[1] > second[0] {
		t.Errorf("polled %v, then %v", first, second)
	}
	w.passes(time.Second)
	check.Same(t, first, poll(), "jobs after their locks have ended")
	w.passes(999 * time.Millisecond)
	w.start(`{}`)
	w.passes(time.Millisecond) // the older ones are released after the newest came
	check.Same(t, first, poll(), "jobs")
}

func TestAPollGetsTheVariablesThatItNames(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{"a":1,"b":2,"c":3}`)
	check.Same(t, true, w.Available("t"), "jobs available")
	check.Same(t, `{"a":1,"c":3}`, w.job("t", "c", "a", "missing").Variables, "variables")
	check.Same(t, false, w.Available("t"), "jobs available")
}

func TestALockThatEndsLeavesTheRetries(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	first := w.job("t")
	w.passes(lockOfTests - 1*time.Millisecond)
	check.Same(t, 0, len(w.jobs("t")), "jobs before the lock has ended")
	w.passes(time.Millisecond)
	second := w.job("t")
	check.Same(t, first.Key, second.Key, "job")
	check.Same(t, first.Retries, second.Retries, "retries")
	check.Same(t, 1, len(w.find("JOB", "TIMED_OUT")), "locks that ended")
}

func TestThereIsNoFencing(t *testing.T) {
	for name, answer := range map[string]func(key int64) any{
		"complete": func(key int64) any { return &pb.CompleteJobRequest{JobKey: key} },
		"throw":    func(key int64) any { return &pb.ThrowErrorRequest{JobKey: key, ErrorCode: "E"} },
		"fail":     func(key int64) any { return &pb.FailJobRequest{JobKey: key, Retries: 1} },
	} {
		w := deploy(t, oneTask)
		w.start(`{}`)
		key := w.job("t").Key
		w.passes(lockOfTests)
		if _, err := w.Do(w.clock, answer(key)); err != nil { // it is not locked
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASecondAnswerFindsNoJob(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	key := w.job("t").Key
	do[*pb.CompleteJobResponse](w, &pb.CompleteJobRequest{JobKey: key})
	w.ended("E")
	w.refuses(
		&pb.CompleteJobRequest{JobKey: key},
		codes.NotFound,
		"Command 'COMPLETE' rejected with code 'NOT_FOUND': Expected to complete job with key '",
	)
	w.refuses(&pb.ThrowErrorRequest{JobKey: key}, codes.NotFound, "no such job was found")
	w.refuses(&pb.FailJobRequest{JobKey: key}, codes.NotFound, "no such job was found")
	rejection := w.records[len(w.records)-1]
	if rejection.RecordType != "COMMAND_REJECTION" || rejection.RejectionType != "NOT_FOUND" || rejection.Intent != "FAIL" {
		t.Errorf("recorded %+v", rejection)
	}
}

func TestAFailedJobWaitsForItsPause(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: w.job("t").Key, Retries: 1, RetryBackOff: 5000})
	w.passes(5*time.Second - 1*time.Millisecond)
	check.Same(t, 0, len(w.jobs("t")), "jobs")
	w.passes(time.Millisecond)
	w.job("t")
}

func TestAFailedJobWithoutRetriesIsAnIncident(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	j := w.fails("t", 0)
	incident := w.incident("JOB_NO_RETRIES", "T")
	created := w.last("INCIDENT", "CREATED").Value
	check.Same(t, "why", created["errorMessage"].(string), "text")
	check.Same(t, j.Key, created["jobKey"].(int64), "job")
	w.refuses(&pb.CompleteJobRequest{JobKey: j.Key}, codes.FailedPrecondition, "Expected to complete job with key '")
	w.refuses(&pb.CompleteJobRequest{JobKey: j.Key}, codes.FailedPrecondition, "but it is in state 'FAILED'")
	w.refuses(&pb.ResolveIncidentRequest{IncidentKey: incident}, codes.FailedPrecondition, "no retries left") // first it needs retries
	do[*pb.UpdateJobRetriesResponse](w, &pb.UpdateJobRetriesRequest{JobKey: j.Key, Retries: 1})
	check.Same(t, 0, len(w.jobs("t")), "jobs")
	w.resolves(incident)
	check.Same(t, 0, w.Incidents(), "incidents")
	w.completes("t", `{}`)
	w.ended("E")
}

func TestALockIsExtendedOnlyWhereThereIsOne(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	key := w.last("JOB", "CREATED").Key
	extend := &pb.UpdateJobTimeoutRequest{JobKey: key, Timeout: lockOfTests.Milliseconds()}
	w.refuses(extend, codes.FailedPrecondition, "it is not active")
	w.job("t")
	w.passes(lockOfTests / 2)
	do[*pb.UpdateJobTimeoutResponse](w, extend)
	w.passes(lockOfTests - 1)
	check.Same(t, 0, len(w.jobs("t")), "jobs")
	w.passes(1)
	w.job("t")
	w.refuses(&pb.UpdateJobTimeoutRequest{JobKey: 1, Timeout: 1}, codes.NotFound, "no such job")
}

func TestRetriesAreUpdatedToMoreThanNone(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	key := w.last("JOB", "CREATED").Key
	w.refuses(&pb.UpdateJobRetriesRequest{JobKey: key}, codes.InvalidArgument, "with a positive amount of retries")
	w.refuses(&pb.UpdateJobRetriesRequest{JobKey: 1, Retries: 1}, codes.NotFound, "no such job")
	do[*pb.UpdateJobRetriesResponse](w, &pb.UpdateJobRetriesRequest{JobKey: key, Retries: 7})
	check.Same(t, int32(7), w.job("t").Retries, "retries")
}

func TestJobsAreSpreadOverPartitions(t *testing.T) {
	w := deploy(t, oneTask)
	w.Partitions = 2
	partitions := map[int64]int{}
	for range 4 {
		partitions[w.start(`{}`)>>partitionBits]++
	}
	check.Same(t, map[int64]int{1: 2, 2: 2}, partitions, "instances by partition")
	var begin []int64
	for range 2 { // each poll begins with another partition
		jobs := do[*pb.ActivateJobsResponse](w, &pb.ActivateJobsRequest{Type: "t", Timeout: 1000, MaxJobsToActivate: 1}).Jobs
		begin = append(begin, jobs[0].Key>>partitionBits)
	}
	check.Same(t, []int64{1, 2}, begin, "partitions")
}

func TestTheExpressionsOfATaskSeeItsInputs(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='=kind' retries='=n' in.n='=2' in.kind='="job-" + string(n)' in.wait='="PT1M"' in.k='="k"'
		B: boundary on='T' timer='=wait'
		M: boundary on='T' message='m' key='=k'
		C: call process='=which' in.which='="P2"'
		S > T
		T > C`, `
		S: start
		U: user group='=g' form='=f' in.g='=["a"]' in.f='="review"'
		S > U`)
	do[*pb.DeployResourceResponse](w, files("f.form", `{"id":"review"}`))
	w.start(`{}`)
	check.Same(t, w.clock.Add(time.Minute).UnixMilli(), w.last("TIMER", "CREATED").Value["dueDate"].(int64), "due")
	check.Same(t, "k", w.last("PROCESS_MESSAGE_SUBSCRIPTION", "CREATED").Value["correlationKey"].(string), "key")
	check.Same(t, int32(2), w.job("job-2").Retries, "retries") // a mapping sees those before it
	w.variable("P", "n", "")
	w.passes(lockOfTests - time.Millisecond)
	do[*pb.CompleteJobResponse](w, &pb.CompleteJobRequest{JobKey: w.last("JOB", "CREATED").Key})
	check.Same(t, []string{"a"}, w.last("USER_TASK", "CREATED").Value["candidateGroupsList"].([]string), "groups")
	check.Same(t, 0, w.Incidents(), "incidents")
}

func TestAJobThatFailsWithNegativeRetriesIsAnIncidentAtOnce(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{}`)
	j := w.job("t")
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: j.Key, Retries: -1, RetryBackOff: 1000})
	incident := w.incident("JOB_NO_RETRIES", "T")
	check.Same(t, "No more retries left.", w.last("INCIDENT", "CREATED").Value["errorMessage"].(string), "text")
	w.refuses(&pb.ResolveIncidentRequest{IncidentKey: incident}, codes.FailedPrecondition, "no retries left")
	w.passes(time.Hour) // neither its lock nor its pause is under way
	check.Same(t, 0, len(w.jobs("t"))+len(w.find("JOB", "TIMED_OUT")), "jobs and ends of locks")
}
