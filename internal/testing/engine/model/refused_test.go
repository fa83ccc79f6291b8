package model_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/model"
)

// Elements from which the wrong models are made. What is wrong with one is at X, where nothing else is said.
const (
	end      = `<endEvent id="E"/>`
	part     = `<subProcess id="T"><startEvent id="U"/></subProcess>`
	job      = `<zeebe:taskDefinition type="pack"/>`
	torn     = `<error id="Torn" errorCode="TORN"/>`
	ofTorn   = `<errorEventDefinition errorRef="Torn"/>`
	ofAny    = `<errorEventDefinition/>`
	ofPaid   = `<messageEventDefinition messageRef="M"/>`
	paid     = `<message id="M" name="paid"><extensionElements>` + keyed + `</extensionElements></message>`
	keyed    = `<zeebe:subscription correlationKey="=order"/>`
	inAnHour = `<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>`
)

// with returns an element X with extensions.
func with(extensions, kind string) string {
	return element(kind, "X", "<extensionElements>"+extensions+"</extensionElements>")
}

// element returns an element. kind may have attributes.
func element(kind, id, content string) string {
	name, _, _ := strings.Cut(kind, " ")
	return fmt.Sprintf(`<%s id="%s">%s</%s>`, kind, id, content, name)
}

// onError returns an event subprocess.
func onError(id, start, definition string) string {
	return element(`subProcess triggeredByEvent="true"`, id, element("startEvent", start, definition))
}

// at returns an event at the subprocess T.
func at(id, definition string) string {
	return element(`boundaryEvent attachedToRef="T"`, id, definition)
}

func catching(id, definition string) string { return element("intermediateCatchEvent", id, definition) }

func flow(id, from, to string) string {
	return element(fmt.Sprintf(`sequenceFlow sourceRef="%s" targetRef="%s"`, from, to), id, "")
}

// awaiting returns an event-based gateway X, and flows from it.
func awaiting(one, other string) string {
	return element("eventBasedGateway", "X", "<outgoing>F</outgoing><outgoing>G</outgoing>") +
		flow("F", "X", one) + flow("G", "X", other)
}

func TestFlowNodesThatDoNotRunAreRefusedByName(t *testing.T) {
	for kind := range strings.FieldsSeq("task manualTask receiveTask scriptTask businessRuleTask " +
		"parallelGateway inclusiveGateway complexGateway transaction adHocSubProcess callChoreography unheardOf") {
		refused(t, element(kind, "X", ""), "X", kind+" is not supported")
	}
}

func TestEventsThatDoNotRunAreRefusedByName(t *testing.T) {
	for kind, definitions := range map[string]string{
		"intermediateCatchEvent":          "signal link conditional escalation compensate cancel",
		"intermediateThrowEvent":          "error message signal link escalation compensate",
		"endEvent":                        "message signal terminate escalation compensate cancel",
		`boundaryEvent attachedToRef="T"`: "signal conditional escalation compensate cancel",
	} {
		for definition := range strings.FieldsSeq(definitions) {
			definition += "EventDefinition"
			refused(t, part+element(kind, "X", element(definition, "Y", "")), "X", definition+" is not supported")
		}
	}
	for definition := range strings.FieldsSeq("message timer signal conditional") {
		definition += "EventDefinition"
		refused(t, element("subProcess", "T", element("startEvent", "X", element(definition, "Y", ""))),
			"X", definition+" is not supported")
	}
}

func TestExtensionsThatDoNotRunAreRefusedByName(t *testing.T) {
	for element, extensions := range map[string]string{
		"serviceTask":      "executionListeners taskListeners script calledDecision publishMessage linkedResources",
		"userTask":         "taskListeners taskSchedule priorityDefinition taskHeaders taskDefinition",
		"exclusiveGateway": "ioMapping",
	} {
		needed := map[string]string{"serviceTask": job}[element]
		for extension := range strings.FieldsSeq(extensions) {
			extension = "zeebe:" + extension
			refused(t, with(needed+"<"+extension+"/>", element), "X", extension+" is not supported")
		}
	}
	refused(t, "<extensionElements><zeebe:userTaskForm id='form'/></extensionElements>",
		"form", "zeebe:userTaskForm is not supported")
}

