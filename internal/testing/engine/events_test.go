package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

const twoConditions = `
	S: start
	G: choose
	E1: end
	E2: end
	E3: end
	S > G
	G > E3 default
	G > E1 if '=a > 1'
	G > E2 if '=b'`

func TestTheFirstTrueConditionIsTaken(t *testing.T) {
	for variables, end := range map[string]string{
		`{"a":2,"b":true}`:  "E1",
		`{"a":1,"b":true}`:  "E2",
		`{"a":1,"b":false}`: "E3", // the default is last, its condition is never evaluated
		`{"a":2,"b":"x"}`:   "E1", // what comes after is not evaluated
	} {
		w := deploy(t)
		model := strings.Replace(draw("P", twoConditions), `targetRef="E3">`,
			`targetRef="E3"><conditionExpression>="no boolean"</conditionExpression>`, 1)
		do[*pb.DeployResourceResponse](w, files("p.bpmn", model))
		w.start(variables)
		w.ended(end)
	}
}

func TestAConditionThatIsNoBooleanIsAnIncidentAtTheGateway(t *testing.T) {
	w := deploy(t, twoConditions)
	instance := w.start(`{"a":1,"b":"sim"}`)
	first := w.incident("EXTRACT_VALUE_ERROR", "G")
	check.Same(
		t,
		"Expected result of the expression 'b' to be 'BOOLEAN', but was 'STRING'.",
		w.last("INCIDENT", "CREATED").Value["errorMessage"],
		"text",
	)
	w.sets(instance, `{"b":null}`) // null is none either
	w.resolves(first)
	second := w.incident("EXTRACT_VALUE_ERROR", "G")
	w.sets(instance, `{"b":true}`)
	w.resolves(second)
	w.ended("E2")
}

func TestNoTrueConditionAndNoDefaultIsAnIncident(t *testing.T) {
	w := deploy(t, `
		S: start
		G: choose
		E: end
		F: end
		S > G
		G > E if '=a'
		G > F if '=a'`)
	w.start(`{"a":false}`)
	w.incident("CONDITION_ERROR", "G")
}

func TestATimerFiresWhenItIsDueAndNotBefore(t *testing.T) {
	for name, attribute := range map[string]string{
		"fixed":                `timer='PT5M'`,
		"a text":               `timer='="PT" + string(minutes) + "M"'`,
		"a duration":           `timer='=duration("PT" + string(minutes) + "M")'`,
		"a date":               `date='2026-11-24T12:05:00Z'`,
		"a date of a variable": `date='=when'`,
	} {
		t.Run(name, func(t *testing.T) {
			w := deploy(t, `
				S: start
				W: catch `+attribute+`
				E: end
				S > W
				W > E`)
			w.start(`{"minutes":5,"when":"2026-11-24T09:05:00-03:00"}`)
			check.Same(
				t,
				w.clock.Add(5*time.Minute).UnixMilli(),
				w.last("TIMER", "CREATED").Value["dueDate"].(int64),
				"due",
			)
			w.passes(5*time.Minute - time.Millisecond)
			check.Same(t, 0, len(w.find("TIMER", "TRIGGERED")), "timers that fired")
			w.passes(time.Millisecond)
			w.ended("E")
		})
	}
}

func TestATimerWithoutATimeToWaitFiresAtOnce(t *testing.T) {
	for _, duration := range []string{"PT0S", "-PT5M"} {
		w := deploy(t, `
			S: start
			W: catch timer='="`+duration+`"'
			E: end
			S > W
			W > E`)
		w.start(`{}`)
		w.passes(0)
		w.ended("E")
	}
}

func TestAWrongTimeIsAnIncidentAtTheEvent(t *testing.T) {
	for _, expression := range []string{`"5M"`, `5`, `missing`, `"2026-11-24T12:00:00Z"`, `true`, `"PT1.5M"`, `""`} {
		w := deploy(t, `
			S: start
			W: catch timer='=if good != null then good else `+expression+`'
			E: end
			S > W
			W > E`)
		instance := w.start(`{}`)
		incident := w.incident("EXTRACT_VALUE_ERROR", "W")
		w.sets(instance, `{"good":"PT1S"}`)
		w.resolves(incident)
		w.passes(time.Second)
		w.ended("E")
	}
}

func TestAWrongDateIsAnIncidentAtTheEvent(t *testing.T) {
	for _, expression := range []string{`"PT1M"`, `duration("PT1M")`, `null`} {
		w := deploy(t, `
			S: start
			W: catch date='=`+expression+`'
			S > W`)
		w.start(`{}`)
		w.incident("EXTRACT_VALUE_ERROR", "W")
	}
}

