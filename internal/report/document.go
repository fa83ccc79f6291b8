package report

import (
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
	s := d.Title + "\n\n" + text.Wrap(strings.Join(d.Lead, " "), "")
	for _, section := range d.Sections {
		s += "\n" + section.Title + "\n"
		if section.Note != "" {
			s += text.Wrap(section.Note, "  ")
		}
		s += text.Table("  ", section.Table)
	}
	return s
}

// page prints on A4 without a header of the browser in the way, and needs nothing from elsewhere.
var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="{{.Language}}">
<head>
<meta charset="utf-8">
<title>{{.Title}}</title>
<style>
@page { size: A4; margin: 16mm 14mm; }
body { font: 10.5pt/1.4 system-ui, sans-serif; color: #1a1a1a; }
body { max-width: 190mm; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 17pt; margin: 0 0 .3rem; }
h2 { font-size: 12pt; margin: 1.3rem 0 .4rem; break-after: avoid; }
p { margin: .1rem 0; color: #555; }
table { border-collapse: collapse; width: 100%; font-size: 9.5pt; }
tr { break-inside: avoid; }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid #444; vertical-align: bottom; }
td, th { padding: .22rem .5rem .22rem 0; }
td { overflow-wrap: anywhere; border-bottom: 1px solid #ddd; vertical-align: top; }
td { font-variant-numeric: tabular-nums; }
@media print { body { margin: 0; padding: 0; max-width: none; } }
</style>
</head>
<body>
<h1>{{.Title}}</h1>
{{range .Lead}}<p>{{.}}</p>
{{end}}{{range .Sections}}<h2>{{.Title}}</h2>
{{with .Note}}<p>{{.}}</p>
{{end}}<table>
{{range $i, $row := .Table}}<tr>{{range .}}{{if $i}}<td>{{.}}</td>{{else}}<th>{{.}}</th>{{end}}{{end}}</tr>
{{end}}</table>
{{end}}</body>
</html>
`))
