package engine

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

// draw returns a model. A line is an element, "ID: kind name='value'", or a flow, "A > B",
// "A > B if '=condition'" or "A > B default". The lines between "Sub: sub" and "end Sub" are in a
// subprocess. An attribute that is not one of the element's is an output mapping, or with "in." before its
// name an input mapping.
func draw(id, lines string) string {
	d := drawing{lines: lines}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if m := arrow.FindStringSubmatch(line); m != nil {
			d.flow(m[1], m[2], m[3])
		} else if m := element.FindStringSubmatch(line); m != nil {
			d.element(m[1], m[2], attribute.FindAllStringSubmatch(m[3], -1))
		} else if strings.HasPrefix(line, "end ") {
			d.body.WriteString("</subProcess>")
		}
	}
	return fmt.Sprintf(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" `+
		`xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">`+
		`<process id="%s" isExecutable="true">%s</process>%s</definitions>`, id, &d.body, &d.declared)
}

type drawing struct {
	lines          string
	body, declared strings.Builder
}

var (
	arrow     = regexp.MustCompile(`^(\w+) > (\w+)(?: if '(.*)'| default)?$`)
	element   = regexp.MustCompile(`^(\w+): (\w+)(.*)$`)
	attribute = regexp.MustCompile(`([\w.]+)='([^']*)'`)
)

var kinds = map[string]string{
	"start":    "startEvent",
	"end":      "endEvent",
	"task":     "serviceTask",
	"user":     "userTask",
	"call":     "callActivity",
	"sub":      "subProcess",
	"throw":    "intermediateThrowEvent",
	"catch":    "intermediateCatchEvent",
	"boundary": "boundaryEvent",
	"choose":   "exclusiveGateway",
	"await":    "eventBasedGateway",
}

// What attributes of a drawing are in a model: attributes, extensions, or other elements.
var (
	attributes = map[string]string{
		"on":        ` attachedToRef="%s"`,
		"triggered": ` triggeredByEvent="true"`,
	}
	extensions = map[string]string{
		"process": `<zeebe:calledElement processId="%s"/>`,
		"alone":   `<zeebe:calledElement processId="%s" propagateAllChildVariables="false"/>`,
		"group":   `<zeebe:userTask/><zeebe:assignmentDefinition candidateGroups="%s"/>`,
		"form":    `<zeebe:formDefinition formId="%s"/>`,
	}
	contents = map[string]string{
		"any":     `<errorEventDefinition/>`,
		"timer":   `<timerEventDefinition><timeDuration>%s</timeDuration></timerEventDefinition>`,
		"date":    `<timerEventDefinition><timeDate>%s</timeDate></timerEventDefinition>`,
		"error":   `<errorEventDefinition errorRef="Error_%s"/>`,
		"message": `<messageEventDefinition messageRef="Message_%s"/>`,
	}
)

func (d *drawing) element(id, kind string, given [][]string) {
	values := map[string]string{}
	var attrs, extended, mapped, inner strings.Builder
	write := func(b *strings.Builder, format, value string) {
		b.WriteString(strings.ReplaceAll(format, "%s", value))
	}
	for _, a := range given {
		name, value := a[1], escape(a[2])
		values[name] = value
		switch input, is := strings.CutPrefix(name, "in."); {
		case name == "type" || name == "retries" || name == "key":
		case name == "error":
			fmt.Fprintf(&d.declared, `<error id="Error_%s" errorCode="%s"/>`, id, value)
			write(&inner, contents[name], id)
		case name == "message":
			write(&inner, contents[name], id)
		case attributes[name] != "":
			write(&attrs, attributes[name], value)
		case extensions[name] != "":
			write(&extended, extensions[name], value)
		case contents[name] != "":
			write(&inner, contents[name], value)
		case is:
			fmt.Fprintf(&mapped, `<zeebe:input source="%s" target="%s"/>`, value, input)
		default:
			fmt.Fprintf(&mapped, `<zeebe:output source="%s" target="%s"/>`, value, name)
		}
	}
	if kind == "task" {
		retries := cmp.Or(values["retries"], "3")
		fmt.Fprintf(&extended, `<zeebe:taskDefinition type="%s" retries="%s"/>`, values["type"], retries)
	}
	if name := values["message"]; name != "" {
		fmt.Fprintf(&d.declared, `<message id="Message_%s" name="%s"><extensionElements>`+
			`<zeebe:subscription correlationKey="%s"/></extensionElements></message>`, id, name, values["key"])
	}
	flows := regexp.MustCompile(`(?m)^\s*` + id + ` > (\w+)( default)?`)
	for _, flow := range flows.FindAllStringSubmatch(d.lines, -1) {
		fmt.Fprintf(&inner, "<outgoing>%s_%s</outgoing>", id, flow[1])
		if flow[2] != "" {
			fmt.Fprintf(&attrs, ` default="%s_%s"`, id, flow[1])
		}
	}
	if mapped.Len() > 0 {
		fmt.Fprintf(&extended, "<zeebe:ioMapping>%s</zeebe:ioMapping>", &mapped)
	}
	fmt.Fprintf(&d.body, `<%s id="%s"%s><extensionElements>%s</extensionElements>%s`,
		kinds[kind], id, &attrs, &extended, &inner)
	if kind != "sub" {
		fmt.Fprintf(&d.body, "</%s>", kinds[kind])
	}
}

func (d *drawing) flow(from, to, condition string) {
	if condition != "" {
		condition = "<conditionExpression>" + escape(condition) + "</conditionExpression>"
	}
	fmt.Fprintf(&d.body, `<sequenceFlow id="%s_%s" sourceRef="%[1]s" targetRef="%[2]s">%[3]s</sequenceFlow>`,
		from, to, condition)
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
