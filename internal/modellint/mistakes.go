package modellint

import (
	_ "embed" // for the texts
	"encoding/xml"
	"fmt"
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

// add adds a mistake at an element, with the texts that it names as {1} and on. What it returns may be changed.
func (l *linter) add(n *node, mistake string, args ...string) *text.Finding {
	f := mistakes()[mistake]
	plain := []string{"{id}", n.id}
	var escaped []string
	for i, arg := range args {
		plain = append(plain, fmt.Sprintf("{%d}", i+1), arg)
	}
	for _, s := range plain {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
		escaped = append(escaped, b.String())
	}
	f.What = strings.NewReplacer(plain...).Replace(f.What)
	f.Fix = strings.NewReplacer(escaped...).Replace(f.Fix)
	f.File, f.Line, f.Subject, f.Name = n.process.file, n.line, n.id, n.name
	l.findings = append(l.findings, f)
	return &l.findings[len(l.findings)-1]
}

// quoted names an element.
func quoted(n *node) string {
	if n.name == "" {
		return n.id
	}
	return fmt.Sprintf("%q (%s)", text.Shorten(n.name, 60), n.id)
}

// enumerated lists texts: a, b and c.
func enumerated(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