func TestAttributesThatChangeBehaviourAreRefusedByName(t *testing.T) {
	const form = `<zeebe:userTask/><zeebe:formDefinition formId="f" `
	const called = `<zeebe:calledElement processId="p" `
	for _, c := range []struct{ elements, attribute string }{
		{with(form+`formKey="k"/>`, "userTask"), `formKey="k" of zeebe:formDefinition`},
		{
			with(called+`bindingType="versionTag"/>`, "callActivity"),
			`bindingType="versionTag" of zeebe:calledElement`,
		},
		{with(`<zeebe:taskDefinition type="t" new="1"/>`, "serviceTask"), `new="1" of zeebe:taskDefinition`},
		{with(job, `serviceTask zeebe:new="1"`), `zeebe:new="1" of serviceTask`},
		{
			part + element(`boundaryEvent attachedToRef="T" cancelActivity="false"`, "X", ofAny),
			`cancelActivity="false" of boundaryEvent`,
		},
		{
			catching("A", inAnHour) + catching("B", inAnHour) +
				strings.Replace(awaiting("A", "B"), "Gateway", `Gateway instantiate="true"`, 1),
			`instantiate="true" of eventBasedGateway`,
		},
	} {
		refused(t, c.elements, "X", c.attribute+" is not supported")
	}
}

func TestLoopsButParallelOnesAreRefused(t *testing.T) {
	loop := func(attributes, characteristics, more string) string {
		extensions := "<extensionElements><zeebe:loopCharacteristics " + characteristics + "/></extensionElements>"
		return "<multiInstanceLoopCharacteristics " + attributes + ">" + extensions + more +
			"</multiInstanceLoopCharacteristics>"
	}
	for _, c := range []struct{ loop, says string }{
		{
			loop(`isSequential="true"`, `inputCollection="=a"`, ""),
			`isSequential="true" of multiInstanceLoopCharacteristics is not supported`,
		},
		{
			loop("", `inputCollection="=a" outputCollection="b"`, ""),
			`outputCollection="b" of zeebe:loopCharacteristics is not supported`,
		},
		{
			loop("", `inputElement="a"`, ""),
			"inputCollection of zeebe:loopCharacteristics must be present and not empty",
		},
		{"<multiInstanceLoopCharacteristics/>", "must have exactly one zeebe:loopCharacteristics, not 0"},
	} {
		task := element("serviceTask", "X", "<extensionElements>"+job+"</extensionElements>"+c.loop)
		refused(t, task, "X", c.says)
	}
	subprocess := element("startEvent", "U", ofAny) + loop("", `inputCollection="=a"`, "")
	refused(t, element(`subProcess triggeredByEvent="true"`, "X", subprocess),
		"X", "multiInstanceLoopCharacteristics is not supported in an event subprocess")
}

func TestWhatATaskMissesIsRefused(t *testing.T) {
	mapping := func(one string) string { return job + "<zeebe:ioMapping>" + one + "</zeebe:ioMapping>" }
	for _, c := range []struct{ element, says string }{
		{"<serviceTask id='X'/>", "must have exactly one zeebe:taskDefinition, not 0"},
		{with(mapping("")+"<zeebe:ioMapping/>", "serviceTask"), "must have exactly one zeebe:ioMapping, not 2"},
		{
			with("<zeebe:taskDefinition retries='3'/>", "serviceTask"),
			"type of zeebe:taskDefinition must be present and not empty",
		},
		{
			with(job+"<zeebe:taskHeaders><zeebe:header value='v'/></zeebe:taskHeaders>", "serviceTask"),
			"key of zeebe:header must be present and not empty",
		},
		{
			with(mapping("<zeebe:output target='a'/>"), "serviceTask"),
			"source of zeebe:output must be present and not empty",
		},
		{
			with(mapping("<zeebe:output source='=1' target='a b'/>"), "serviceTask"),
			"'a b' is no name of a variable",
		},
		{"<callActivity id='X'/>", "must have exactly one zeebe:calledElement, not 0"},
		{
			with("<zeebe:formDefinition formId='f'/>", "userTask"),
			"zeebe:formDefinition is not supported without zeebe:userTask",
		},
	} {
		refused(t, c.element, "X", c.says)
	}
}

