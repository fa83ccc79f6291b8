// Package bpmnxml reads the XML of BPMN models for Zeebe into a tree of elements with their lines.
package bpmnxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
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
	Name xml.Name
	// Attrs are its attributes. Their namespaces are resolved; xmlns stays as it is.
	Attrs []xml.Attr
	// Text is the text in it, without that of its children.
	Text string
	// Line is where it begins, from 1.
	Line int
	// Children are the elements in it, and its extensions.
	Children []*Element
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

// BPMN returns the children with this BPMN name.
func (e *Element) BPMN(name string) []*Element { return e.named(xml.Name{Space: BPMN, Local: name}) }

// Zeebe returns those with this name of Zeebe's extensions.
func (e *Element) Zeebe(name string) []*Element { return e.named(xml.Name{Space: Zeebe, Local: name}) }

func (e *Element) named(name xml.Name) []*Element {
	return slices.DeleteFunc(slices.Clone(e.Children), func(c *Element) bool { return c.Name != name })
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
		return nil, fmt.Errorf("it is larger than %d MiB, more than a broker takes", maxFile>>20)
	}
	decoder := xml.NewDecoder(bytes.NewReader(content))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, errors.New("only UTF-8 is read")
	}
	var root *Element
	var open []*Element // nil for one of a foreign namespace, and for those in it
	for {
		line, _ := decoder.InputPos() // where the next token begins
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return checked(root, content)
		case err != nil:
			return nil, fmt.Errorf("it is no XML: %w", err)
		}
		last := len(open) - 1
		switch token := token.(type) {
		case xml.StartElement:
			e := &Element{Name: token.Name, Attrs: token.Attr, Line: line}
			switch {
			case root == nil:
				root = e
			case last < 0 || open[last] == nil || e.Name.Space != BPMN && e.Name.Space != Zeebe:
				e = nil
			case e.Is("extensionElements"):
				e = open[last]
			default:
				open[last].Children = append(open[last].Children, e)
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:last]
		case xml.CharData:
			if last >= 0 && open[last] != nil {
				open[last].Text += string(token)
			}
		}
	}
}

// checked returns the root of a file, or why it is no model.
func checked(root *Element, content []byte) (*Element, error) {
	switch {
	case root == nil:
		return nil, errors.New("it is empty, or no XML")
	case !root.Is("definitions"):
		first := root.Name.Local
		return nil, fmt.Errorf("it is no BPMN: its first element is %s, not definitions of BPMN 2.0", first)
	case bytes.Contains(content, []byte(spaceSeven)) && !bytes.Contains(content, []byte(Zeebe)):
		const convert = "open it in Camunda Modeler and convert it to Camunda 8"
		return nil, errors.New("it is a model for Camunda 7: " + convert)
	}
	return root, nil
}
