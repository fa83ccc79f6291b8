package lang

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/text/message"
)

// Text is a text for people that is not yet in a language: an English format of package fmt, by which the catalogue has it,
// and its arguments, which may be Texts too.
type Text struct {
	Format string
	Args   []any
}

// Textf returns a text. The format is a literal, so that the test of the catalogue finds it.
func Textf(format string, args ...any) Text {
	if false {
		_ = fmt.Sprintf(format, args...) // go vet then checks format and arguments of all callers
	}
	return Text{format, args}
}

// String returns the text in English.
func (t Text) String() string { return In(English).Text(t) }

// Printer writes texts in one language. It is safe for concurrent use.
type Printer struct {
	language Language
	printer  *message.Printer
}

var (
	english    = sync.OnceValue(func() *Printer { return newPrinter(English) })
	portuguese = sync.OnceValue(func() *Printer { return newPrinter(Portuguese) })
)

func newPrinter(l Language) *Printer {
	return &Printer{language: l, printer: message.NewPrinter(l.tag(), message.Catalog(catalogue()))}
}

// In returns the printer of a language.
func In(l Language) *Printer {
	if l == Portuguese {
		return portuguese()
	}
	return english()
}

// Language returns the language of the texts.
func (p *Printer) Language() Language { return p.language }

// Text returns the text in the printer's language.
func (p *Printer) Text(t Text) string {
	args := slices.Clone(t.Args) // a text may be printed in several languages at once
	for i, arg := range args {
		if inner, is := arg.(Text); is {
			args[i] = p.Text(inner)
		}
	}
	return p.printer.Sprintf(t.Format, args...)
}

// Sprintf formats by [fmt.Sprintf] in the printer's language, numbers as that language writes them: 1,234 or 1.234. The format
// is a literal, in English, that the catalogue has. Of an argument that is a [Text], it takes what it is in that language.
//
// A number that identifies something, such as a key, is given as a text.
func (p *Printer) Sprintf(format string, args ...any) string { return p.Text(Textf(format, args...)) }