func TestBoundaryEventsComeAndGoWithTheirActivity(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		B: boundary on='T' timer='PT1H'
		M: boundary on='T' message='m' key='="k"'
		E: end
		EB: end
		EM: end
		S > T
		T > E
		B > EB
		M > EM`)
	w.start(`{}`)
	w.completes("t", `{}`)
	w.ended("E")
	check.Same(t, 1, len(w.find("TIMER", "CANCELED")), "timers cancelled")
	check.Same(t, 1, len(w.find("PROCESS_MESSAGE_SUBSCRIPTION", "DELETED")), "subscriptions deleted")
	w.passes(2 * time.Hour)
	w.publishes("m", "k", "", 0)
	w.ended("E")
	w.start(`{}`)
	w.passes(time.Hour)
	w.ended("E", "EB")
	check.Same(t, 1, len(w.find("JOB", "CANCELED")), "jobs cancelled")
	w.start(`{}`)
	w.publishes("m", "k", "", 0)
	w.ended("E", "EB", "EM")
}

func TestAWrongBoundaryTimerIsAnIncidentAtTheActivity(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		B: boundary on='T' timer='=soon'
		S > T`)
	w.start(`{}`)
	w.incident("EXTRACT_VALUE_ERROR", "T")
	check.Same(t, 0, len(w.jobs("t")), "jobs")
}

func TestTheFirstEventBehindAnEventBasedGatewayWins(t *testing.T) {
	const drawing = `
		S: start
		G: await
		Wait: catch timer='PT1H'
		Order: catch message='m' key='=claim'
		E1: end
		E2: end
		S > G
		G > Wait
		G > Order
		Wait > E1
		Order > E2`
	w := deploy(t, drawing)
	w.start(`{"claim":"c1"}`)
	check.Same(t, "Wait", w.last("TIMER", "CREATED").Value["targetElementId"].(string), "the timer's element")
	check.Same(
		t,
		"Order",
		w.last("PROCESS_MESSAGE_SUBSCRIPTION", "CREATED").Value["elementId"].(string),
		"the subscription's element",
	)
	w.publishes("m", "c1", "", 0)
	w.ended("E2")
	w.start(`{"claim":"c2"}`)
	w.passes(time.Hour)
	w.ended("E2", "E1")
	check.Same(t, 0, len(w.subs)+len(w.alarms.all), "what is left waiting")
}

func TestACorrelationKeyIsATextOrANumber(t *testing.T) {
	const drawing = `
		S: start
		M: catch message='m' key='=k'
		E: end
		S > M
		M > E`
	for key, value := range map[string]string{`"7"`: "7", `7`: "7", `7.5`: "7.5", `"a b"`: "a b"} {
		w := deploy(t, drawing)
		instance := w.start(`{"k":` + key + `}`)
		w.sets(instance, `{"k":"changed"}`) // it is evaluated once, on entering
		w.publishes("m", "another", "", 0)
		w.publishes("m", value, "", 0)
		w.ended("E")
		check.Same(t, 1, len(w.find("PROCESS_MESSAGE_SUBSCRIPTION", "CORRELATED")), "correlations")
	}
	for _, key := range []string{`null`, `true`, `[]`, `{}`} {
		w := deploy(t, drawing)
		w.start(`{"k":` + key + `}`)
		w.incident("EXTRACT_VALUE_ERROR", "M")
	}
}

const waits = `
	S: start
	T: task type='t'
	M: catch message='m' key='="k"'
	E: end
	S > T
	T > M
	M > E`

func TestAMessageGoesToOneInstanceOfEachProcess(t *testing.T) {
	const drawing = `
		S: start
		M: catch message='m' key='="k"'
		E: end
		S > M
		M > E`
	w := deploy(t, drawing, drawing)
	w.start(`{}`)
	w.deploys(1, drawing+"\n\t\tF: end") // another version of P
	w.start(`{}`)
	do[*pb.CreateProcessInstanceResponse](w, &pb.CreateProcessInstanceRequest{BpmnProcessId: "P2", Version: -1})
	w.publishes("m", "k", "", 0)
	check.Same(
		t,
		2,
		len(w.find("PROCESS_MESSAGE_SUBSCRIPTION", "CORRELATED")),
		"correlations: the older instance of P, and P2",
	)
	check.Same(t, 1, len(w.subs), "who still waits")
}

func TestAMessageThatDoesNotLiveIsLostWhereNothingWaits(t *testing.T) {
	w := deploy(t, waits)
	w.start(`{}`)
	w.publishes("m", "k", "", 0)
	w.completes("t", `{}`)
	check.Same(t, 1, len(w.subs), "who waits")
}

