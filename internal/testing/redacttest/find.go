package redacttest

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Finder finds secrets in blobs, however they are spelled there: with or without separators, escaped for URLs, HTML or
// JSON, in full-width digits, with or without accents, in capitals or not.
type Finder struct {
	numbers   map[string]Secret
	words     map[string]Secret // of names
	addresses map[string]Secret
}

// NewFinder returns a finder of all secrets in the canaries.
func NewFinder(canaries ...Canary) *Finder {
	f := &Finder{numbers: map[string]Secret{}, words: map[string]Secret{}, addresses: map[string]Secret{}}
	for _, c := range canaries {
		for _, s := range c.Secrets {
			f.add(s)
		}
	}
	return f
}

func (f *Finder) add(s Secret) {
	switch s.Kind {
	case Name:
		for w := range strings.FieldsSeq(s.Value) {
			if len(w) > 4 { // not its particles, and nothing that turns up by chance in some megabytes of hashes
				f.words[w] = s
			}
		}
	case Email:
		f.addresses[s.Value] = s
	case Phone:
		for _, spelled := range []string{s.Value, "55" + s.Value, "0" + s.Value, s.Value[2:]} {
			f.numbers[spelled] = s
		}
	case Birth:
		y, m, d := s.Value[:4], s.Value[4:6], s.Value[6:]
		f.numbers[s.Value], f.numbers[d+m+y] = s, s
	case CPF, CNS, CNPJ, Card:
		f.numbers[s.Value] = s
	}
}

// Find returns the secrets that occur in the blob, each once; none is what a test wants. A name counts as found when
// one of its longer words is. Names are made of given names too, so a blob should hold no other text with those.
func (f *Finder) Find(blob []byte) (list []Secret) {
	f.scan(Fold(string(blob)), func(s Secret) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	})
	return list
}

var addressRun = regexp.MustCompile(`[a-z0-9._%+'~-]+@[a-z0-9.-]+[a-z0-9]`)

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// runs are where characters of a kind stand side by side in the text, at least so many.
func runs(text string, is func(byte) bool, least int) (found [][]int) {
	for i := 0; i < len(text); i++ {
		if !is(text[i]) {
			continue
		}
		from := i
		for i < len(text) && is(text[i]) {
			i++
		}
		if i-from >= least {
			found = append(found, []int{from, i})
		}
	}
	return found
}

func (f *Finder) scan(text string, found func(Secret)) {
	for _, at := range runs(text, isLetter, 5) {
		if s, ok := f.words[text[at[0]:at[1]]]; ok {
			found(s)
		}
	}
	for _, a := range addressRun.FindAllString(text, -1) {
		for { // in a URL "+" may be a blank before the address, or belong to it
			if s, ok := f.addresses[a]; ok {
				found(s)
			}
			i := strings.IndexAny(a, "+%'~")
			if i < 0 {
				break
			}
			a = a[i+1:]
		}
	}
	numbers := runs(text, isDigit, 1)
	for i := range numbers {
		f.from(text, numbers[i:], found)
	}
}

// from looks at the number that begins with the first of the runs of digits: at that run alone and joined with those
// that follow after a separator or two.
func (f *Finder) from(text string, runs [][]int, found func(Secret)) {
	var digits strings.Builder
	for i, run := range runs {
		if i > 0 {
			between := text[runs[i-1][1]:run[0]]
			if len(between) > 3 || strings.Trim(between, " +.,-/()_\n") != "" {
				return
			}
		}
		group := text[run[0]:run[1]]
		digits.WriteString(group)
		if digits.Len() > 19 {
			return
		}
		if s, ok := f.numbers[digits.String()]; ok {
			found(s)
		}
	}
}

// Fold undoes escapes, drops what cannot be seen, and writes everything in small letters without accents.
func Fold(s string) string {
	for range 12 {
		if !strings.ContainsAny(s, `%&\`) {
			break
		}
		plain := html.UnescapeString(escape.ReplaceAllStringFunc(s, unescape))
		if plain == s {
			break
		}
		s = plain
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case r == 0 || unicode.In(r, unicode.Mn, unicode.Cf):
			continue
		case unicode.Is(unicode.Pd, r):
			r = '-'
		}
		b.WriteRune(r)
	}
	return b.String()
}

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|\\+(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrt"'/])`)

// unescape is what an escape stands for.
func unescape(escape string) string {
	code := strings.TrimLeft(escape, `%\`)
	if escape[0] == '%' {
		v, _ := strconv.ParseUint(code, 16, 8)
		return string([]byte{byte(v)})
	}
	if code[0] == 'u' || code[0] == 'x' {
		v, _ := strconv.ParseInt(code[1:], 16, 32)
		return string(rune(v))
	}
	return strings.NewReplacer("n", "\n", "r", "\n", "t", " ").Replace(code)
}
