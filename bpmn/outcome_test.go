package bpmn_test

import (
	"maps"
	"slices"
	"testing"
)

// recorders returns the tasks that report to the worker how a claim ended, by what they say.
func recorders(t *testing.T, path string) map[string][]element {
	t.Helper()
	found := map[string][]element{}
	for _, task := range read(t, path).all("serviceTask") {
		definition := task.all("taskDefinition")[0]
		if definition.attr("type") != "record-retry-outcome" {
			continue
		}
		if got := definition.attr("retries"); got != "3" {
			t.Errorf("%s has %q retries, want 3", task.attr("id"), got)
		}
		// An input mapping makes the variable the task's own: none of that name in the hospital's process is touched.
		outcome := task.inputs()["outcome"]
		if outcome == "" || len(task.all("output")) != 0 {
			t.Errorf("%s maps %v, want an outcome in and nothing out", task.attr("id"), task.inputs())
		}
		found[outcome] = append(found[outcome], task)
	}
	return found
}

func TestEveryEndOfAClaimIsRecorded(t *testing.T) {
	for _, c := range []struct {
		path, outcome, before string
		want                  []string
	}{
		{"submission-retry.bpmn", `="SUBMITTED"`, "endEvent", []string{"EndEvent_ClaimSubmitted"}},
		{"submission-retry.bpmn", `="REDRIVEN"`, "exclusiveGateway", []string{"Gateway_JoinResubmission"}},
		{"sub-06.bpmn", `="SUBMITTED"`, "endEvent", []string{"EndEvent_ClaimAlreadyReceived"}},
		{"sub-06.bpmn", `="ABANDONED"`, "endEvent", []string{"EndEvent_AbandonedByBilling", "EndEvent_AbandonedByRegistration"}},
		{"sub-06.bpmn", `="RESUBMITTED"`, "exclusiveGateway", []string{"Gateway_JoinBillingResubmission", "Gateway_JoinRegistrationResubmission"}},
		{"../examples/caller.bpmn", `="ABANDONED"`, "endEvent", []string{"EndEvent_ForBilling", "EndEvent_ForRegistration"}},
	} {
		root := read(t, c.path)
		var reached []string
		for _, task := range recorders(t, c.path)[c.outcome] {
			next := root.byID(t, root.byID(t, task.all("outgoing")[0].Text).attr("targetRef"))
			reached = append(reached, next.attr("id"))
			if next.XMLName.Local != c.before {
				t.Errorf("%s: %s leads to a %s, want a %s", c.path, task.attr("id"), next.XMLName.Local, c.before)
			}
			if ways := next.all("incoming"); c.before == "endEvent" && len(ways) != 1 {
				t.Errorf("%s: %d ways lead to %s, want the recorded one only", c.path, len(ways), next.attr("id"))
			}
		}
		slices.Sort(reached)
		if !slices.Equal(reached, c.want) {
			t.Errorf("%s: %s is recorded before %v, want %v", c.path, c.outcome, reached, c.want)
		}
	}
}

func TestNoModelRecordsAnUnknownOutcome(t *testing.T) {
	want := map[string]string{
		"submission-retry.bpmn":               `="REDRIVEN" ="SUBMITTED"`,
		"sub-06.bpmn":                         `="ABANDONED" ="RESUBMITTED" ="SUBMITTED"`,
		"../examples/caller.bpmn":             `="ABANDONED"`,
		"../examples/submission-backoff.bpmn": `="ABANDONED" ="SUBMITTED"`,
		"../examples/job-queue.bpmn":          `="ABANDONED" ="SUBMITTED"`,
		"../examples/email.bpmn":              `="ABANDONED" ="SUBMITTED"`,
		"../examples/fast-retry.bpmn":         `="ABANDONED" ="REDRIVEN" ="RESUBMITTED" ="SUBMITTED"`,
	}
	got := map[string]string{}
	for _, path := range files(t) {
		got[path] = sorted(recorders(t, path))
	}
	if !maps.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
}

func TestAPersonsReasonAndNameAreRecorded(t *testing.T) {
	byHand := map[string]bool{`="REDRIVEN"`: true, `="RESUBMITTED"`: true, `="ABANDONED"`: true}
	for _, path := range []string{"submission-retry.bpmn", "sub-06.bpmn", "../examples/fast-retry.bpmn"} {
		for outcome, tasks := range recorders(t, path) {
			for _, task := range tasks {
				want := map[string]string{"outcome": outcome}
				if byHand[outcome] {
					want["justification"], want["operator"] = "=justification", "=operator"
				}
				if byHand[outcome] && outcome != `="ABANDONED"` { // no message orders that
					want["redriveId"] = "=redriveId"
				}
				if got := task.inputs(); !maps.Equal(got, want) {
					t.Errorf("%s: %s maps %v, want %v", path, task.attr("id"), got, want)
				}
			}
		}
	}
}

// What is recorded are figures; a claim that a person wants to send again does not wait for them without an end.
func TestAResubmissionWaitsForItsRecordAnHourAtMost(t *testing.T) {
	for _, c := range []struct{ path, timer, recorder, then, on string }{
		{"sub-06.bpmn", "BillingResubmit", "ResubmittedByBilling", "BillingResubmission", "Gateway_JoinSubmission"},
		{"sub-06.bpmn", "RegistrationResubmit", "ResubmittedByRegistration", "RegistrationResubmission", "Gateway_JoinSubmission"},
		{"submission-retry.bpmn", "Redrive", "Redriven", "Resubmission", "Gateway_CheckStatus"},
	} {
		root := read(t, c.path)
		timer := root.byID(t, "BoundaryEvent_"+c.timer+"Unrecorded")
		if got := timer.attr("attachedToRef"); got != "Task_Record"+c.recorder {
			t.Errorf("%s: attached to %q", c.timer, got)
		}
		if timer.attr("cancelActivity") == "false" {
			t.Errorf("%s: the claim would be submitted twice", c.timer)
		}
		if got := timer.all("timeDuration")[0].Text; got != "PT1H" {
			t.Errorf("%s: it waits %s, want PT1H", c.timer, got)
		}
		unrecorded := root.byID(t, timer.all("outgoing")[0].Text).attr("targetRef")
		if unrecorded != "Gateway_Join"+c.then {
			t.Errorf("%s: without a record the claim goes to %s", c.timer, unrecorded)
		}
		on := root.byID(t, root.byID(t, unrecorded).all("outgoing")[0].Text).attr("targetRef")
		if on != c.on {
			t.Errorf("%s: the claim goes to %s, want the way to the next submission", c.timer, on)
		}
	}
}
