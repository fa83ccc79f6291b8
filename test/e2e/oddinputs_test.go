package e2e

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/oddinputs"
	"hospital.example/analyze-retry/test/suite"
)

// sound are variables that a worker decides.
var sound = vars{"claimId": "CLM-E2E-1-1", "submissionError": "TIMEOUT", "retryCount": 0}

// What a real gateway does to some of the inputs before a worker sees them.
var (
	// refusedByGateway are numbers beyond 64 bits, which do not become variables at all.
	refusedByGateway = map[string]bool{"retryCount -9223372036854775809": true, "retryCount 18446744073709551616": true}
	// madeSound has half of a surrogate pair, in whose place Java puts a question mark.
	madeSound = map[string]bool{`claimId "CLM-\ud800-1"`: true}
)

// leftOut returns why an input that gRPC delivers is not sent over REST; "" for none. There the variables are a
// part of the answer's JSON, which has 1,000 levels at most. To read a text of 1 MiB in it takes a machine that has
// hardly a processor left longer than the worker waits for one job, if the race detector watches.
func leftOut(t *testing.T, in oddinputs.Input) string {
	t.Helper()
	switch {
	case overREST(t) && strings.Contains(in.Variables, strings.Repeat("[", 990)):
		return "the REST API cannot deliver it"
	case overREST(t) && len(in.Variables) > 1<<20:
		return "over REST it may take a busy machine too long"
	}
	return ""
}

// Row 23 of docs/faults.md. Each odd input is a process instance of its own; after every fortieth comes a
// sound one. The guard is that a job with an invalid input is answered once. Seen to fail without: where it
// is failed with its retries unchanged instead of with none, it comes again without end.
func TestOddInputsEndInAnIncidentOrADecision(t *testing.T) {
	s := atSharedBroker(t)
	w := s.startWorker("RETRY_MAX_JOBS_ACTIVE=8") // for many texts of 1 MiB a busy machine needs longer than a poll has
	inputs := map[int64]oddinputs.Input{}
	for _, in := range oddinputs.All() {
		if in.OnlyRaw {
			continue
		}
		if why := leftOut(t, in); why != "" {
			suite.LeavesOut(t, "%s: %s", in.Name, why)
			continue
		}
		c, err := s.tryStart("OneTask", in.Variables)
		if refused := status.Code(err) == codes.InvalidArgument; refused != refusedByGateway[in.Name] {
			t.Errorf("%s: the gateway refuses it: %v, want %v (%v)", in.Name, refused, !refused, err)
		}
		if err != nil {
			continue
		}
		if madeSound[in.Name] {
			in.Faulty = nil
		}
		inputs[c.instance] = in
		if len(inputs)%40 == 0 {
			usual := oddinputs.Input{Name: fmt.Sprint("sound ", len(inputs)), Variables: sound.json(t)}
			inputs[s.startRaw("OneTask", usual.Variables).instance] = usual
		}
	}
	if len(inputs) < 200 {
		t.Fatalf("only %d odd inputs and sound ones are left for a gateway", len(inputs))
	}
	endings := s.awaitEndings(inputs)
	for instance, in := range inputs {
		t.Run(in.Name, func(t *testing.T) { endings[instance].fits(t, in) })
	}
	w.stillRuns()
}

// fits fails the test where an odd input did not come to its right end by one answer.
func (f *ending) fits(t *testing.T, in oddinputs.Input) {
	t.Helper()
	if f.answers != 1 {
		t.Errorf("it was answered %d times, want once", f.answers)
	}
	if in.Faulty == nil {
		if f.outcome != "COMPLETED" && f.outcome != "ERROR_THROWN" {
			t.Errorf("became %s %q, want a decision", f.outcome, f.message)
		}
		return
	}
	if f.outcome != "JOB_NO_RETRIES" || strings.Count(f.message, " but must be ") != len(in.Faulty) {
		t.Errorf("became %s %q, want an incident with %d faults", f.outcome, f.message, len(in.Faulty))
	}
	for _, variable := range in.Faulty {
		if !strings.Contains(f.message, variable+" is ") {
			t.Errorf("the incident does not name %s: %q", variable, f.message)
		}
	}
}

// ending is what became of the one job of a process instance.
type ending struct {
	answers int    // that the worker gave
	outcome string // COMPLETED, ERROR_THROWN or the type of an incident; "" for none yet
	message string // of the incident
}

// awaitEndings waits until the jobs of all these process instances have come to something.
func (s *scene) awaitEndings(inputs map[int64]oddinputs.Input) map[int64]*ending {
	s.Helper()
	endings := map[int64]*ending{}
	for instance := range inputs {
		endings[instance] = &ending{}
	}
	open := len(endings)
	ctx, cancel := s.within(patience)
	defer cancel()
	_, err := s.broker.AwaitRecord(ctx, func(r cluster.Record) bool {
		for _, kind := range [][2]string{
			{"JOB", "COMPLETED"}, {"JOB", "ERROR_THROWN"}, {"JOB", "FAILED"}, {"INCIDENT", "CREATED"},
		} {
			e, ok := parse(r, kind[0], kind[1])
			f := endings[e.ProcessInstanceKey]
			if !ok || f == nil {
				continue
			}
			if e.ValueType == "JOB" && (e.Intent != "FAILED" || e.Retries == 0) { // else it was released
				f.answers++
			}
			if e.Intent == "FAILED" { // the incident follows
				continue
			}
			f.outcome, f.message = e.Intent, e.ErrorMessage
			if e.ValueType == "INCIDENT" {
				f.outcome = e.ErrorType
			}
			open--
		}
		return open == 0
	})
	if err != nil {
		s.Errorf("%d of %d jobs came to nothing: %v", open, len(endings), err)
	}
	return endings
}

// A gateway cannot deliver a job that brings such a variable, nor what comes in one batch with it.
func TestUndeliverableVariableIsAnIncidentAndOtherJobsGoOn(t *testing.T) {
	s := atSharedBroker(t)
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	poison := s.startRaw("OneTask", `{"claimId":"CLM-E2E-13-1","submissionError":`+deep+`}`)
	var others []*claim
	for range 10 {
		others = append(others, s.start("OneTask", sound))
	}

	w := s.startWorker("RETRY_JOB_TIMEOUT=1s") // a batch that is lost is locked for so long
	for _, other := range others {
		other.endsAt("EndEvent_Retry")
	}
	incident := poison.incident()
	if !strings.Contains(incident.ErrorMessage, "nested too deep") {
		t.Errorf("the incident does not say what is wrong: %s", incident.ErrorMessage)
	}
	poison.resolves(incident, vars{"submissionError": "TIMEOUT"})
	poison.endsAt("EndEvent_Retry")
	w.stillRuns()
}
