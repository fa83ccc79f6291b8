package modellint

import (
	_ "embed" // for the texts
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/modellint/bpmnxml"
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

// add adds a mistake at an element, with the texts that it names as the first and so on. What it returns may be
// changed.
func (l *linter) add(n *node, mistake string, args ...any) *text.Finding {
	key := fmt.Sprint(n.process.file, n.id, mistake, args)
	if l.said[key] {
		return &text.Finding{}
	}
	l.said[key] = true
	f := mistakes()[mistake]
	for _, m := range []*text.Message{&f.What, &f.Effect, &f.Advice} {
		if strings.Contains(m.Format, "%[") {
			m.Args = args
		}
	}
	places := []string{"{id}", n.id}
	for i, arg := range args {
		places = append(places, fmt.Sprintf("{%d}", i+1), fmt.Sprint(arg))
	}
	for i, s := range places {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
		places[i] = b.String()
	}
	f.Fix = strings.NewReplacer(places...).Replace(f.Fix)
	f.File, f.Line, f.Name = n.process.file, n.Line, n.name
	if n.id != "" {
		f.Subject = text.Messagef("%s", n.id)
	}
	l.findings = append(l.findings, f)
	return &l.findings[len(l.findings)-1]
}

// addNaming adds a mistake that first names those of some variables or codes of which something holds, if there are any.
func (l *linter) addNaming(n *node, mistake string, some []string, holds func(string) bool, args ...any) {
	found := slices.DeleteFunc(slices.Clone(some), func(one string) bool { return !holds(one) })
	if len(found) > 0 {
		l.add(n, mistake, append([]any{strings.Join(found, ", ")}, args...)...)
	}
}

// nowhere is the place of a mistake of a whole file.
func nowhere(file string) *node {
	return &node{Element: &bpmnxml.Element{}, process: &process{file: file}}
}

// quoted names an element.
func quoted(n *node) string {
	if n.name == "" {
		return n.id
	}
	return fmt.Sprintf("%q (%s)", text.Shorten(n.name, 60), n.id)
}
