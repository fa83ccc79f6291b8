package bpmnxml_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
	"hospital.example/analyze-retry/internal/testing/check"
)

const (
	head  = `<bpmn:definitions xmlns:bpmn="` + bpmnxml.BPMN + `" xmlns:zeebe="` + bpmnxml.Zeebe + `">`
	tail  = `</bpmn:definitions>`
	seven = `<definitions xmlns="` + bpmnxml.BPMN + `" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"/>`
)

func TestWhatIsNoModelIsRefusedWithTheReason(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"empty":            {"", "it is empty"},
		"text":             {"hello", "it is empty, or no XML"},
		"cut off":          {head + `<bpmn:process id="p">`, "unexpected EOF"},
		"crossed tags":     {head + `<bpmn:process id="p"></bpmn:definitions>`, "closed by </definitions>"},
		"unknown entity":   {head + "&big;" + tail, "character entity"},
		"entity in entity": {`<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;">]>` + head + "&b;", "character entity"},
		"other encoding":   {`<?xml version="1.0" encoding="ISO-8859-1"?>`, "only UTF-8 is read"},
		"other language":   {`<html/>`, "it is no BPMN"},
		"no namespace":     {`<definitions/>`, "it is no BPMN"},
		"Camunda 7":        {seven, "Camunda 7"},
		"too large":        {head + strings.Repeat(" ", 5<<20), "larger than 4 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bpmnxml.Read([]byte(c.text))
			check.Fails(t, err, c.says)
		})
	}
}

// A prefix is only a name: what counts is the namespace that it stands for where it is used.
func TestElementsAreKnownByNamespace(t *testing.T) {
	root := read(t, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
		<process id="ours"/>
		<x:process xmlns:x="http://www.omg.org/spec/BPMN/20100524/MODEL" id="prefixed"/>
		<process xmlns="http://else.example" id="another's"/>
		<undeclared:process id="nobody's"/>
	</definitions>`)
	var ids []string
	for _, p := range root.Named("process") {
		ids = append(ids, p.Attr("id"))
	}
	check.Same(t, []string{"ours", "prefixed"}, ids, "the processes")
	check.Same(t, 2, len(root.Children), "the elements that are kept")
}

func TestElementKeepsTextAttributesAndLine(t *testing.T) {
	root := read(t, head+`

	<bpmn:text format="x" id="" zeebe:x="" xml:lang="en">a<!-- no -->b &amp; <i>c</i><![CDATA[d]]></bpmn:text>
</bpmn:definitions>`)
	e := root.Children[0]
	check.Same(t, "ab & d", e.Text, "the text")
	check.Same(t, 3, e.Line, "the line")
	check.Same(t, "x", e.Attr("format"), "an attribute")
	check.Same(t, "", e.Attr("lang"), "one of a namespace")
	for i, space := range []string{"", "", bpmnxml.Zeebe, "http://www.w3.org/XML/1998/namespace"} {
		check.Same(t, space, e.Attrs[i].Name.Space, "the namespace of %s", e.Attrs[i].Name.Local)
	}
}

func read(t *testing.T, text string) *bpmnxml.Element {
	t.Helper()
	root, err := bpmnxml.Read([]byte(text))
	check.Must(t, err)
	return root
}
