// Package bpmnxml reads the XML of BPMN models for Zeebe into a tree of elements with their lines. It is
// bounded, whatever a file holds.
package bpmnxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The bounds of a file. The gateway takes 4 MiB in one message, so no larger model can be deployed.
const (
	maxFile     = 4 << 20
	maxDepth    = 100
	maxElements = 200_000
)

// The namespaces of the elements that are kept. Those of others are drawing, or belong to other programs.
const (
	BPMN  = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	Zeebe = "http://camunda.org/schema/zeebe/1.0"
)

const (
	spaceSeven  = "http://camunda.org/schema/1.0/bpmn"
	platformKey = "executionPlatform"
)

// Element is one XML element of the namespaces BPMN and Zeebe.
type Element struct {
	Name xml.Name
	// Attrs are its attributes. Their namespaces are resolved; xmlns stays as it is.
	Attrs []xml.Attr
	// Text is the text in it, without that of its children.
	Text string
	// Line is where it begins, from 1.
	Line     int
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

// Has reports whether there is such an attribute.
func (e *Element) Has(name string) bool {
	return slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name == xml.Name{Local: name} })
}

// BPMN returns the children with this BPMN name.
func (e *Element) BPMN(name string) (found []*Element) {
	for _, c := range e.Children {
		if c.Is(name) {
			found = append(found, c)
		}
	}
	return found
}

// Zeebe returns Zeebe's extensions with this name.
func (e *Element) Zeebe(name string) (found []*Element) {
	for _, ext := range e.BPMN("extensionElements") {
		for _, c := range ext.Children {
			if c.Name == (xml.Name{Space: Zeebe, Local: name}) {
				found = append(found, c)
			}
		}
	}
	return found
}

// Read parses a model and returns its element definitions. Entities are not expanded, nothing is fetched.
func Read(content []byte) (*Element, error) {
	if len(content) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB, more than a broker takes", maxFile>>20)
	}
	r := reader{decoder: xml.NewDecoder(bytes.NewReader(content)), content: content, line: 1}
	foreign := ""
	r.decoder.CharsetReader = func(encoding string, _ io.Reader) (io.Reader, error) {
		foreign = encoding
		return nil, errors.New("not UTF-8")
	}
	for {
		r.advance()
		token, err := r.decoder.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return r.finish()
		case foreign != "":
			return nil, fmt.Errorf("its encoding is %s: only UTF-8 is read", foreign)
		case err != nil:
			return nil, fmt.Errorf("it is no XML: %w", err)
		}
		if err := r.take(token); err != nil {
			return nil, err
		}
	}
}

// reader builds the tree of a file. It resolves namespaces itself, because [xml.Decoder.Token] copies all
// prefixes that are in scope at every depth.
type reader struct {
	decoder  *xml.Decoder
	content  []byte
	root     *Element
	open     []opened
	elements int
	// line is that of the byte at offset.
	line, offset int
}

// opened is an element that is not closed yet. kept is nil for one of a foreign namespace; text is what
// was read of its text. spaces are the namespaces by prefix that it declares.
type opened struct {
	raw    xml.Name
	kept   *Element
	text   []byte
	spaces map[string]string
}

// advance moves the line number to where the next token begins.
func (r *reader) advance() {
	offset := min(int(r.decoder.InputOffset()), len(r.content))
	r.line += bytes.Count(r.content[r.offset:offset], []byte("\n"))
	r.offset = offset
}

func (r *reader) take(token xml.Token) error {
	last := len(r.open) - 1
	switch token := token.(type) {
	case xml.StartElement:
		return r.start(token)
	case xml.EndElement:
		if last < 0 || r.open[last].raw != token.Name {
			return fmt.Errorf("it is no XML: line %d closes %s, which is not open", r.line, token.Name.Local)
		}
		if e := r.open[last].kept; e != nil {
			e.Text = string(r.open[last].text)
		}
		r.open = r.open[:last]
	case xml.CharData:
		if last >= 0 && r.open[last].kept != nil {
			r.open[last].text = append(r.open[last].text, token...)
		}
	}
	return nil
}

func (r *reader) start(token xml.StartElement) error {
	if r.elements++; r.elements > maxElements {
		return fmt.Errorf("it has more than %d XML elements", maxElements)
	}
	if len(r.open) >= maxDepth {
		return fmt.Errorf("its XML elements are nested more than %d deep, at line %d", maxDepth, r.line)
	}
	if r.root != nil && len(r.open) == 0 {
		return fmt.Errorf("it is no XML: line %d begins a second root", r.line)
	}
	var parent *Element
	if n := len(r.open); n > 0 {
		parent = r.open[n-1].kept
	}
	r.open = append(r.open, opened{raw: token.Name, spaces: declared(token.Attr)})
	e := r.element(token)
	switch {
	case r.root == nil:
		r.root = e
	case parent != nil && (e.Name.Space == BPMN || e.Name.Space == Zeebe):
		parent.Children = append(parent.Children, e)
	default:
		return nil
	}
	r.open[len(r.open)-1].kept = e
	return nil
}

// element returns the element that a token begins, with the namespaces that hold in it.
func (r *reader) element(token xml.StartElement) *Element {
	e := &Element{Name: token.Name, Attrs: token.Copy().Attr, Line: r.line}
	e.Name.Space = r.space(e.Name.Space)
	for i, a := range e.Attrs {
		if a.Name.Space != "" && a.Name.Space != "xmlns" { // without a prefix an attribute has no namespace
			e.Attrs[i].Name.Space = r.space(a.Name.Space)
		}
	}
	return e
}

// space returns the namespace that a prefix stands for in the innermost open element; the prefix itself if
// it is not declared.
func (r *reader) space(prefix string) string {
	for _, o := range slices.Backward(r.open) {
		if space, is := o.spaces[prefix]; is {
			return space
		}
	}
	return prefix
}

// declared returns the namespaces by prefix that attributes declare, nil for none.
func declared(attrs []xml.Attr) (spaces map[string]string) {
	for _, a := range attrs {
		prefix, is := a.Name.Local, a.Name.Space == "xmlns"
		if a.Name.Space == "" && a.Name.Local == "xmlns" {
			prefix, is = "", true
		}
		if is && spaces == nil {
			spaces = map[string]string{}
		}
		if is {
			spaces[prefix] = a.Value
		}
	}
	return spaces
}

func (r *reader) finish() (*Element, error) {
	switch {
	case r.root == nil:
		return nil, errors.New("it is empty, or no XML")
	case len(r.open) > 0:
		return nil, fmt.Errorf("it is no XML: it ends before %s is closed", r.open[len(r.open)-1].raw.Local)
	case !r.root.Is("definitions"):
		return nil, fmt.Errorf("it is no BPMN: its first element is %s, not definitions of BPMN 2.0",
			r.root.Name.Local)
	case r.seven():
		return nil, errors.New("it is a model for Camunda 7: " +
			"open it in Camunda Modeler and convert it to Camunda 8")
	}
	return r.root, nil
}

// seven reports whether the model is one of Camunda 7, whose extensions Zeebe does not read.
func (r *reader) seven() bool {
	for _, a := range r.root.Attrs {
		if a.Name.Local == platformKey && a.Value != "" {
			return strings.EqualFold(a.Value, "Camunda Platform")
		}
	}
	for _, a := range r.root.Attrs {
		if a.Value == spaceSeven {
			return !bytes.Contains(r.content, []byte(Zeebe))
		}
	}
	return false
}
