package model_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

func TestFlowNodesThatDoNotRunAreRefusedByName(t *testing.T) {
	for kind := range strings.FieldsSeq("task manualTask receiveTask scriptTask businessRuleTask " +
		"parallelGateway inclusiveGateway complexGateway transaction adHocSubProcess callChoreography unheardOf") {
		refused(t, `<`+kind+` id="X"/>`, "X", kind+" is not supported")
	}
	refused(t, `<endEvent id="E"/><parallelGateway id="X"/>
		<sequenceFlow id="F" sourceRef="S" targetRef="X"/><sequenceFlow id="G" sourceRef="X" targetRef="E"/>`,
		"X", "parallelGateway is not supported")
}

func TestEventsThatDoNotRunAreRefusedByName(t *testing.T) {
	for element, definitions := range map[string]string{
		`intermediateCatchEvent`:               "signal link conditional escalation compensate cancel",
		`boundaryEvent attachedToRef="T"`:      "signal conditional escalation compensate cancel",
		`intermediateThrowEvent`:               "message signal link escalation compensate",
		`endEvent`:                             "message signal terminate escalation compensate cancel",
		`startEvent isInterrupting="true"`:     "message timer signal conditional",
		`intermediateThrowEvent name="thrown"`: "error",
	} {
		kind, _, _ := strings.Cut(element, " ")
		for definition := range strings.FieldsSeq(definitions) {
			name := definition + "EventDefinition"
			text := fmt.Sprintf(`<subProcess id="T"><startEvent id="U"/></subProcess><%s id="X"><%s id="Y"/></%s>`, element, name, kind)
			if kind == "startEvent" {
				text = strings.Replace(text, `<startEvent id="U"/>`, "", 1)
				text = strings.Replace(text, `</subProcess>`, "", 1) + `</subProcess>`
			}
			refused(t, text, "X", name+" is not supported")
		}
	}
}

// extended is a flow node with extensions.
func extended(kind, extensions string) string {
	return fmt.Sprintf(`<%s id="X"><extensionElements>%s</extensionElements></%[1]s>`, kind, extensions)
}

const (
	job     = `<zeebe:taskDefinition type="pack"/>`
	message = `<message id="M" name="paid"><extensionElements><zeebe:subscription correlationKey="=1"/></extensionElements></message>`
	torn    = `<error id="Torn" errorCode="TORN"/>`
	waiting = `<intermediateCatchEvent id="X"><timerEventDefinition><timeDuration>%s</timeDuration></timerEventDefinition></intermediateCatchEvent>`
)

func TestExtensionsThatDoNotRunAreRefusedByName(t *testing.T) {
	for extension := range strings.FieldsSeq("executionListeners taskListeners script calledDecision publishMessage linkedResources") {
		refused(t, extended("serviceTask", job+`<zeebe:`+extension+`/>`), "X", "zeebe:"+extension+" is not supported")
	}
	for extension := range strings.FieldsSeq("taskListeners taskSchedule priorityDefinition taskHeaders taskDefinition") {
		refused(t, extended("userTask", `<zeebe:userTask/><zeebe:`+extension+`/>`), "X", "zeebe:"+extension+" is not supported")
	}
	refused(t, extended("exclusiveGateway", `<zeebe:ioMapping/>`), "X", "zeebe:ioMapping is not supported")
	refused(t, `<extensionElements><zeebe:userTaskForm id="form"/></extensionElements>`, "form", "zeebe:userTaskForm is not supported")
}