func TestWrongEventsAreRefused(t *testing.T) {
	const one = "must have exactly one "
	for _, c := range []struct{ elements, says string }{
		{catching("X", ""), one + "timerEventDefinition or messageEventDefinition, not 0"},

		{
			catching("X", "<timerEventDefinition><timeCycle>R/PT1S</timeCycle></timerEventDefinition>"),
			"timeCycle is not supported",
		},
		{catching("X", strings.Replace(inAnHour, "PT1H", "5M", 1)), "Invalid duration format '5M'"},

		{element("endEvent", "X", ofAny), "must refer to an error with an errorCode"},

		{
			element("boundaryEvent attachedToRef='S'", "X", ofAny),
			"must be attached to an activity of its scope, not to 'S'",
		},
		{
			part + at("A", ofTorn) + at("B", ofAny) + at("X", ofTorn),
			"must not catch the same error code 'TORN' as 'A'",
		},
		{part + at("A", ofPaid) + at("X", ofPaid), "must not catch the same message 'paid' as 'A'"},

		{
			element("subProcess", "T", element("startEvent", "X", ofAny)),
			"must have an errorEventDefinition in an event subprocess, and there only",
		},
	} {
		refused(t, c.elements, "X", c.says)
	}
	refused(t, catching("A", ofPaid)+catching("B", ofPaid)+awaiting("A", "B"),
		"B", "must not catch the same message 'paid' as 'A'")
	refused(t, `<startEvent id="T"/>`, "P", "must have exactly one startEvent, not 2")
}

func TestWrongFlowsAreRefused(t *testing.T) {
	condition := func(id, from, text string) string {
		return strings.Replace(flow(id, from, "E"), "></",
			"><conditionExpression>"+text+"</conditionExpression></", 1)
	}
	waits := catching("A", inAnHour) + catching("B", inAnHour)
	for _, c := range []struct{ elements, says string }{
		{flow("X", "S", "E"), "refers to 'E', which does not exist"},

		{element("intermediateThrowEvent", "X", "<incoming>F</incoming>"), "refers to 'F', which does not exist"},

		{part + flow("X", "S", "U"), "must not lead from startEvent 'S' to startEvent 'U'"},
		{end + onError("T", "U", ofAny) + flow("X", "T", "E"), "must not lead from subProcess 'T' to endEvent 'E'"},

		{end + condition("X", "S", "=true"), "a condition is only supported after an exclusiveGateway"},
		{
			end + element(`exclusiveGateway default="F"`, "X", "") + flow("F", "X", "E") + flow("G", "X", "E"),
			"Must have a condition or be default flow: 'G'",
		},

		{
			waits + element("eventBasedGateway", "X", "") + flow("F", "X", "A") + flow("G", "X", "B"),
			"must have at least two outgoing sequence flows",
		},
		{
			waits + end + awaiting("A", "E"),
			"must lead to intermediateCatchEvents to which nothing else leads, not to 'E'",
		},
	} {
		refused(t, c.elements, "X", c.says)
	}
}

func TestAllThatRunsNeedsAnIDOfItsOwn(t *testing.T) {
	for kind := range strings.FieldsSeq("startEvent endEvent boundaryEvent intermediateCatchEvent " +
		"intermediateThrowEvent exclusiveGateway eventBasedGateway sequenceFlow serviceTask sendTask userTask " +
		"callActivity subProcess") {
		_, err := model.Read(process("<" + kind + "/>"))
		check.Fails(t, err, "id of "+kind+" must be present and not empty")
	}
	for _, kind := range []string{"error", "message"} {
		_, err := model.Read(process("", "<"+kind+"/>"))
		check.Fails(t, err, "id of "+kind+" must be present and not empty")
	}
	nameless := strings.Replace(string(process("")), ` id="P"`, "", 1)
	_, err := model.Read([]byte(nameless))
	check.Fails(t, err, "id of process must be present and not empty")
	refused(t, end+element("intermediateThrowEvent", "E", ""), "E", "the id 'E' is not unique, or no XML name")
	refused(t, element("intermediateThrowEvent", "1", ""), "1", "the id '1' is not unique, or no XML name")
}

func TestWrongDeclarationsAreRefused(t *testing.T) {
	for _, c := range []struct{ declaration, says string }{
		{"<error id='X' errorCode='=code'/>", "an expression as errorCode is not supported"},
		{"<message id='X' name='paid'/>", "must have exactly one zeebe:subscription, not 0"},
		{
			with("<zeebe:subscription correlationKey='order'/>", "message name='paid'"),
			"expected an expression, which starts with '=', but found 'order'",
		},
		{"<signal id='X'/>", "signal is not supported"},
	} {
		_, err := model.Read(process("", c.declaration))
		faultIs(t, err, "X", c.says)
	}
}

// refused checks that elements of a process have this fault and no other.
func refused(t *testing.T, elements, id, says string) {
	t.Helper()
	_, err := model.Read(process(elements, torn, paid))
	faultIs(t, err, id, says)
}

func faultIs(t *testing.T, err error, id, says string) {
	t.Helper()
	name, rest, _ := strings.Cut(fmt.Sprint(err), " (line ")
	_, reason, _ := strings.Cut(rest, "): ")
	check.Same(t, "Element: "+id+": "+says, name+": "+reason, "the fault")
}
