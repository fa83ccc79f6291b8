package redact

// word is an identifier without accents. It keeps its case.
type word struct {
	letters [maxWord]byte
	n       int // maxWord+1: longer than any field's name
}

const maxWord = 48

// readWord reads the letters and underscores at s[i:] and returns where they end.
func readWord(s string, i int) (word, int) {
	var w word
	for {
		for ; i < len(s) && s[i] < 0x80 && (isLetter(rune(s[i])) || s[i] == '_'); i++ { // most text, without the detour
			if w.n < maxWord {
				w.letters[w.n] = s[i]
			}
			w.n = min(w.n+1, maxWord+1)
		}
		r, after := next(s, i)
		if !isLetter(r) && r != '_' {
			return w, i
		}
		if w.n < maxWord {
			if r >= 0x80 {
				r = '?' // U+FFFD, where an accented letter was
			}
			w.letters[w.n] = byte(r)
		}
		w.n, i = min(w.n+1, maxWord+1), after
	}
}

// fields returns what an identifier such as nome, NOME_SOCIAL, nrCpfBeneficiario or dtNascimento announces. For a person every
// part must fit (PACIENTE_ID announces none). For a number one part is enough, because the number must fit too.
func (w *word) fields() field {
	if w.n < 2 || w.n > maxWord {
		return w.single()
	}
	var all field
	person := true
	for from := 0; from < w.n; {
		to := w.part(from)
		if to > from {
			f := classify(w.letters[from:to])
			person = person && f&(fieldPerson|fieldLink) != 0
			all |= f
		}
		from = to
		for from < w.n && w.letters[from] == '_' {
			from++
		}
	}
	if all&fieldNumbers != 0 {
		return all & fieldNumbers
	}
	switch {
	case !person:
		return all & fieldAside
	case all&fieldPerson != 0:
		return all & fieldPerson
	}
	return all
}

// single returns what one letter announces: articles and the like stand between a field's name and its value.
func (w *word) single() field {
	if w.n == 1 {
		switch w.letters[0] | 0x20 {
		case 'o', 'a', 'e', 'n', 's':
			return fieldLink
		}
	}
	return 0
}

// part returns the end of the part of the identifier that begins at from: at an underscore, before a capital that
// follows a small letter, and before the last of several capitals that small letters follow (CPFPaciente).
func (w *word) part(from int) int {
	small := func(i int) bool { return i < w.n && 'a' <= w.letters[i] && w.letters[i] <= 'z' }
	big := func(i int) bool { return i < w.n && 'A' <= w.letters[i] && w.letters[i] <= 'Z' }
	i := from
	for ; i < w.n && w.letters[i] != '_'; i++ {
		if i > from && big(i) && (small(i-1) || big(i-1) && small(i+1)) {
			break
		}
	}
	return i
}

func (w *word) hasUpper() bool {
	for _, c := range w.letters[:min(w.n, maxWord)] {
		if 'A' <= c && c <= 'Z' || c == '?' {
			return true
		}
	}
	return false
}

// isMonth reports whether the word is the name of a month, or begins like one.
func (w *word) isMonth() bool {
	if w.n < 3 || w.n > len("september") {
		return false
	}
	start := word{letters: w.letters, n: 3}
	return start.is(month)
}

// lower writes the letters in small letters into buf and returns them.
func lower(buf *[maxWord]byte, letters []byte) []byte {
	for i, c := range letters {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(letters)]
}

// classify returns what one part of an identifier announces.
func classify(letters []byte) field {
	var buf [maxWord]byte
	low := lower(&buf, letters)
	if f := fieldWords.of(low); f != 0 {
		return f
	}
	switch low[0] { // most words end here
	case 'c', 'd', 'f', 'n', 't':
		return compound(low)
	}
	return 0
}

// compound returns what a compound without capitals announces: NOMEBENEFICIARIO, dtnascimento, nrcpf, telefonecelular.
func compound(low []byte) field {
	for _, p := range &compounds {
		n := len(p.prefix)
		if p.prefix[0] != low[0] || len(low) < n+2 || string(low[:n]) != p.prefix {
			continue
		}
		if f := fieldWords.of(low[n:]); f&p.rest != 0 {
			return p.kind | f&p.rest&fieldNumbers
		}
	}
	return 0
}

// compounds: a word with one of these prefixes before a word of one of the kinds in rest is of this kind and, if the rest
// announces a number, of the rest's kind.
var compounds = [...]struct {
	prefix     string
	rest, kind field
}{
	{"nome", fieldPerson | fieldLink, fieldName},
	{"nm", fieldPerson, fieldName},
	{"ds", fieldPerson, fieldName},
	{"cpf", fieldPerson | fieldLink | fieldNumbers, fieldCPF},
	{"telefone", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"tel", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"fone", fieldPerson | fieldLink | fieldAside | fieldPhone, fieldPhone},
	{"celular", fieldPerson | fieldLink | fieldAside, fieldPhone},
	{"dt", fieldBirth, 0},
	{"data", fieldBirth, 0},
	{"numero", fieldNumbers, 0},
	{"num", fieldNumbers, 0},
	{"nr", fieldNumbers, 0},
}