func TestAMessageIsKeptWhileItLives(t *testing.T) {
	w := deploy(t, waits)
	w.start(`{}`)
	w.publishes("m", "k", "first", time.Hour)
	w.publishes("m", "other key", "first", time.Hour)
	w.publishes("other name", "k", "first", time.Hour)
	w.publishes("m", "k", "second", 2*time.Hour)
	w.refuses(&pb.PublishMessageRequest{Name: "m", CorrelationKey: "k", MessageId: "first"}, codes.AlreadyExists,
		"a message with that id was already published")
	w.completes("t", `{}`) // the first in is the first out
	w.ended("E")
	w.variable("P", "id", `"first"`)
	w.refuses(&pb.PublishMessageRequest{Name: "m", CorrelationKey: "k", MessageId: "first"}, codes.AlreadyExists, "")
	w.start(`{}`)
	w.completes("t", `{}`)
	w.ended("E", "E")
	w.passes(time.Hour)
	w.publishes("m", "k", "first", 0) // it is not kept any more
	w.refuses(&pb.PublishMessageRequest{Name: "m", CorrelationKey: "k", MessageId: "second"}, codes.AlreadyExists, "")
	w.passes(time.Hour)
	check.Same(t, 0, len(w.messages), "messages")
}

func TestOneOfTwoKeptMessagesIsLeft(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		A: boundary on='T' message='a' key='="k"'
		B: boundary on='T' message='b' key='="k"'
		EA: end
		EB: end
		S > T
		A > EA
		B > EB`)
	w.publishes("a", "k", "", time.Hour)
	w.publishes("b", "k", "", time.Hour)
	w.start(`{}`)
	w.ended("EA")
	w.start(`{}`) // the first message has been here
	w.ended("EA", "EB")
}

func TestARunOfAMultiInstanceHasItsItem(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t' items='=list'
		E: end
		S > T
		T > E`)
	w.start(`{"list":["a",{"b":1}]}`)
	var got []string
	for _, j := range w.jobs("t", "item", "loopCounter") {
		got = append(got, j.Variables)
		do[*pb.CompleteJobResponse](w, &pb.CompleteJobRequest{JobKey: j.Key})
	}
	check.Same(t, []string{`{"item":"a","loopCounter":1}`, `{"item":{"b":1},"loopCounter":2}`}, got, "variables")
	w.ended("E")
	w.start(`{"list":[]}`)
	w.ended("E", "E")
	w.start(`{"list":1}`)
	w.incident("EXTRACT_VALUE_ERROR", "T")
}

func TestAnErrorOfOneRunEndsThemAll(t *testing.T) {
	w := deploy(t, `
		S: start
		C: call process='P2' items='=[1,2,3]'
		B: boundary on='C' error='E1'
		E: end
		S > C
		B > E`, `
		S: start
		X: end error='E1'
		S > X`)
	w.start(`{}`)
	w.ended("E")
	check.Same(t, 0, w.Incidents(), "incidents")
}

const review = `
	S: start
	U: user group='billing, audit' form='review'
	B: boundary on='U' timer='PT1H'
	E: end
	Late: end
	S > U
	U > E
	B > Late`

func TestAProcessThatGotAKeptMessageDoesNotGetItAgain(t *testing.T) {
	w := deploy(t, waits)
	w.start(`{}`)
	w.completes("t", `{}`)
	w.publishes("m", "k", "", time.Hour)
	w.ended("E")
	w.start(`{}`)
	w.completes("t", `{}`)
	check.Same(t, 1, len(w.subs), "who waits: P has got the message, though it is kept")
}

func TestBoundaryEventsEndCallsAndSubprocesses(t *testing.T) {
	for _, activity := range []string{"A: call process='P2'", "A: sub\nS2: start\nT: task type='t'\nS2 > T\nend A"} {
		w := deploy(t, `
			S: start
			`+activity+`
			B: boundary on='A' timer='PT1H'
			E: end
			S > A
			B > E`, oneTask)
		w.start(`{}`)
		w.passes(time.Hour)
		w.ended("E")
		check.Same(t, 1, len(w.find("JOB", "CANCELED")), "jobs cancelled")
	}
}

func TestAResolvedElementIsTriedAgain(t *testing.T) {
	w := deploy(t, `
		S: start
		M: catch message='m' key='=k'
		C: call process='P2'
		S > M
		M > C`)
	instance := w.start(`{}`)
	first := w.incident("EXTRACT_VALUE_ERROR", "M")
	w.sets(instance, `{"k":"k"}`)
	w.resolves(first)
	w.publishes("m", "k", "", 0)
	second := w.incident("CALLED_ELEMENT_ERROR", "C")
	w.deploys(2, oneTask)
	w.resolves(second)
	w.job("t")
}
