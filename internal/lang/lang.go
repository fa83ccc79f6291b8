// Package lang is the language of texts for people: English and Brazilian Portuguese. The code writes its texts in English,
// and [Printer] looks them up in the catalogue, which is in this package for all others. Logs and metrics are English, and so
// are JSON and events, which quote what a process was sent.
package lang

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

// Parse reads the name of a language: en or pt-BR.
func Parse(name string) (Language, error) {
	tag, err := language.Parse(name)
	for _, l := range []Language{English, Portuguese} {
		if err == nil && tag == l.tag() {
			return l, nil
		}
	}
	return "", errors.New("give pt-BR or en")
}

// Decode implements envconfig's Decoder by [Parse].
func (l *Language) Decode(name string) (err error) {
	*l, err = Parse(name)
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
