// Package text is how this program writes for people: messages in English and Brazilian Portuguese, times and
// durations, tables and wrapped lines, the name that a misspelt one means. The code writes its messages in
// English, and [Printer] looks them up in the catalogue, pt-BR.tsv. Logs and metrics are English, and so are
// JSON and events, which quote what a process was sent.
//
// What is printed may come from an insurer, a model or a file. [Harmless] and [Line] make
// such a text unable to command a terminal: control characters, also those above ASCII (a terminal may take
// U+009B for the beginning of a command), marks that turn the direction of writing, and all else without a
// glyph become escapes.
package text

import (
	"errors"
	"strings"
)

// Language is a language that texts for people are in. The zero value is English.
type Language string

// The languages.
const (
	English    Language = "en"
	Portuguese Language = "pt-BR"
)

// Decode implements envconfig's Decoder: it reads en or pt-BR.
func (l *Language) Decode(name string) error {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "en":
		*l = English
	case "pt-br":
		*l = Portuguese
	default:
		return errors.New("give pt-BR or en")
	}
	return nil
}
