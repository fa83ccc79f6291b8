package bpmn_test

import (
	"maps"
	"slices"
	"testing"
)

// recorders returns the tasks that tell the worker how a claim ended, by what they say.
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
		inputs := task.all("input")
		if len(inputs) != 1 || inputs[0].attr("target") != "outcome" || len(task.all("output")) != 0 {
			t.Fatalf("%s maps %v, want outcome in and nothing out", task.attr("id"), inputs)
		}
		outcome := inputs[0].attr("source")
		found[outcome] = append(found[outcome], task)
	}
	return found
}

func TestEveryEndOfAClaimIsRecordedOnTheOnlyWayToIt(t *testing.T) {
	for _, c := range []struct {
		path, outcome, before string
		want                  []string
	}{
		{"submission-retry.bpmn", `="SUBMITTED"`, "endEvent", []string{"EndEvent_ClaimSubmitted"}},
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

func TestNoModelRecordsAnOutcomeThatTheWorkerDoesNotKnow(t *testing.T) {
	want := map[string]string{
		"submission-retry.bpmn":   `="SUBMITTED"`,
		"sub-06.bpmn":             `="ABANDONED" ="RESUBMITTED"`,
		"../examples/caller.bpmn": `="ABANDONED"`,
	}
	got := map[string]string{}
	for _, path := range files(t) {
		got[path] = sorted(recorders(t, path))
	}
	if !maps.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
}

// What is recorded are figures; a claim that a person wants to send again does not wait for them without an end.
func TestAResubmissionWaitsForItsRecordAnHourAtMost(t *testing.T) {
	root := read(t, "sub-06.bpmn")
	for _, team := range []string{"Billing", "Registration"} {
		timer := root.byID(t, "BoundaryEvent_"+team+"ResubmitUnrecorded")
		if got := timer.attr("attachedToRef"); got != "Task_RecordResubmittedBy"+team {
			t.Errorf("%s: attached to %q", team, got)
		}
		if timer.attr("cancelActivity") == "false" {
			t.Errorf("%s: the claim would be submitted twice", team)
		}
		if got := timer.all("timeDuration")[0].Text; got != "PT1H" {
			t.Errorf("%s: it waits %s, want PT1H", team, got)
		}
		unrecorded := root.byID(t, timer.all("outgoing")[0].Text).attr("targetRef")
		if unrecorded != "Gateway_Join"+team+"Resubmission" {
			t.Errorf("%s: without a record the claim goes to %s", team, unrecorded)
		}
		on := root.byID(t, root.byID(t, unrecorded).all("outgoing")[0].Text).attr("targetRef")
		if on != "Gateway_JoinSubmission" {
			t.Errorf("%s: the claim goes to %s, want the next submission", team, on)
		}
	}
}
