package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/text"
)

// ModelFindingsText words the findings about so many files.
func ModelFindingsText(findings []modellint.Finding, files int) string {
	if len(findings) == 0 {
		return "No findings in " + text.Count(files, "file") + ".\n"
	}
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(modelFindingText(f))
	}
	return b.String()
}

func modelFindingText(f modellint.Finding) string {
	const indent = "    "
	var b strings.Builder
	where := text.Line(f.File)
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, f.Line)
	}
	fmt.Fprintf(&b, "%s: %s %s\n", where, f.Severity, f.Rule)
	if element := elementWords(f); element != "" {
		b.WriteString(text.Wrap(text.Line(element), "  "))
	}
	b.WriteString(text.Wrap(text.Line(sentence(f.Problem)), indent))
	if f.Effect != "" {
		b.WriteString(text.Wrap("At run time: "+text.Line(sentence(f.Effect)), indent))
	}
	switch {
	case f.Advice != "":
		b.WriteString(text.Wrap("What to do: "+text.Line(sentence(f.Advice)), indent))
	case f.Fix != "":
		b.WriteString(indent + "What to do:\n")
	}
	for line := range strings.Lines(f.Fix) {
		b.WriteString(strings.TrimRight(indent+"  "+text.Harmless(line), " \n") + "\n")
	}
	return b.String()
}

// elementWords names an element by its name and its id.
func elementWords(f modellint.Finding) string {
	switch {
	case f.Element == "":
		return ""
	case f.Name == "":
		return f.Element
	default:
		return fmt.Sprintf("%s (%s)", f.Name, f.Element)
	}
}

// sentence begins a text with a capital letter, unless it begins with a name that is written as it is, and ends it.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if strings.IndexFunc(word, unicode.IsUpper) < 0 {
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ".)") {
		s += "."
	}
	return s
}
