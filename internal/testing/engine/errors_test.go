package engine

import (
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

const errorAtATask = `
	S: start
	T: task type='t'
	ByCode: boundary on='T' error='E1'
	Zany: boundary on='T' any='yes'
	Other: boundary on='T' error='E2'
	EndCode: end
	EndOther: end
	EndAny: end
	S > T
	ByCode > EndCode
	Other > EndOther
	Zany > EndAny`

func TestAnExactCodeGoesBeforeACatchAll(t *testing.T) {
	for code, end := range map[string]string{"E1": "EndCode", "E2": "EndOther", "E3": "EndAny"} {
		w := deploy(t, errorAtATask)
		w.start(`{}`)
		w.throws("t", code, `{}`)
		w.ended(end)
	}
}

func TestTheTaskIsTerminatedBeforeItsErrorIsHandled(t *testing.T) {
	w := deploy(t, errorAtATask)
	w.start(`{}`)
	w.throws("t", "E1", `{}`)
	terminated, activating := w.last("PROCESS_INSTANCE", "ELEMENT_TERMINATED"), int64(0)
	for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_ACTIVATING") {
		if r.Value["elementId"] == "ByCode" {
			activating = r.Position
		}
	}
	if terminated.Value["elementId"] != "T" || terminated.Position > activating {
		t.Errorf("%s", w.story())
	}
	if canceled := w.find("JOB", "CANCELED"); len(canceled) > 0 {
		t.Errorf("the job that threw was cancelled: %v", canceled)
	}
}

func TestErrorsAreCaughtOutward(t *testing.T) {
	const handler = `
			Handler: sub triggered='yes'
				HS: start error='E1'
				HE: end
				HS > HE
			end Handler`
	const thrower = `
			S2: start
			T: task type='t'
			S2 > T`
	for name, c := range map[string]struct{ drawing, end string }{
		"by an event subprocess of the task's scope": {`
			S: start
			Sub: sub` + thrower + handler + `
			end Sub
			E: end
			B: boundary on='Sub' error='E1'
			EB: end
			S > Sub
			Sub > E
			B > EB`, "HE E"},
		"by a boundary event of that scope": {`
			S: start
			Sub: sub` + thrower + `
			end Sub
			B: boundary on='Sub' error='E1'
			EB: end
			S > Sub
			B > EB`, "EB"},
		"by an event subprocess of the process": {`
			S: start
			Sub: sub` + thrower + `
			end Sub
			S > Sub` + handler, "HE"},
		"by a boundary event before an event subprocess": {`
` + thrower + `
			B: boundary on='T' error='E1'
			EB: end
			B > EB` + handler, "EB"},
		"by a catch-all nearby before an exact code farther out": {`
			S: start
			Sub: sub` + thrower + `
			Near: boundary on='T' any='yes'
			EN: end
			Near > EN
			end Sub
			B: boundary on='Sub' error='E1'
			EB: end
			S > Sub
			B > EB`, "EN"},
	} {
		t.Run(name, func(t *testing.T) {
			w := deploy(t, c.drawing)
			w.start(`{}`)
			w.throws("t", "E1", `{}`)
			w.ended(strings.Fields(c.end)...)
		})
	}
}

func TestAnEventSubprocessSeesTheErrorsVariablesAndCatchesOnce(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		S > T
		Handler: sub triggered='yes'
			HS: start error='E1'
			HT: task type='handle'
			HS > HT
		end Handler`)
	w.start(`{}`)
	w.throws("t", "E1", `{"reason":"x"}`)
	w.variable("Handler", "reason", `"x"`)
	w.throws("handle", "E1", `{}`) // its own errors go outward
	w.incident("UNHANDLED_ERROR_EVENT", "HT")
}

func TestAnErrorIsCaughtAcrossCalls(t *testing.T) {
	w := deploy(t, `
		S: start
		C: call process='P2'
		B: boundary on='C' error='E1'
		E: end
		S > C
		B > E`, `
		S: start
		C: call process='P3'
		S > C`, `
		S: start
		X: end error='E1'
		S > X`)
	w.start(`{}`)
	w.ended("E")
	terminated := 0
	for _, r := range w.find("PROCESS_INSTANCE", "ELEMENT_TERMINATED") {
		if r.Value["bpmnElementType"] == "PROCESS" {
			terminated++
		}
	}
	if terminated != 2 {
		t.Errorf("%d called processes were terminated, want 2", terminated)
	}
}

func TestAnErrorThatNothingCatchesIsAnIncidentAlsoOfAJobWithoutRetries(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t' retries='0'
		E: end
		S > T
		T > E`)
	w.start(`{}`)
	j := w.job("t")
	check.Same(t, int32(0), j.Retries, "retries of a job that is handed out all the same")
	do[*pb.ThrowErrorResponse](w, &pb.ThrowErrorRequest{JobKey: j.Key, ErrorCode: "E9", ErrorMessage: "why"})
	incident := w.incident("UNHANDLED_ERROR_EVENT", "T")
	if text := w.last("INCIDENT", "CREATED").Value["errorMessage"].(string); text != "Expected to throw an error event with the code 'E9' "+
		"with message 'why', but it was not caught. No error events are available in the scope." {
		t.Errorf("it says: %s", text)
	}
	w.refuses(&pb.CompleteJobRequest{JobKey: j.Key}, codes.FailedPrecondition, "it is in state 'ERROR_THROWN'")
	w.resolves(incident) // the job is activatable again
	w.completes("t", `{}`)
	w.ended("E")
}

func TestAnErrorEndThatNothingCatchesIsAnIncidentForGood(t *testing.T) {
	w := deploy(t, `
		S: start
		X: end error='E1'
		S > X`)
	w.start(`{}`)
	first := w.incident("UNHANDLED_ERROR_EVENT", "X")
	w.resolves(first)
	if second := w.incident("UNHANDLED_ERROR_EVENT", "X"); second == first {
		t.Error("no new incident")
	}
}