func TestAttributesThatChangeBehaviourAreRefusedByName(t *testing.T) {
	for _, c := range [][2]string{
		{extended("userTask", `<zeebe:userTask/><zeebe:formDefinition formId="f" formKey="k"/>`), `formKey="k" of zeebe:formDefinition`},
		{extended("userTask", `<zeebe:userTask/><zeebe:formDefinition formId="f" externalReference="r"/>`), `externalReference="r" of zeebe:formDefinition`},
		{extended("userTask", `<zeebe:userTask/><zeebe:formDefinition formId="f" bindingType="deployment"/>`), `bindingType="deployment" of zeebe:formDefinition`},
		{extended("userTask", `<zeebe:userTask/><zeebe:assignmentDefinition assignee="a"/>`), `assignee="a" of zeebe:assignmentDefinition`},
		{extended("callActivity", `<zeebe:calledElement processId="p" bindingType="versionTag"/>`), `bindingType="versionTag" of zeebe:calledElement`},
		{extended("callActivity", `<zeebe:calledElement processId="p" propagateAllParentVariables="false"/>`), `propagateAllParentVariables="false" of zeebe:calledElement`},
		{extended("serviceTask", `<zeebe:taskDefinition type="t" unheardOf="1"/>`), `unheardOf="1" of zeebe:taskDefinition`},
		{strings.Replace(extended("serviceTask", job), ">", ` isForCompensation="true">`, 1), `isForCompensation="true" of serviceTask`},
		{strings.Replace(extended("serviceTask", job), ">", ` zeebe:unheardOf="1">`, 1), `zeebe:unheardOf="1" of serviceTask`},
		{`<subProcess id="T"><startEvent id="U"/></subProcess><boundaryEvent id="X" attachedToRef="T" cancelActivity="false"><errorEventDefinition/></boundaryEvent>`, `cancelActivity="false" of boundaryEvent`},
		{`<subProcess id="T" triggeredByEvent="true"><startEvent id="X" isInterrupting="false"><errorEventDefinition/></startEvent></subProcess>`, `isInterrupting="false" of startEvent`},
		{strings.Replace(fmt.Sprintf(waiting, "PT1S"), "<timeDuration>", `<timeDuration language="x">`, 1), `language="x" of timeDuration`},
	} {
		refused(t, c[0], "X", c[1]+" is not supported")
	}
}

func TestLoopsButParallelOnesAreRefused(t *testing.T) {
	loop := func(attributes, characteristics, more string) string {
		return `<serviceTask id="X"><extensionElements>` + job + `</extensionElements><multiInstanceLoopCharacteristics ` + attributes +
			`><extensionElements><zeebe:loopCharacteristics ` + characteristics + `/></extensionElements>` + more +
			`</multiInstanceLoopCharacteristics></serviceTask>`
	}
	for _, c := range [][2]string{
		{loop(`isSequential="true"`, `inputCollection="=a"`, ""), `isSequential="true" of multiInstanceLoopCharacteristics is not supported`},
		{loop(``, `inputCollection="=a" outputCollection="b"`, ""), `outputCollection="b" of zeebe:loopCharacteristics is not supported`},
		{loop(``, `inputCollection="=a"`, "<loopCardinality>3</loopCardinality>"), `loopCardinality is not supported`},
		{loop(``, `inputCollection="=a"`, "<completionCondition>=true</completionCondition>"), `completionCondition is not supported`},
		{loop(``, `inputElement="a"`, ""), `inputCollection of zeebe:loopCharacteristics must be present and not empty`},
		{loop(``, `inputCollection="a"`, ""), `expected an expression, which starts with '=', but found 'a'`},
		{loop(``, `inputCollection="=a" inputElement="a b"`, ""), `'a b' is no name of a variable`},
		{loop(``, `inputCollection="=a" inputElement="a.b"`, ""), `the inputElement 'a.b' must be a variable, not a property`},
		{strings.Replace(extended("serviceTask", job), "</service", "<standardLoopCharacteristics/></service", 1), "standardLoopCharacteristics is not supported"},
		{strings.Replace(extended("serviceTask", job), "</service", "<multiInstanceLoopCharacteristics/></service", 1), "must have exactly one zeebe:loopCharacteristics, not 0"},
		{`<subProcess id="X" triggeredByEvent="true"><startEvent id="U"><errorEventDefinition/></startEvent><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=a"/></extensionElements></multiInstanceLoopCharacteristics></subProcess>`, "multiInstanceLoopCharacteristics is not supported in an event subprocess"},
	} {
		refused(t, c[0], "X", c[1])
	}
}

