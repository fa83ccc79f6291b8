package redact

import (
	"strings"
	"unicode/utf8"
)

// inPhone are the separators inside telephone numbers. The slash is none: it stands between two of them.
func inPhone(r rune) bool {
	switch r {
	case '.', '-', ' ', '+', '(', ')', '_', utf8.RuneError:
		return true
	}
	return false
}

// phone recognises the telephone number at s[i:], which begins with + or with an area code in parentheses, and returns
// where it ends, or 0.
func phone(s string, i int) int {
	r, after := next(s, i)
	d := readDigits(s, after, inPhone)
	for groups := d.groups; groups > 0; groups-- {
		n, value := d.upto[groups-1], d.value[:d.upto[groups-1]]
		switch {
		case r == '+' && value[0] == '5' && n > 1 && value[1] == '5':
			if (n == 12 || n == 13) && areaCode(value[2:]) {
				return d.stop[groups-1]
			}
		case r == '+':
			if 11 <= n && n <= 15 && value[0] != '0' {
				return d.stop[groups-1]
			}
		case groups > 1 && d.before[1] == ')':
			area := d.upto[0] // (11), (011)
			if (area == 2 || area == 3 && value[0] == '0') && areaCode(value[area-2:]) && (n-area == 8 || n-area == 9) {
				return d.stop[groups-1]
			}
		}
	}
	if r == '(' {
		return carrierPhone(s, after)
	}
	return 0
}

// carrierPhone recognises "0xx11) 3456-7890", the spelling with a place for the carrier's code.
func carrierPhone(s string, i int) int {
	for _, want := range "0xx" {
		r, after := next(s, i)
		if r != want && r|0x20 != want {
			return 0
		}
		i = after
	}
	d := readDigits(s, i, inPhone)
	for groups := d.groups; groups > 1; groups-- {
		if n := d.upto[groups-1]; d.upto[0] == 2 && areaCode(d.value[:n]) && (n == 10 || n == 11) {
			return d.stop[groups-1]
		}
	}
	return 0
}

// size returns the number of digits in a group, 0 beyond the last one.
func (d *digits) size(group int) int {
	switch {
	case group >= d.groups:
		return 0
	case group == 0:
		return d.upto[0]
	}
	return d.upto[group] - d.upto[group-1]
}

// announcedPhone recognises a telephone number after its field's name, with or without country and area, and returns
// where it ends, or 0. What follows it may be the next number, so the groups decide before the length does.
func (d *digits) announcedPhone() int {
	national := d.value[0] == '5' && d.value[1] == '5' && areaCode(d.value[2:])
	switch first, second := d.size(0), d.size(1); {
	case 8 <= first && first <= 13:
		return d.stop[0]
	case (first == 4 || first == 5) && second == 4 && d.before[1] != '(':
		return d.stop[1]
	case first == 7 && second == 4 || first == 6 && second == 4 || first == 4 && second == 9: // 1198765-4321
		return d.stop[1]
	}
	for _, n := range [...]int{13, 12, 11, 10, 9, 8} {
		if n >= 12 && !national && d.value[0] != '0' || n == 11 && d.value[2] != '9' && d.value[0] != '0' {
			continue
		}
		for g := range d.groups {
			if d.upto[g] == n {
				return d.stop[g]
			}
		}
	}
	return 0
}

// phone recognises a telephone number by its groups alone, prev being the character before it, and returns where it
// ends, or 0. Bare runs of 10 or 11 digits are left to the field's name: job keys, claims and guides are such runs too.
// Of 13 digits, 55, an area code and the 9 of a mobile number are enough to go by.
func (d *digits) phone(prev rune) int {
	area := func(from int) bool { return areaCode(d.value[from:]) }
	soft := func(g int) bool { return d.before[g] == ' ' || d.before[g] == '-' || d.before[g] == '.' }
	v := &d.value
	switch a, b, c := d.size(0), d.size(1), d.size(2); {
	case a == 13 && v[0] == '5' && v[1] == '5' && area(2) && v[4] == '9':
		return d.stop[0]
	case a == 4 && b == 5 && c == 4 && v[0] == '5' && v[1] == '5' && area(2) && v[4] == '9':
		return d.stop[2]
	case (a == 2 || a == 3 && v[0] == '0') && b == 5 && c == 4 && area(a-2) && v[a] == '9' && soft(1) && soft(2):
		return d.stop[2]
	case a == 2 && b == 4 && c == 4 && area(0) && '2' <= v[2] && v[2] <= '5' && d.before[1] == ' ' && soft(2) && d.before[2] != ' ' &&
		(d.groups == 3 || d.before[3] == ' '):
		return d.stop[2]
	case a == 2 && b == 9 && area(0) && v[2] == '9' && d.before[1] == ' ':
		return d.stop[1]
	case a == 2 && b == 1 && c == 4 && d.size(3) == 4 && area(0) && v[2] == '9' && soft(1) && soft(2) && soft(3): // 11 9 8765-4321
		return d.stop[3]
	case a == 7 && b == 4 && area(0) && v[2] == '9' && d.before[1] == '-':
		return d.stop[1]
	case a == 5 && b == 4 && v[0] == '9' && d.before[1] == '-' && !joined(prev):
		return d.stop[1]
	}
	return 0
}

// joined reports whether what follows this character continues a code, as the 98765 of CLM-98765-4321 does.
func joined(prev rune) bool {
	switch prev {
	case '-', '.', '_', '/':
		return true
	}
	return isDigit(prev) || isLetter(prev)
}

// areaCodes are the area codes in use: the second digits by the first.
var areaCodes = [10]string{
	1: "123456789", 2: "12478", 3: "1234578", 4: "123456789", 5: "1345", 6: "123456789", 7: "134579", 8: "123456789", 9: "123456789",
}

// areaCode reports whether the two digits are an area code in use.
func areaCode(d []byte) bool {
	return len(d) >= 2 && '0' <= d[0] && d[0] <= '9' && strings.IndexByte(areaCodes[d[0]-'0'], d[1]) >= 0
}
