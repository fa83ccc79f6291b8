package modellint

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
)

// The bounds of a file. The gateway takes 4 MiB in one message, so no larger model can be deployed.
const (
	maxFile     = 4 << 20
	maxDepth    = 100
	maxElements = 200_000
)

// The namespaces of a model. Elements of other namespaces are drawing, or belong to other programs.
const (
	spaceBPMN   = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	spaceZeebe  = "http://camunda.org/schema/zeebe/1.0"
	spaceSeven  = "http://camunda.org/schema/1.0/bpmn"
	platformKey = "executionPlatform"
)

// element is one XML element of the namespaces BPMN and Zeebe.
type element struct {
	name     xml.Name
	attrs    []xml.Attr
	text     string
	line     int
	children []*element
}

// is reports whether the element has this BPMN name.
func (e *element) is(name string) bool { return e.name.Space == spaceBPMN && e.name.Local == name }

// attr returns the value of an attribute, whatever its namespace; empty without one.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// has reports whether there is an attribute.
func (e *element) has(name string) bool {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return true
		}
	}
	return false
}

// bpmn returns the children with this BPMN name.
func (e *element) bpmn(name string) (found []*element) {
	for _, c := range e.children {
		if c.is(name) {
			found = append(found, c)
		}
	}
	return found
}

// zeebe returns Zeebe's extensions with this name.
func (e *element) zeebe(name string) (found []*element) {
	for _, ext := range e.bpmn("extensionElements") {
		for _, c := range ext.children {
			if c.name.Space == spaceZeebe && c.name.Local == name {
				found = append(found, c)
			}
		}
	}
	return found
}

// read parses a model. The result is bounded, whatever the file holds: entities are not expanded, nothing is fetched.
func read(content []byte) (*element, error) {
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

// reader builds the tree of a file. It resolves namespaces itself, because [xml.Decoder.Token] copies all prefixes that are
// in scope at every depth.
type reader struct {
	decoder  *xml.Decoder
	content  []byte
	root     *element
	open     []opened
	elements int
	// line is that of the byte at offset.
	line, offset int
}

// opened is an element that is not closed yet. kept is nil for one of a foreign namespace.
type opened struct {
	raw    xml.Name
	kept   *element
	spaces map[string]string
}

// advance moves the line number to where the next token begins.
func (r *reader) advance() {
	offset := min(int(r.decoder.InputOffset()), len(r.content))
	r.line += bytes.Count(r.content[r.offset:offset], []byte("\n"))
	r.offset = offset
}

func (r *reader) take(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return r.start(token)
	case xml.EndElement:
		if len(r.open) == 0 || r.open[len(r.open)-1].raw != token.Name {
			return fmt.Errorf("it is no XML: line %d closes %s, which is not open", r.line, token.Name.Local)
		}
		r.open = r.open[:len(r.open)-1]
	case xml.CharData:
		if n := len(r.open); n > 0 && r.open[n-1].kept != nil {
			r.open[n-1].kept.text += string(token)
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
	o := opened{raw: token.Name}
	var parent *element
	if n := len(r.open); n > 0 {
		o.spaces, parent = r.open[n-1].spaces, r.open[n-1].kept
	}
	o.spaces = declared(o.spaces, token.Attr)
	name := xml.Name{Space: o.spaces[token.Name.Space], Local: token.Name.Local}
	e := &element{name: name, attrs: token.Copy().Attr, line: r.line}
	switch {
	case r.root == nil:
		r.root, o.kept = e, e
	case parent != nil && (name.Space == spaceBPMN || name.Space == spaceZeebe):
		parent.children = append(parent.children, e)
		o.kept = e
	}
	r.open = append(r.open, o)
	return nil
}

// declared returns the namespaces by prefix that hold in an element with these attributes.
func declared(outer map[string]string, attrs []xml.Attr) map[string]string {
	spaces, copied := outer, false
	for _, a := range attrs {
		prefix, is := a.Name.Local, a.Name.Space == "xmlns"
		if a.Name.Space == "" && a.Name.Local == "xmlns" {
			prefix, is = "", true
		}
		if !is {
			continue
		}
		if !copied {
			spaces, copied = map[string]string{}, true
			maps.Copy(spaces, outer)
		}
		spaces[prefix] = a.Value
	}
	return spaces
}

func (r *reader) finish() (*element, error) {
	switch {
	case r.root == nil:
		return nil, errors.New("it is empty, or no XML")
	case len(r.open) > 0:
		return nil, fmt.Errorf("it is no XML: it ends before %s is closed", r.open[len(r.open)-1].raw.Local)
	case !r.root.is("definitions"):
		return nil, fmt.Errorf("it is no BPMN: its first element is %s, not definitions of BPMN 2.0", r.root.name.Local)
	case r.seven():
		return nil, errors.New("it is a model for Camunda 7: open it in Camunda Modeler and convert it to Camunda 8")
	}
	return r.root, nil
}

// seven reports whether the model is one of Camunda 7, whose extensions Zeebe does not read.
func (r *reader) seven() bool {
	if platform := r.root.attr(platformKey); platform != "" {
		return strings.EqualFold(platform, "Camunda Platform")
	}
	for _, a := range r.root.attrs {
		if a.Value == spaceSeven {
			return !bytes.Contains(r.content, []byte(spaceZeebe))
		}
	}
	return false
}
