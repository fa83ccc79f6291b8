package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/testing/engine/feel"
)

// Read returns the executable processes of a model. The error names all faults, each with the id and the
// line of its element. It does not check the order of elements in the file, which the schema of BPMN
// fixes.
func Read(content []byte) ([]*Process, error) {
	root, err := bpmnxml.Read(content)
	if err != nil {
		return nil, err
	}
	root.Children = slices.DeleteFunc(root.Children, func(c *bpmnxml.Element) bool {
		return c.Is("process") && c.Attr("isExecutable") != "true"
	})
	r := &reader{
		codes: map[string]string{}, messages: map[string]*Message{},
		ids: map[string]bool{}, byID: map[string]*Element{}, xml: map[*Element]*bpmnxml.Element{},
		incoming: map[*Element]int{},
	}
	r.refuse(root, root)
	r.declarations(root)
	var found []*Process
	for _, x := range root.Named("process") {
		found = append(found, &Process{x.Attr("id"), r.element(nil, x)})
	}
	if len(found) == 0 {
		r.fail(root, "must contain at least one executable process")
	}
	r.connect()
	for _, e := range r.all {
		r.check(e)
	}
	if len(r.faults) > 0 {
		return nil, errors.Join(r.faults...)
	}
	return found, nil
}

// reader reads one file.
type reader struct {
	codes    map[string]string // of errors, by their id
	messages map[string]*Message
	ids      map[string]bool // of all elements that have one
	all      []*Element
	byID     map[string]*Element
	xml      map[*Element]*bpmnxml.Element
	flows    []*bpmnxml.Element
	incoming map[*Element]int // flows
	faults   []error
}

func (r *reader) fail(x *bpmnxml.Element, format string, args ...any) {
	id := cmp.Or(x.Attr("id"), x.Name.Local)
	text := fmt.Sprintf(format, args...)
	r.faults = append(r.faults, fmt.Errorf("Element: %s (line %d): %s", id, x.Line, text))
}

// value reads what may be an expression; nil for nothing.
func (r *reader) value(x *bpmnxml.Element, text string) *Value {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	expression, is := strings.CutPrefix(strings.TrimSpace(text), "=")
	if !is {
		return &Value{Text: text}
	}
	parsed, err := feel.Parse(expression)
	if err != nil {
		r.fail(x, "%v", err)
	}
	return &Value{expression, parsed}
}

// expression reads what must be an expression; nil for nothing.
func (r *reader) expression(x *bpmnxml.Element, text string) *Value {
	if text = strings.TrimSpace(text); text != "" && text[0] != '=' {
		r.fail(x, "expected an expression, which starts with '=', but found '%s'", text)
	}
	return r.value(x, text)
}

// declarations reads what processes refer to.
func (r *reader) declarations(root *bpmnxml.Element) {
	for _, x := range root.Named("error") {
		r.codes[x.Attr("id")] = x.Attr("errorCode")
	}
	for _, x := range root.Named("message") {
		m := &Message{Name: x.Attr("name")}
		for _, s := range x.Named("subscription") {
			m.CorrelationKey = r.expression(x, s.Attr("correlationKey"))
		}
		r.messages[x.Attr("id")] = m
	}
}

var capital = regexp.MustCompile("[A-Z]")

// flowNode matches the names of all flow nodes of BPMN. Flows may refer to those that are refused.
var flowNode = regexp.MustCompile(`(?i)^([a-z]*(task|event|gateway|subProcess)|callActivity|transaction)$`)

// element reads a process or a flow node, and those in it.
func (r *reader) element(parent *Element, x *bpmnxml.Element) *Element {
	e := &Element{ID: x.Attr("id"), Kind: x.Name.Local, Parent: parent, Headers: map[string]string{}}
	r.all, r.byID[e.ID], r.xml[e] = append(r.all, e), e, x
	e.RecordType = strings.ToUpper(capital.ReplaceAllString(e.Kind, "_$0"))
	if e.EventSubprocess = x.Attr("triggeredByEvent") == "true"; e.EventSubprocess {
		e.RecordType = "EVENT_SUB_PROCESS"
	}
	for _, c := range x.Children {
		switch name := nameOf(c.Name); {
		case name == "sequenceFlow":
			r.flows = append(r.flows, c)
		case flowNode.MatchString(name):
			e.Children = append(e.Children, r.element(e, c))
		default:
			r.property(e, x, c, name)
		}
	}
	return e
}

// property reads what an element in the XML says of the one around it.
func (r *reader) property(e *Element, x, c *bpmnxml.Element, name string) {
	switch name {
	case "zeebe:ioMapping":
		r.mappings(e, x, c)
	case "zeebe:taskDefinition":
		e.JobType = r.value(x, c.Attr("type"))
		retries, err := strconv.ParseInt(cmp.Or(c.Attr("retries"), "3"), 10, 32)
		if e.Retries = int32(retries); err != nil {
			r.fail(x, "retries '%s' are no number", c.Attr("retries"))
		}
	case "zeebe:taskHeaders":
		for _, h := range c.Children {
			e.Headers[h.Attr("key")] = h.Attr("value")
		}
	case "zeebe:calledElement":
		e.Calls = c.Attr("processId")
		e.PropagateAll = cmp.Or(c.Attr("propagateAllChildVariables"), "true") == "true"
	case "zeebe:formDefinition":
		e.FormID = c.Attr("formId")
	case "zeebe:assignmentDefinition":
		e.Groups = r.value(x, c.Attr("candidateGroups"))
	case "errorEventDefinition":
		e.Event = "error"
		e.ErrorCode = reference(r, x, r.codes, c.Attr("errorRef"))
	case "messageEventDefinition":
		e.Event = "message"
		e.Message = reference(r, x, r.messages, c.Attr("messageRef"))
	case "timerEventDefinition":
		e.Event = "timer"
		r.timer(e, x, c)
	}
}

// reference returns what has an id; the zero value for none.
func reference[T any](r *reader, x *bpmnxml.Element, all map[string]T, id string) (found T) {
	if id == "" {
		return found
	}
	found, is := all[id]
	if !is {
		r.fail(x, "refers to '%s', which does not exist", id)
	}
	return found
}

var variable = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)

func (r *reader) mappings(e *Element, x, ioMapping *bpmnxml.Element) {
	for _, m := range ioMapping.Children {
		mapping := Mapping{r.value(x, m.Attr("source")), m.Attr("target")}
		if mapping.Target != "" && !variable.MatchString(mapping.Target) {
			r.fail(x, "'%s' is no name of a variable", mapping.Target)
		}
		if m.Name.Local == "input" {
			e.Inputs = append(e.Inputs, mapping)
		} else {
			e.Outputs = append(e.Outputs, mapping)
		}
	}
}

func (r *reader) timer(e *Element, x, definition *bpmnxml.Element) {
	for _, c := range definition.Children {
		e.TimerKind, e.Timer = c.Name.Local, r.value(x, strings.TrimSpace(c.Text))
		switch {
		case e.Timer == nil:
			r.fail(x, "%s must not be empty", e.TimerKind)
		case e.Timer.Expr != nil:
		case e.TimerKind == "timeDuration" && feel.ParseDuration(e.Timer.Text) == nil:
			r.fail(x, "Invalid duration format '%s'", e.Timer.Text)
		case e.TimerKind == "timeDate" && feel.ParseDateTime(e.Timer.Text) == nil:
			r.fail(x, "Invalid date-time format '%s'", e.Timer.Text)
		}
	}
}
