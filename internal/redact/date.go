package redact

// date recognises the date at s[i:] in the usual spellings and returns its end, or 0. It accepts impossible dates: 31/02 is a
// typing error in a birth date, but still about a person.
func date(s string, i int) int {
	if r, _ := next(s, i); isLetter(r) {
		return monthFirst(s, i)
	}
	d := readDigits(s, i, between)
	if d.groups == 0 {
		return 0
	}
	first, v := d.upto[0], d.value
	if d.groups >= 3 {
		second, third := d.upto[1]-first, d.upto[2]-d.upto[1]
		switch {
		case first == 4 && second <= 2 && third <= 2: // 1980-01-31, and a time may follow
			return d.stop[2]
		case first <= 2 && second <= 2 && (third == 4 || third == 2): // 31/01/1980, 31.1.80
			return d.stop[2]
		}
	}
	switch {
	case first <= 2:
		return monthSecond(s, d.stop[0])
	case first == 8 && (century(v[0], v[1]) || century(v[4], v[5])): // 19800131, 31011980
		return d.stop[0]
	case first == 14 && century(v[0], v[1]): // 19800131000000
		return d.stop[0]
	case first == 6: // 310180
		return d.stop[0]
	}
	return 0
}

func century(a, b byte) bool { return a == '1' && (b == '8' || b == '9') || a == '2' && b == '0' }

// monthSecond reads the rest of "31 de janeiro de 1980", "1º/jan/80" or "31-JAN-1980" after the day.
func monthSecond(s string, i int) int {
	if w, after := readWord(s, i); w.n == 1 && w.letters[0]|0x20 == 'o' {
		i = after
	}
	i = dateGap(s, i)
	w, after := readWord(s, i)
	if !w.isMonth() {
		return 0
	}
	return year(s, after)
}

// monthFirst reads "January 31, 1980" and "janeiro de 1980".
func monthFirst(s string, i int) int {
	w, after := readWord(s, i)
	if !w.isMonth() {
		return 0
	}
	if stop := year(s, after); stop > 0 {
		return stop
	}
	from := dateGap(s, after)
	if day := groupEnd(s, from); day > from && day <= from+2 {
		return year(s, day)
	}
	return 0
}

func year(s string, i int) int {
	d := readDigits(s, dateGap(s, i), func(rune) bool { return false })
	if d.groups == 1 && (d.upto[0] == 4 || d.upto[0] == 2) {
		if r, _ := next(s, d.stop[0]); r != ',' || d.upto[0] == 4 { // "January 31, 1980": 31 is the day
			return d.stop[0]
		}
	}
	return 0
}

// dateGap skips the punctuation between the parts of a date, and a "de".
func dateGap(s string, i int) int {
	for range 8 {
		r, after := next(s, i)
		switch r {
		case ' ', '/', '-', '.', ',', '_', '+':
			i = after
			continue
		}
		w, after := readWord(s, i)
		if w.n != 2 || w.letters[0]|0x20 != 'd' || w.letters[1]|0x20 != 'e' {
			return i
		}
		i = after
	}
	return i
}
