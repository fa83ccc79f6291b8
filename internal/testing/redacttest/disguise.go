package redacttest

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// disguise spells a whole text as it arrives after a few systems have handed it on. Two in three stay as they are.
func (m maker) disguise(s string) string {
	way := m.IntN(24)
	if way != 1 && way != 2 && way != 3 && strings.ContainsAny(s, `%&\`) {
		return s // a disguise inside of an escape would only break it
	}
	switch way {
	case 0:
		return each(s, unicode.IsDigit, func(r rune) string { return string(r - '0' + '０') })
	case 1:
		return url.QueryEscape(s)
	case 2:
		return url.PathEscape(s)
	case 3:
		return url.QueryEscape(url.QueryEscape(s))
	case 4:
		return each(s, unicode.IsDigit, func(r rune) string { return fmt.Sprintf("&#%d;", r) })
	case 5:
		return each(s, func(r rune) bool { return r > 127 || r == '.' || r == '@' }, func(r rune) string { return fmt.Sprintf("&#x%X;", r) })
	case 6:
		hidden := one(m, "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e")
		return each(s, unicode.IsDigit, func(r rune) string { return string(r) + hidden })
	case 7:
		hidden := one(m, "\u200b", "\x00", "\u2060")
		return each(s, unicode.IsLetter, func(r rune) string { return string(r) + hidden })
	case 8:
		return each(s, func(r rune) bool { return r > 127 || unicode.IsDigit(r) }, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })
	case 9:
		return strings.ReplaceAll(s, " ", "\u00a0")
	case 10:
		return strings.ReplaceAll(s, "-", "\u2013")
	case 11:
		return each(s, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || unicode.IsDigit(r) }, func(r rune) string { return string(r - '!' + '！') })
	case 12: // accents as combining characters
		return strings.NewReplacer("ã", "a\u0303", "õ", "o\u0303", "é", "e\u0301", "á", "a\u0301", "ç", "c\u0327").Replace(s)
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
