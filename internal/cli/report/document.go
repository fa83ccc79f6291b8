package report

import (
	_ "embed" // of the page
	"html/template"
	"io"
	"strings"

	"hospital.example/analyze-retry/internal/text"
)

// Document is a report in words, without a format.
type Document struct {
	Language text.Language
	Title    string
	Lead     []string
	Sections []Section
}

// Section is a part of a document: a table whose first row is its head, a note, or both.
type Section struct {
	Title, Note string
	Table       [][]string
	// Grades are the verdicts of rows, which a page shows in colours too.
	Grades map[int]string
}

// Formats returns what writes a document, by the name of the format.
func Formats() map[string]func(io.Writer, Document) error {
	return map[string]func(io.Writer, Document) error{
		"text": func(out io.Writer, d Document) error {
			_, err := io.WriteString(out, d.text())
			return err
		},
		"html": func(out io.Writer, d Document) error { return page.Execute(out, d) },
	}
}

// text is the document for a terminal.
func (d Document) text() string {
	var b strings.Builder
	b.WriteString(d.Title + "\n\n")
	for _, lead := range d.Lead {
		b.WriteString(text.Wrap(lead, ""))
	}
	for _, section := range d.Sections {
		b.WriteString("\n" + section.Title + "\n")
		if section.Note != "" {
			b.WriteString(text.Wrap(section.Note, "  "))
		}
		b.WriteString(text.Table("  ", section.Table))
	}
	return b.String()
}

//go:embed page.html
var pageText string

// page prints on A4 without a header of the browser in the way, and needs nothing from elsewhere.
var page = template.Must(template.New("page").Parse(pageText))