func TestWhatIsMissingOrWrongIsRefused(t *testing.T) {
	event := func(definition string) string {
		return `<intermediateCatchEvent id="X">` + definition + `</intermediateCatchEvent>`
	}
	for _, c := range []struct{ text, id, says string }{
		{`<serviceTask id="X"/>`, "X", "must have exactly one zeebe:taskDefinition, not 0"},
		{`<sendTask id="X"/>`, "X", "must have exactly one zeebe:taskDefinition, not 0"},
		{extended("serviceTask", job+job), "X", "must have exactly one zeebe:taskDefinition, not 2"},
		{extended("serviceTask", job+`<zeebe:ioMapping/><zeebe:ioMapping/>`), "X", "must have exactly one zeebe:ioMapping, not 2"},
		{extended("serviceTask", `<zeebe:taskDefinition retries="3"/>`), "X", "type of zeebe:taskDefinition must be present and not empty"},
		{extended("serviceTask", `<zeebe:taskDefinition type=" "/>`), "X", "type of zeebe:taskDefinition must be present and not empty"},
		{extended("serviceTask", `<zeebe:taskDefinition type="t" retries=""/>`), "X", "retries of zeebe:taskDefinition must not be empty"},
		{extended("serviceTask", job+`<zeebe:ioMapping><zeebe:input target="a"/></zeebe:ioMapping>`), "X", "source of zeebe:input must be present and not empty"},
		{extended("serviceTask", job+`<zeebe:ioMapping><zeebe:input source="=1"/></zeebe:ioMapping>`), "X", "target of zeebe:input must be present and not empty"},
		{extended("serviceTask", job+`<zeebe:ioMapping><zeebe:output target="a"/></zeebe:ioMapping>`), "X", "source of zeebe:output must be present and not empty"},
		{extended("serviceTask", job+`<zeebe:ioMapping><zeebe:output source="=1"/></zeebe:ioMapping>`), "X", "target of zeebe:output must be present and not empty"},
		{extended("serviceTask", job+`<zeebe:taskHeaders><zeebe:header value="v"/></zeebe:taskHeaders>`), "X", "key of zeebe:header must be present and not empty"},
		{extended("userTask", `<zeebe:userTask/><zeebe:formDefinition/>`), "X", "formId of zeebe:formDefinition must be present and not empty"},
		{extended("serviceTask", job+`<zeebe:ioMapping><zeebe:output source="=1" target="a b"/></zeebe:ioMapping>`), "X", "'a b' is no name of a variable"},
		{`<callActivity id="X"/>`, "X", "must have exactly one zeebe:calledElement, not 0"},
		{extended("callActivity", `<zeebe:calledElement/>`), "X", "processId of zeebe:calledElement must be present and not empty"},
		{extended("userTask", `<zeebe:formDefinition formId="f"/>`), "X", "zeebe:formDefinition is not supported without zeebe:userTask"},
		{`<endEvent id="X"/><intermediateThrowEvent id="X"/>`, "X", "the id 'X' is not unique, or no XML name"},
		{`<intermediateThrowEvent id="1"/>`, "1", "the id '1' is not unique, or no XML name"},

		{event(""), "X", "must have exactly one timerEventDefinition or messageEventDefinition, not 0"},
		{event(`<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition><messageEventDefinition messageRef="M"/>`), "X", "must have exactly one timerEventDefinition or messageEventDefinition, not 2"},
		{event(`<timerEventDefinition/>`), "X", "must have exactly one timeDuration or timeDate, not 0"},
		{event(`<timerEventDefinition><timeCycle>R/PT1S</timeCycle></timerEventDefinition>`), "X", "timeCycle is not supported"},
		{event(`<timerEventDefinition><timeDate>tomorrow</timeDate></timerEventDefinition>`), "X", "Invalid date-time format 'tomorrow'"},
		{fmt.Sprintf(waiting, ""), "X", "timeDuration must not be empty"},
		{fmt.Sprintf(waiting, "5M"), "X", "Invalid duration format '5M'"},
		{event(`<messageEventDefinition/>`), "X", "messageRef of messageEventDefinition must be present and not empty"},
		{event(`<messageEventDefinition messageRef="N"/>`), "X", "refers to 'N', which does not exist"},

		{`<endEvent id="X"><errorEventDefinition/></endEvent>`, "X", "must refer to an error with an errorCode"},
		{`<subProcess id="T"><startEvent id="U"/></subProcess>
			<boundaryEvent id="X" attachedToRef="T"><errorEventDefinition errorRef="Other"/></boundaryEvent>`, "X", "refers to 'Other', which does not exist"},
		{`<boundaryEvent id="X" attachedToRef="S"><errorEventDefinition/></boundaryEvent>`, "X", "must be attached to an activity of its scope, not to 'S'"},
		{`<subProcess id="T"><startEvent id="U"/></subProcess><boundaryEvent id="X" attachedToRef="T"/>`, "X", "must have exactly one errorEventDefinition or timerEventDefinition or messageEventDefinition, not 0"},
		{`<boundaryEvent id="X"><errorEventDefinition/></boundaryEvent>`, "X", "attachedToRef of boundaryEvent must be present and not empty"},
		{`<subProcess id="T"><startEvent id="U"/></subProcess>
			<boundaryEvent id="A" attachedToRef="T"><errorEventDefinition errorRef="Torn"/></boundaryEvent>
			<boundaryEvent id="B" attachedToRef="T"><errorEventDefinition/></boundaryEvent>
			<boundaryEvent id="X" attachedToRef="T"><errorEventDefinition errorRef="Torn"/></boundaryEvent>`, "X", "must not catch the same error code 'TORN' as 'A'"},
		{`<subProcess id="T" triggeredByEvent="true"><startEvent id="A"><errorEventDefinition/></startEvent></subProcess>
			<subProcess id="U" triggeredByEvent="true"><startEvent id="X"><errorEventDefinition/></startEvent></subProcess>`, "X", "must not catch the same error code '' as 'A'"},

		{`<subProcess id="T"><startEvent id="U"/></subProcess>
			<boundaryEvent id="A" attachedToRef="T"><messageEventDefinition messageRef="M"/></boundaryEvent>
			<boundaryEvent id="X" attachedToRef="T"><messageEventDefinition messageRef="M"/></boundaryEvent>`, "X", "must not catch the same message 'paid' as 'A'"},
		{`<eventBasedGateway id="G"><outgoing>E</outgoing><outgoing>F</outgoing></eventBasedGateway>
			<intermediateCatchEvent id="A"><messageEventDefinition messageRef="M"/></intermediateCatchEvent>
			<intermediateCatchEvent id="X"><messageEventDefinition messageRef="M"/></intermediateCatchEvent>
			<sequenceFlow id="E" sourceRef="G" targetRef="A"/><sequenceFlow id="F" sourceRef="G" targetRef="X"/>`, "X", "must not catch the same message 'paid' as 'A'"},

		{`<startEvent id="T"/>`, "P", "must have exactly one startEvent, not 2"},
		{`<subProcess id="X"/>`, "X", "must have exactly one startEvent, not 0"},
		{`<subProcess id="T"><startEvent id="X"><errorEventDefinition/></startEvent></subProcess>`, "X", "must have an errorEventDefinition in an event subprocess, and there only"},
		{`<subProcess id="T" triggeredByEvent="true"><startEvent id="X"/></subProcess>`, "X", "must have an errorEventDefinition in an event subprocess, and there only"},
	} {
		refused(t, c.text, c.id, c.says)
	}
}

