// Package bpmnxml reads the XML of BPMN models for Zeebe into a tree of elements with their lines.
package bpmnxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"

	"hospital.example/analyze-retry/internal/text"
)

// maxFile is the largest size of a file: the gateway takes 4 MiB in one message.
const maxFile = 4 << 20

// The namespaces of the elements that are kept. Those of others are drawing, or belong to other programs.
const (
	BPMN  = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	Zeebe = "http://camunda.org/schema/zeebe/1.0"
)

// spaceSeven is the namespace of Camunda 7, whose extensions Zeebe does not read.
const spaceSeven = "http://camunda.org/schema/1.0/bpmn"

// Element is one XML element of the namespaces BPMN and Zeebe.
type Element struct {
	Name xml.Name `xml:"-"`
	// Attrs are its attributes. Their namespaces are resolved; xmlns stays as it is.
	Attrs []xml.Attr `xml:"-"`
	// Line is where its start tag ends, from 1.
	Line int `xml:"-"`
	// Text is the text in it, without that of its children.
	Text string `xml:",chardata"`
	// Children are the elements in it, and its extensions.
	Children []*Element `xml:",any"`
}

// UnmarshalXML implements [xml.Unmarshaler]: it keeps what package xml does not, and the elements in it that
// have a meaning here.
func (e *Element) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	type plain Element // without this method
	e.Name, e.Attrs = start.Name, start.Attr
	e.Line, _ = d.InputPos()
	if err := d.DecodeElement((*plain)(e), &start); err != nil {
		return err
	}
	var kept []*Element
	for _, c := range e.Children {
		switch {
		case c.Is("extensionElements"):
			kept = append(kept, c.Children...)
		case c.Name.Space == BPMN || c.Name.Space == Zeebe:
			kept = append(kept, c)
		}
	}
	e.Children = kept
	return nil
}

// Is reports whether the element has this BPMN name.
func (e *Element) Is(name string) bool { return e.Name == xml.Name{Space: BPMN, Local: name} }

// Attr returns the value of an attribute of no namespace, as those of BPMN and Zeebe are; empty without one.
func (e *Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name == (xml.Name{Local: name}) {
			return a.Value
		}
	}
	return ""
}

// Named returns the elements in it with this name, of BPMN or of Zeebe's extensions.
func (e *Element) Named(name string) []*Element {
	return slices.DeleteFunc(slices.Clone(e.Children), func(c *Element) bool { return c.Name.Local != name })
}

// Walk visits an element and all in it, in the order of the file.
func (e *Element) Walk(visit func(*Element)) {
	visit(e)
	for _, c := range e.Children {
		c.Walk(visit)
	}
}

// Read parses a model and returns its element definitions. Entities are not expanded, nothing is fetched.
func Read(content []byte) (*Element, error) {
	if len(content) > maxFile {
		return nil, text.Messagef("it is larger than %d MiB, more than a broker takes", maxFile>>20)
	}
	decoder := xml.NewDecoder(bytes.NewReader(content))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, text.Messagef("only UTF-8 is read")
	}
	root, said := new(Element), text.Message{}
	switch err := decoder.Decode(root); {
	case errors.Is(err, io.EOF):
		return nil, text.Messagef("it is empty, or no XML")
	case errors.As(err, &said):
		return nil, said
	case err != nil:
		return nil, text.Messagef("it is no XML: %s", err)
	case !root.Is("definitions"):
		return nil, text.Messagef("it is no BPMN: its first element is %s, not definitions of BPMN 2.0",
			root.Name.Local)
	case bytes.Contains(content, []byte(spaceSeven)) && !bytes.Contains(content, []byte(Zeebe)):
		return nil, text.Messagef("it is a model for Camunda 7: " +
			"open it in Camunda Modeler and convert it to Camunda 8")
	}
	return root, nil
}
