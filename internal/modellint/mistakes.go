package modellint

import (
	_ "embed" // for the texts
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
)

//go:embed mistakes.yaml
var mistakeTexts []byte

// mistakes are what can be found, each by its name.
var mistakes = sync.OnceValue(func() (all map[string]text.Finding) {
	if err := yaml.Unmarshal(mistakeTexts, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
})

// once reports whether something has not been said.
func (l *linter) once(what ...any) bool {
	key := fmt.Sprint(what...)
	said := l.said[key]
	l.said[key] = true
	return !said
}

// add adds a mistake at an element, with the texts that it names. What it returns may be changed. In a
// bundled process there is none: under some settings its job types look misspelt.
func (l *linter) add(n *node, mistake string, args ...any) *text.Finding {
	if n.process.file == "" || !l.once(n.process.file, n.id, mistake, args) {
		return &text.Finding{}
	}
	f := mistakes()[mistake]
	for _, m := range []*text.Message{&f.What, &f.Effect, &f.Advice} {
		if strings.Contains(m.Format, "%[") {
			m.Args = args
		}
	}
	places := []string{"{id}", html.EscapeString(n.id)} // in XML as in HTML
	for i, arg := range args {
		places = append(places, fmt.Sprintf("{%d}", i+1), html.EscapeString(fmt.Sprint(arg)))
	}
	f.Fix = strings.NewReplacer(places...).Replace(f.Fix)
	f.File, f.Line, f.Name = n.process.file, n.Line, n.name
	if n.id != "" {
		f.Subject = text.Messagef("%s", n.id)
	}
	l.findings = append(l.findings, f)
	return &l.findings[len(l.findings)-1]
}

// addNaming adds a mistake that first names those of some variables or codes of which it holds, if any.
func (l *linter) addNaming(n *node, mistake string, some []string, holds func(string) bool, args ...any) {
	found := slices.DeleteFunc(slices.Clone(some), func(one string) bool { return !holds(one) })
	if len(found) > 0 {
		l.add(n, mistake, append([]any{strings.Join(found, ", ")}, args...)...)
	}
}

// quoted names an element.
func quoted(n *node) string {
	if n.name == "" {
		return n.id
	}
	return fmt.Sprintf("%q (%s)", text.Shorten(n.name, 60), n.id)
}