func TestAllThatRunsNeedsAnID(t *testing.T) {
	for kind := range strings.FieldsSeq("startEvent endEvent boundaryEvent intermediateCatchEvent intermediateThrowEvent " +
		"exclusiveGateway eventBasedGateway sequenceFlow serviceTask sendTask userTask callActivity subProcess") {
		_, err := model.Read(process(`<` + kind + `/>`))
		check.Fails(t, err, "id of "+kind+" must be present and not empty")
	}
	for _, kind := range []string{"error", "message"} {
		_, err := model.Read(process("", `<`+kind+`/>`))
		check.Fails(t, err, "id of "+kind+" must be present and not empty")
	}
	_, err := model.Read([]byte(head + `<process isExecutable="true"><startEvent id="S"/></process></definitions>`))
	check.Fails(t, err, "id of process must be present and not empty")
}

func TestFlowsThatLeadNowhereAreRefused(t *testing.T) {
	const (
		end    = `<endEvent id="E"/>`
		part   = `<subProcess id="T"><startEvent id="U"/></subProcess>`
		onTorn = `<subProcess id="T" triggeredByEvent="true"><startEvent id="U"><errorEventDefinition/></startEvent></subProcess>`
	)
	flow := func(id, from, to string) string {
		return fmt.Sprintf(`<sequenceFlow id="%s" sourceRef="%s" targetRef="%s"/>`, id, from, to)
	}
	wait := strings.ReplaceAll(fmt.Sprintf(waiting, "PT1S"), `"X"`, `"W"`)
	twoWait := func(attribute, value string) string {
		return wait + strings.Replace(wait, `"W"`, `"V"`, 1) + `<eventBasedGateway id="X" ` + attribute + `="` + value + `">` +
			`<outgoing>F</outgoing><outgoing>H</outgoing></eventBasedGateway>` + flow("F", "X", "W") + flow("H", "X", "V")
	}
	for _, c := range []struct{ text, id, says string }{
		{flow("X", "S", "E"), "X", "refers to 'E', which does not exist"},
		{end + flow("X", "T", "E"), "X", "refers to 'T', which does not exist"},
		{end + `<sequenceFlow id="X" targetRef="E"/>`, "X", "sourceRef of sequenceFlow must be present and not empty"},
		{`<sequenceFlow id="X" sourceRef="S"/>`, "X", "targetRef of sequenceFlow must be present and not empty"},
		{part + flow("X", "S", "U"), "X", "must not lead from startEvent 'S' to startEvent 'U'"},
		{flow("X", "P", "P"), "X", "must not lead from process 'P' to process 'P'"},
		{end + flow("X", "E", "E"), "X", "must not lead from endEvent 'E' to endEvent 'E'"},
		{end + onTorn + flow("X", "T", "E"), "X", "must not lead from subProcess 'T' to endEvent 'E'"},
		{onTorn + flow("X", "S", "T"), "X", "must not lead from startEvent 'S' to subProcess 'T'"},
		{end + `<sequenceFlow id="X" sourceRef="S" targetRef="E"><conditionExpression>=true</conditionExpression></sequenceFlow>`, "X", "a condition is only supported after an exclusiveGateway"},
		{end + `<exclusiveGateway id="G"/><sequenceFlow id="X" sourceRef="G" targetRef="E"><conditionExpression>ready</conditionExpression></sequenceFlow>`, "X", "expected an expression, which starts with '=', but found 'ready'"},

		{end + `<exclusiveGateway id="X" default="F"/>` + flow("F", "X", "E") + flow("H", "X", "E"), "X", "Must have a condition or be default flow: 'H'"},
		{end + `<exclusiveGateway id="X" default="H"/>` + flow("F", "X", "E") + flow("H", "S", "E"), "X", "its default flow 'H' must start at it"},
		{wait + `<eventBasedGateway id="X"><outgoing>F</outgoing><outgoing>H</outgoing></eventBasedGateway>` + flow("F", "X", "W"), "X", "must have at least two outgoing sequence flows"},
		{twoWait("instantiate", "true"), "X", `instantiate="true" of eventBasedGateway is not supported`},
		{twoWait("eventGatewayType", "Parallel"), "X", `eventGatewayType="Parallel" of eventBasedGateway is not supported`},
		{wait + strings.Replace(wait, `"W"`, `"V"`, 1) + `<eventBasedGateway id="X"/>` + flow("F", "X", "W") + flow("H", "X", "V"), "X", "must have at least two outgoing sequence flows"},
		{wait + end + `<eventBasedGateway id="X"><outgoing>F</outgoing><outgoing>H</outgoing></eventBasedGateway>` + flow("F", "X", "W") + flow("H", "X", "E"), "X", "must lead to intermediateCatchEvents to which nothing else leads, not to 'E'"},
		{wait + strings.Replace(wait, `"W"`, `"V"`, 1) + `<eventBasedGateway id="X"><outgoing>F</outgoing><outgoing>H</outgoing></eventBasedGateway>` + flow("F", "X", "W") + flow("H", "X", "V") + flow("I", "S", "V"), "X", "must lead to intermediateCatchEvents to which nothing else leads, not to 'V'"},
	} {
		refused(t, c.text, c.id, c.says)
	}
}

