package bpmn_test

import (
	"maps"
	"slices"
	"testing"
)

func TestTheRedriveMessageIsAwaitedDuringEveryWait(t *testing.T) {
	for path, want := range map[string]map[string]string{
		"submission-retry.bpmn": {"Event_RedriveClaim": ""},
		"sub-06.bpmn": {
			"BoundaryEvent_BillingRedriven":      "Task_ReviewClaim",
			"BoundaryEvent_RegistrationRedriven": "Task_CorrectData",
		},
		"../examples/fast-retry.bpmn": {"Event_RedriveJob": "", "BoundaryEvent_JobRedriven": "Task_ReviewJob"},
	} {
		root := read(t, path)
		messages := root.all("message")
		if len(messages) != 1 || messages[0].attr("name") != "redrive-claim" {
			t.Fatalf("%s: messages %v, want redrive-claim alone", path, messages)
		}
		if got := messages[0].all("subscription")[0].attr("correlationKey"); got != "=claimId" {
			t.Errorf("%s: the message finds the process by %s, want =claimId", path, got)
		}
		got := map[string]string{}
		for _, event := range root.all("intermediateCatchEvent", "boundaryEvent") {
			if len(event.all("messageEventDefinition")) == 0 {
				continue
			}
			got[event.attr("id")] = event.attr("attachedToRef")
			if event.attr("cancelActivity") == "false" {
				t.Errorf("%s: %s would leave the person's task open", path, event.attr("id"))
			}
			outputs := event.outputs()
			for _, name := range []string{"justification", "operator", "redriveId"} {
				if outputs[name] != "="+name {
					t.Errorf("%s: %s maps %s from %q", path, event.attr("id"), name, outputs[name])
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: awaited at %v, want %v", path, got, want)
		}
	}
}

func TestTheStatusIsCheckedOnlyOnRequest(t *testing.T) {
	for path, c := range map[string]struct{ not, unknown, notReceived string }{
		"submission-retry.bpmn": {"Gateway_JoinRetry", "Gateway_JoinAnalysis", "Gateway_JoinRetry"},
		"sub-06.bpmn":           {"Gateway_JoinRefused", "Gateway_JoinRefused", "Gateway_JoinRefused"},
	} {
		root := read(t, path)
		for gateway, flow := range map[string]string{"Gateway_CheckStatus": "Flow_NoCheck", "Gateway_ClaimReceived": "Flow_NotReceived"} {
			if got := root.byID(t, gateway).attr("default"); got != flow {
				t.Errorf("%s: default of %s is %q, want %s", path, gateway, got, flow)
			}
		}
		for flow, want := range map[string]string{
			"Flow_Check": `=retryDecision.advice = "CHECK_STATUS" and checkStatus = true`, "Flow_Received": "=claimReceived = true",
		} {
			if got := root.byID(t, flow).all("conditionExpression")[0].Text; got != want {
				t.Errorf("%s: %s when %s, want %s", path, flow, got, want)
			}
		}
		for flow, want := range map[string]string{
			"Flow_NoCheck": c.not, "Flow_StatusUnknown": c.unknown, "Flow_NotReceived": c.notReceived,
		} {
			if got := root.byID(t, flow).attr("targetRef"); got != want {
				t.Errorf("%s: %s goes to %s, want %s", path, flow, got, want)
			}
		}
		if got := root.byID(t, "BoundaryEvent_StatusUnknown").all("errorEventDefinition")[0].attr("errorRef"); got != "" {
			t.Errorf("%s: errorRef %q: without one, every code is caught", path, got)
		}
		// An answer to an earlier question must not be read again.
		failed := slices.DeleteFunc(root.all("boundaryEvent"), func(e element) bool { return e.outputs()["claimReceived"] != "=null" })
		if len(failed) != 1 {
			t.Errorf("%s: claimReceived is cleared at %d events, want one", path, len(failed))
		}
	}
}
