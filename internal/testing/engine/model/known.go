package model

import (
	"encoding/xml"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
)

// kind is what is known of an element: its attributes, and the elements in it. With "!" there must be one,
// with "*" there may be several, of a/b there is one. An attribute with a value is known with that value
// only.
type kind struct{ attributes, elements string }

const (
	job   = "zeebe:taskDefinition! zeebe:taskHeaders "
	work  = "zeebe:ioMapping "
	scope = "startEvent! endEvent* boundaryEvent* intermediateCatchEvent* intermediateThrowEvent* " +
		"exclusiveGateway* eventBasedGateway* sequenceFlow* " +
		"serviceTask* sendTask* userTask* callActivity* subProcess* "
)

// known are the elements that are read. All others are refused.
var known = map[string]kind{
	"definitions": {"", "process* error* message*"},
	"error":       {"id! errorCode", ""},
	"message":     {"id! name!", "zeebe:subscription!"},
	"process":     {"id! isExecutable", scope},

	"startEvent":             {"id! isInterrupting=true", "errorEventDefinition zeebe:ioMapping"},
	"endEvent":               {"id!", "errorEventDefinition zeebe:ioMapping"},
	"intermediateThrowEvent": {"id!", "zeebe:ioMapping"},
	"intermediateCatchEvent": {"id!", "timerEventDefinition/messageEventDefinition! zeebe:ioMapping"},
	"boundaryEvent": {
		"id! attachedToRef! cancelActivity=true",
		"errorEventDefinition/timerEventDefinition/messageEventDefinition! zeebe:ioMapping",
	},
	"errorEventDefinition":   {"errorRef", ""},
	"messageEventDefinition": {"messageRef!", ""},
	"timerEventDefinition":   {"", "timeDuration/timeDate!"},

	"exclusiveGateway":  {"id! default", ""},
	"eventBasedGateway": {"id! instantiate=false eventGatewayType=Exclusive", ""},
	"sequenceFlow":      {"id! sourceRef! targetRef!", "conditionExpression"},

	"serviceTask":  {"id!", job + work},
	"sendTask":     {"id!", job + work},
	"userTask":     {"id!", "zeebe:userTask! zeebe:formDefinition zeebe:assignmentDefinition " + work},
	"callActivity": {"id!", "zeebe:calledElement! " + work},
	"subProcess":   {"id! triggeredByEvent", scope + work},

	"zeebe:taskDefinition":       {"type! retries", ""},
	"zeebe:taskHeaders":          {"", "zeebe:header*"},
	"zeebe:header":               {"key! value", ""},
	"zeebe:ioMapping":            {"", "zeebe:input* zeebe:output*"},
	"zeebe:input":                {"source! target!", ""},
	"zeebe:output":               {"source! target!", ""},
	"zeebe:formDefinition":       {"formId! bindingType=latest", ""},
	"zeebe:assignmentDefinition": {"candidateGroups", ""},
	"zeebe:subscription":         {"correlationKey!", ""},
	"zeebe:calledElement": {
		"processId! propagateAllChildVariables propagateAllParentVariables=true bindingType=latest", "",
	},
}

// silent are the elements and attributes that only people and tools read.
var silent = strings.Fields("documentation incoming outgoing textAnnotation association group laneSet " +
	"property dataObject dataObjectReference dataStoreReference dataInputAssociation dataOutputAssociation " +
	"collaboration category dataStore zeebe:properties zeebe:versionTag " +
	"xmlns id name exporter exporterVersion targetNamespace expressionLanguage typeLanguage processType " +
	"isClosed gatewayDirection zeebe:modelerTemplate zeebe:modelerTemplateVersion zeebe:modelerTemplateIcon")

// fixed are the attributes that may be an expression in Zeebe, and not here.
var fixed = strings.Fields("errorCode name retries processId formId")

// refuse finds what is not known or is missing in an element and in those in it. Faults are those of owner.
func (r *reader) refuse(owner, e *bpmnxml.Element) {
	is := known[nameOf(e.Name)]
	r.refuseAttributes(owner, e, strings.Fields(is.attributes))
	elements := strings.Fields(is.elements)
	count, refused := make([]int, len(elements)), false
	for _, c := range e.Children {
		inner, name := owner, nameOf(c.Name)
		if c.Attr("id") != "" && (e.Is("definitions") || e.Is("process") || e.Is("subProcess")) {
			inner = c
		}
		i := slices.IndexFunc(elements, func(known string) bool {
			return slices.Contains(strings.Split(strings.TrimRight(known, "!*"), "/"), name)
		})
		switch {
		case i >= 0:
			count[i]++
			r.refuse(inner, c)
		case !slices.Contains(silent, name):
			r.fail(inner, "%s is not supported", name)
			refused = true
		}
	}
	for i, known := range elements {
		name, must := strings.CutSuffix(known, "!")
		if must && count[i] == 0 && !refused || count[i] > 1 && !strings.HasSuffix(known, "*") {
			r.fail(owner, "must have exactly one %s, not %d", strings.ReplaceAll(name, "/", " or "), count[i])
		}
	}
}

func (r *reader) refuseAttributes(owner, e *bpmnxml.Element, attributes []string) {
	for _, a := range e.Attrs {
		name := nameOf(a.Name)
		switch {
		case a.Name.Space != "" && a.Name.Space != bpmnxml.Zeebe: // another program's
		case strings.HasPrefix(a.Value, "=") && slices.Contains(fixed, name):
			r.fail(owner, "an expression as %s of %s is not supported", name, nameOf(e.Name))
		case slices.Contains(attributes, name+"!"), slices.Contains(attributes, name+"="+a.Value):
		case !slices.Contains(attributes, name) && !slices.Contains(silent, name):
			r.fail(owner, `%s="%s" of %s is not supported`, name, a.Value, nameOf(e.Name))
		}
	}
	for _, known := range attributes {
		if name, must := strings.CutSuffix(known, "!"); must && strings.TrimSpace(e.Attr(name)) == "" {
			r.fail(owner, "%s of %s must be present and not empty", name, nameOf(e.Name))
		}
	}
	if id := e.Attr("id"); id != "" {
		if r.ids[id] {
			r.fail(owner, "the id '%s' is not unique", id)
		}
		r.ids[id] = true
	}
}

// nameOf returns a name as [known] has it.
func nameOf(name xml.Name) string {
	if name.Space == bpmnxml.Zeebe {
		return "zeebe:" + name.Local
	}
	return name.Local
}