func TestDeclarationsAreChecked(t *testing.T) {
	named := func(message string) string { return strings.Replace(message, `id="X"`, `id="X" name="paid"`, 1) }
	for _, c := range []struct{ text, id, says string }{
		{`<error id="X" errorCode="=code"/>`, "X", "an expression as errorCode is not supported"},
		{extended("message", `<zeebe:subscription correlationKey="=1"/>`), "X", "name of message must be present and not empty"},
		{`<message id="X" name="paid"/>`, "X", "must have exactly one zeebe:subscription, not 0"},
		{named(extended("message", `<zeebe:subscription/>`)), "X", "correlationKey of zeebe:subscription must be present and not empty"},
		{named(extended("message", `<zeebe:subscription correlationKey="order"/>`)), "X", "expected an expression, which starts with '=', but found 'order'"},
		{`<itemDefinition id="X"/>`, "X", "itemDefinition is not supported"},
	} {
		_, err := model.Read(process("", c.text))
		faultIs(t, err, c.id, c.says)
	}
}

func TestModelWithoutExecutableProcessIsRefused(t *testing.T) {
	for _, text := range []string{"", `<process id="P"/>`, `<process id="P" isExecutable="false"/>`} {
		_, err := model.Read([]byte(head + text + `</definitions>`))
		faultIs(t, err, "definitions", "must contain at least one executable process")
	}
	_, err := model.Read([]byte(head + `<process id="X" isExecutable="true"/></definitions>`))
	faultIs(t, err, "X", "must have exactly one startEvent, not 0")
}

// refused checks that elements of a process have this fault and no other.
func refused(t *testing.T, elements, id, says string) {
	t.Helper()
	_, err := model.Read(process(elements, torn, message))
	faultIs(t, err, id, says)
}

func faultIs(t *testing.T, err error, id, says string) {
	t.Helper()
	text := fmt.Sprint(err)
	name, rest, _ := strings.Cut(text, " (line ")
	_, reason, _ := strings.Cut(rest, "): ")
	check.Same(t, "Element: "+id+": "+says, name+": "+reason, "the fault")
}
