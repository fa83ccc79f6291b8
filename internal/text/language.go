// Package text is how this program writes for people: messages in English and Brazilian Portuguese, times and durations, tables
// and wrapped lines, the name that a misspelt one means. The code writes its messages in English, and [Printer] looks them up in
// the catalogue. Logs and metrics are English, and so are JSON and events, which quote what a process was sent.
//
// What is printed may come from an insurer, a model or a file. [HarmlessJSON], [Harmless] and [Line] make such a text unable to
// command a terminal: control characters, also those above ASCII (a terminal may take U+009B for the beginning of a command),
// marks that turn the direction of writing, and all else without a glyph become escapes.
package text

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Language is a language that texts for people are in. The zero value is English.
type Language string

// The languages.
const (
	English    Language = "en"
	Portuguese Language = "pt-BR"
)

// tag returns the language's tag.
func (l Language) tag() language.Tag {
	if l == Portuguese {
		return language.BrazilianPortuguese
	}
	return language.English
}

// ParseLanguage reads the name of a language: en or pt-BR.
func ParseLanguage(name string) (Language, error) {
	tag, err := language.Parse(name)
	for _, l := range []Language{English, Portuguese} {
		if err == nil && tag == l.tag() {
			return l, nil
		}
	}
	return "", errors.New("give pt-BR or en")
}

// Decode implements envconfig's Decoder by [ParseLanguage].
func (l *Language) Decode(name string) (err error) {
	*l, err = ParseLanguage(name)
	return err
}

// OfLocale returns the language of a POSIX locale such as pt_BR.UTF-8, or of a tag such as pt-BR: Portuguese where the locale is
// of any Portuguese, English otherwise.
func OfLocale(locale string) Language {
	if i := strings.IndexAny(locale, "_-.@"); i >= 0 {
		locale = locale[:i]
	}
	if locale == "pt" {
		return Portuguese
	}
	return English
}
