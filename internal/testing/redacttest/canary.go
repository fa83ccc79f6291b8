// Package redacttest makes texts with personal data in them, as insurers and programs write them, and finds that data
// again in whatever a test hands it: a redacted text, a database file, a log, what a queue delivered. It shares no code
// with internal/redact, so that neither can hide a mistake of the other. All people in it are invented.
package redacttest

import (
	_ "embed" // the pieces
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Kind is a sort of personal data.
type Kind string

// The kinds that canaries carry, which pieces.json spells.
const (
	CPF   Kind = "CPF"
	CNS   Kind = "CNS"
	CNPJ  Kind = "CNPJ"
	Card  Kind = "card number"
	Phone Kind = "telephone number"
	Email Kind = "e-mail address"
	Birth Kind = "birth date"
	Name  Kind = "name"
)

// Secret is one piece of personal data.
type Secret struct {
	Kind Kind
	// Value is the data without any spelling: digits only (a birth date as yyyymmdd), a name or an address in small
	// letters without accents.
	Value string
}

// Canary is an error text with personal data in it.
type Canary struct {
	Text    string
	Secrets []Secret
}

// Take returns n texts, the same ones for the same seed.
func Take(seed uint64, n int) []Canary {
	m, canaries := maker{rand.New(rand.NewPCG(seed, 1))}, make([]Canary, n)
	for i := range canaries {
		canaries[i] = m.canary()
	}
	return canaries
}

//go:embed pieces.json
var piecesJSON []byte

// pieces are what the texts are made of, by kind and part: the field that stands before a secret, and the form of the
// secret itself. A # is a digit; the form of a birth date is a layout of package time.
var pieces = func() (all map[Kind]map[string][]string) {
	if err := json.Unmarshal(piecesJSON, &all); err != nil {
		panic(err)
	}
	return all
}()

type maker struct{ *rand.Rand }

// one returns one of the pieces of a part.
func (m maker) one(of Kind, part string) string {
	all := pieces[of][part]
	return all[m.IntN(len(all))]
}

// canary joins one to three secrets with the words they are usually found among.
func (m maker) canary() Canary {
	var c Canary
	parts := []string{m.one("text", "before")}
	for range 1 + m.IntN(3) {
		text, secret := m.piece([]Kind{CPF, CNS, CNPJ, Card, Phone, Email, Birth, Name}[m.IntN(8)])
		parts = append(parts, text)
		c.Secrets = append(c.Secrets, secret)
	}
	parts = append(parts, m.one("text", "after"))
	c.Text = m.disguise(strings.Join(parts, m.one("text", "between")))
	return c
}

// piece is one secret in a spelling of its kind.
func (m maker) piece(of Kind) (string, Secret) {
	form := m.one(of, "form")
	switch of {
	case Name:
		name := m.name()
		return strings.NewReplacer(
			"{field}", m.one(Name, "field"), "{tag}", m.one(Name, "tag"), "{number}", m.digits("#######"[m.IntN(6):]),
			"{name}", name, "{small}", strings.ToLower(name), "{big}", strings.ToUpper(name), "{plus}", strings.ReplaceAll(name, " ", "+"),
		).Replace(form), Secret{Name, Fold(name)}
	case Email:
		user := Fold(m.one(Name, "given")) + m.one(Email, "joint") + m.syllables() + m.digits("##"[m.IntN(3):])
		address := strings.Replace(form, "{user}", user, 1)
		spelled := strings.Replace(address, "@", m.one(Email, "at"), 1)
		if m.IntN(5) == 0 {
			spelled = strings.ToUpper(address)
		}
		return m.one(Email, "field") + spelled, Secret{Email, address}
	case Birth:
		day := time.Date(1926, 1, 1+m.IntN(90*365), 0, 0, 0, 0, time.UTC)
		return m.one(Birth, "field") + day.Format(form), Secret{Birth, day.Format("20060102")}
	case CPF, CNS, CNPJ, Card, Phone:
	}
	digits := m.digits(strings.Repeat("#", strings.Count(form, "#")))
	spelled := form
	for i := range len(digits) {
		spelled = strings.Replace(spelled, "#", digits[i:i+1], 1)
	}
	return m.one(of, "field") + spelled, Secret{of, digits}
}

// digits puts a digit in the place of each #.
func (m maker) digits(form string) string {
	return each(form, func(r rune) bool { return r == '#' }, func(rune) string { return string('0' + rune(m.IntN(10))) })
}

// name makes a name whose surnames exist nowhere, so that any of them in a blob is a leak.
func (m maker) name() string {
	words := []string{m.one(Name, "given")}
	if m.IntN(3) == 0 {
		words = append(words, m.one(Name, "given"))
	}
	for range 1 + m.IntN(3) {
		surname := m.syllables()
		words = append(words, m.one(Name, "particle")+strings.ToUpper(surname[:1])+surname[1:]+m.one(Name, "ending"))
	}
	return strings.Join(words, " ")
}

func (m maker) syllables() string {
	var b strings.Builder
	for range 3 {
		b.WriteString(m.one(Name, "syllable") + m.one(Name, "vowel"))
	}
	return b.String()
}

// disguise spells a whole text as it arrives after a few systems have handed it on. Two in three stay as they are.
func (m maker) disguise(s string) string {
	way := m.IntN(24)
	if way > 1 && strings.ContainsAny(s, `%&\`) {
		return s // a disguise inside of an escape would only break it
	}
	isPlain := func(r rune) bool { return r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	isOdd := func(r rune) bool { return r > 127 || unicode.IsDigit(r) || r == '@' }
	hidden := []string{"\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e", "\x00"}[m.IntN(7)]
	switch way {
	case 0:
		return url.QueryEscape(s)
	case 1:
		return url.PathEscape(url.QueryEscape(s))
	case 2: // full width
		return each(s, isPlain, func(r rune) string { return string(r - '!' + '！') })
	case 3:
		return each(s, isOdd, func(r rune) string { return fmt.Sprintf("&#%d;", r) })
	case 4:
		return each(s, isOdd, func(r rune) string { return fmt.Sprintf("&#x%X;", r) })
	case 5:
		return each(s, isOdd, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })
	case 6:
		return each(s, unicode.IsDigit, func(r rune) string { return string(r) + hidden })
	case 7:
		return each(s, unicode.IsLetter, func(r rune) string { return string(r) + hidden })
	case 8: // a blank that breaks no line, a dash for a minus, and accents as combining characters
		return strings.NewReplacer(" ", "\u00a0", "-", "\u2013",
			"ã", "a\u0303", "õ", "o\u0303", "é", "e\u0301", "á", "a\u0301", "ç", "c\u0327").Replace(s)
	}
	return s
}

// each replaces the characters that are chosen.
func each(s string, chosen func(rune) bool, by func(rune) string) string {
	var b strings.Builder
	for _, r := range s {
		if chosen(r) {
			b.WriteString(by(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
