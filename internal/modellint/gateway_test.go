package modellint_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/testing/check"
)

// behind are elements that a flow of the gateway can lead to, with what follows them.
var behind = map[string]string{
	"Ask": `<userTask id="Ask"><extensionElements><zeebe:userTask /></extensionElements></userTask>` +
		`<sequenceFlow id="Asked" sourceRef="Ask" targetRef="Task_RecordAbandoned" />`,
	"Confirm": `<userTask id="Confirm"><extensionElements><zeebe:userTask /><zeebe:ioMapping>` + timerMapping +
		`<zeebe:output source="=null" target="lastSubmissionTime" /><zeebe:output source="=null" target="retryAfter" />` +
		`</zeebe:ioMapping></extensionElements></userTask><sequenceFlow id="Confirmed" sourceRef="Confirm" targetRef="Task_SubmitClaim" />`,
	"Log": `<task id="Log" /><sequenceFlow id="Logged" sourceRef="Log" targetRef="Event_WaitBackoff" />`,
	"Notice": `<task id="Notice" /><sequenceFlow id="Noticed" sourceRef="Notice" targetRef="Ask2" /><userTask id="Ask2"><extensionElements><zeebe:userTask />` +
		`</extensionElements></userTask><sequenceFlow id="Asked2" sourceRef="Ask2" targetRef="Task_RecordAbandoned" />`,
	"Link": `<intermediateThrowEvent id="Link"><linkEventDefinition name="A" /></intermediateThrowEvent>`,
}

// forked returns the model pool with other flows out of its gateway, each "id condition > element"; the one
// named Flow_Refused is the default.
func forked(t *testing.T, flows ...string) bpmn.Model {
	t.Helper()
	f := file(t, "testdata/good/pool.bpmn")
	before, rest, _ := strings.Cut(string(f.Content), `<sequenceFlow id="Flow_Granted"`)
	_, after, is := strings.Cut(rest, `targetRef="Gateway_JoinStopped" />`)
	if !is {
		t.Fatal("pool has other flows")
	}
	var b strings.Builder
	for _, flow := range flows {
		from, to, _ := strings.Cut(flow, " > ")
		id, asked, _ := strings.Cut(from, " ")
		if id != "" {
			id = fmt.Sprintf(`id="%s"`, id)
		}
		fmt.Fprintf(&b, `%s<sequenceFlow %s sourceRef="Gateway_ShouldRetry" targetRef="%s">`, behind[to], id, to)
		if asked != "" {
			b.WriteString("<conditionExpression>" + asked + "</conditionExpression>")
		}
		b.WriteString("</sequenceFlow>")
	}
	f.Content = []byte(before + b.String() + after)
	return f
}

func TestARetryGoesToTheWaitAndNothingElse(t *testing.T) {
	const wait = "Flow_Refused > Event_WaitBackoff"
	const stop = "Flow_Refused > Gateway_JoinStopped"
	for _, c := range []struct {
		flows  []string
		astray bool
	}{
		{[]string{"Yes =shouldRetry = true > Ask", wait}, true},
		{[]string{wait, "Yes =shouldRetry > Ask"}, true},
		{[]string{"Yes =shouldRetry = true > Ask", "Flow_Refused > Log"}, true},
		{[]string{"Yes =shouldRetry = true > Notice", wait}, true},
		{[]string{"Yes =shouldRetry = true > EndEvent_ClaimAbandoned", wait}, true},
		{[]string{"Yes =shouldRetry = true > Log", stop}, false},
		{[]string{"Yes =shouldRetry = true > Confirm", stop}, false},
		{[]string{"Few =retryCount &lt; 3 > Event_WaitBackoff", "Yes =shouldRetry = true > Confirm", stop}, false},
		{[]string{"Late =retryCount &gt; 3 > Log", "Yes =shouldRetry = true > Event_WaitBackoff", stop}, false},
		{[]string{"Yes =shouldRetry = true > Link", wait}, false},
		{[]string{"Yes =shouldRetry = true > Confirm", "Flow_Refused > Link"}, false},
		{[]string{"No =shouldRetry = false > Ask", wait}, false},
		{[]string{"Odd =errorClassification = \"UNKNOWN\" > Ask", wait}, false},
	} {
		var want []string
		if c.astray {
			want = []string{"error wait-leads-astray Gateway_ShouldRetry"}
		}
		check.Same(t, want, found(standard, forked(t, c.flows...)), "%q", c.flows)
	}
}

// A broker refuses a flow of a choice that has neither a condition nor is the default, and one that is both.
func TestAFlowOfAChoiceHasAConditionOrIsTheDefault(t *testing.T) {
	const yes, no = "Yes =shouldRetry = true > Event_WaitBackoff", "Flow_Refused > Gateway_JoinStopped"
	for _, c := range []struct {
		flows   []string
		refused bool
	}{
		{[]string{"Yes > Event_WaitBackoff", no}, true},
		{[]string{yes, "No > Gateway_JoinStopped", "Flow_Refused > Log"}, true},
		{[]string{yes, "Flow_Refused =shouldRetry = false > Gateway_JoinStopped"}, true},
		{[]string{"Flow_Refused =shouldRetry = true > Event_WaitBackoff", "No > Gateway_JoinStopped"}, true},
		{[]string{yes, no}, false},
		{[]string{"Flow_Refused > Event_WaitBackoff"}, false},
		{[]string{"Few =retryCount &lt; 3 > Log", yes, no}, false},
	} {
		var want []string
		if c.refused {
			want = []string{"error condition-missing Gateway_ShouldRetry"}
		}
		check.Same(t, want, found(standard, forked(t, c.flows...)), "%q", c.flows)
	}
}

func TestAChoiceWithoutADefaultMayAskForAll(t *testing.T) {
	yes, no := "Yes =shouldRetry = true > Event_WaitBackoff", "No =shouldRetry = false > Gateway_JoinStopped"
	for _, flows := range [][]string{{yes, no}, {" =shouldRetry > Event_WaitBackoff", " =not(shouldRetry) > Gateway_JoinStopped"}} {
		f := forked(t, flows...)
		f.Content = []byte(strings.Replace(string(f.Content), ` default="Flow_Refused"`, "", 1))
		check.Same(t, nil, found(standard, f), "%q", flows)
	}
	f := changed(t, "pool", ` default="Flow_Refused"`, "")
	check.Same(t, []string{"error condition-missing Gateway_ShouldRetry"}, found(standard, f), "findings")
}
