package zeebe

import (
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/zeebe/gatewaytest"
)

// deep is a job that the gateway cannot deliver.
var deep = gatewaytest.Job{Type: testType, Variables: `{"a":[[]]}`, Poison: "a"}

func TestAJobThatCannotBeDeliveredBecomesAnIncidentAndTheOthersAreWorked(t *testing.T) {
	inBubble(t, func(r *rig) {
		good := r.add(20)
		bad := r.gateway.Add(deep)[0]
		good = append(good, r.add(20)...)
		worse := r.gateway.Add(deep)[0]
		r.run(Options{})
		r.advance(2 * time.Minute)
		r.wantCounts(gatewaytest.Counts{Completed: len(good), Incident: 2, Expired: 42})
		for _, key := range []int64{bad, worse} {
			if state, _, message := r.gateway.Job(key); state != gatewaytest.Incident || !strings.Contains(message, "nested too deep") {
				r.Errorf("job ends in state %v with message %q", state, message)
			}
		}
		for _, key := range good {
			if state, retries, _ := r.gateway.Job(key); state != gatewaytest.Completed || retries != 3 {
				r.Errorf("good job ends in state %v with %d retries", state, retries)
			}
		}
		for level, text := range map[zapcore.Level]string{
			zapcore.WarnLevel: "poll_lost", zapcore.InfoLevel: "in_batches_again",
		} {
			if n := r.logged(level, text); n != 1 {
				r.Errorf("%q is logged %d times", text, n)
			}
		}
		if n := r.logged(zapcore.ErrorLevel, "cannot_be_delivered"); n != 2 {
			r.Errorf("incidents are logged %d times", n)
		}
		if polls := r.polls(); polls[len(polls)-1].MaxJobsToActivate != 50 {
			r.Errorf("the last poll asks for %d jobs, want all slots again", polls[len(polls)-1].MaxJobsToActivate)
		}
	})
}

func TestJobsThatComeDuringIsolationAreWorked(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Add(deep)
		r.run(Options{})
		r.advance(3 * time.Second)
		if n := r.logged(zapcore.WarnLevel, "poll_lost"); n != 1 {
			r.Fatalf("isolation is entered %d times", n)
		}
		for range 5 {
			r.add(3)
			r.advance(100 * time.Millisecond)
		}
		r.wantCounts(gatewaytest.Counts{Completed: 15, Locked: 1})
	})
}

func TestAJobThatWasOnceNextWhenAPollWasLostIsNotBlamed(t *testing.T) {
	inBubble(t, func(r *rig) {
		// Two polls are lost for another reason: the first makes the worker suspicious, the second hits a good job.
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 1, Hang: true})
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 1, Delay: time.Millisecond}) // the look
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 1, Hang: true})
		r.run(Options{})
		key := r.add(1)[0]
		r.advance(30 * time.Second)
		if state, retries, _ := r.gateway.Job(key); state != gatewaytest.Completed || retries != 3 {
			r.Errorf("job ends in state %v with %d retries", state, retries)
		}
		if n := len(r.gateway.Calls(gatewaytest.FailJob)); n != 3 {
			r.Errorf("%d releases, want one after each look and one of the suspect", n)
		}
	})
}

func TestAPollThatIsNotAnsweredByADeadGatewayIsNoReasonToIsolate(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: -1, Hang: true})
		r.gateway.Inject(gatewaytest.Topology, gatewaytest.Fault{Times: -1, Code: codes.Unavailable})
		r.run(Options{})
		r.advance(time.Minute)
		if r.logged(zapcore.WarnLevel, "gateway_lost") != 1 || r.logged(zapcore.WarnLevel, "poll_lost") != 0 {
			r.Errorf("log has %v", r.logs.All())
		}
	})
}

func TestAStopDuringIsolationLeavesNoLockButTheLostOnes(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.FailJob, gatewaytest.Fault{Times: -1, Delay: 10 * time.Millisecond})
		r.gateway.Add(deep)
		r.run(Options{Handler: each(complete)})
		r.advance(3 * time.Second)
		r.add(1)
		r.advance(5 * time.Millisecond) // it is being released
		if took, err := r.end(); err != nil || took > pollGrace {
			r.Errorf("Run returned %v after %v", err, took)
		}
		r.wantCounts(gatewaytest.Counts{Waiting: 1, Locked: 1})
	})
}

func TestALookThatCannotBeTakenBackAtOnceIsTakenBackLater(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 1, Hang: true})
		r.gateway.Inject(gatewaytest.FailJob, gatewaytest.Fault{Times: 1, Hang: true})
		handled := 0
		r.run(Options{Handler: each(func(j job.Job) job.Answer { handled++; return complete(j) })})
		r.add(1)
		r.advance(3 * time.Second)
		r.wantCounts(gatewaytest.Counts{Completed: 1})
		if n := len(requests[*pb.FailJobRequest](r.gateway, gatewaytest.FailJob)); n < 2 || handled != 1 {
			r.Errorf("released %d times, handled %d times", n, handled)
		}
	})
}
