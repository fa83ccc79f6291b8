package redacttest

import (
	"encoding/base64"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Finder finds secrets in blobs, however they are spelled there: with or without separators, escaped for URLs, HTML or
// JSON, in base64, in full-width digits, with or without accents, in capitals or not.
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
func (f *Finder) Find(blob []byte) []Secret {
	found := map[Secret]bool{}
	var list []Secret
	for _, text := range readings(string(blob)) {
		f.scan(text, func(s Secret) {
			if !found[s] {
				found[s] = true
				list = append(list, s)
			}
		})
	}
	return list
}

// Blobs can be large, and regular expressions are slow: they look at what may be something only.
var (
	addressRun = regexp.MustCompile(`[a-z0-9._%+'~-]+@[a-z0-9.-]+[a-z0-9]`)
	escape     = regexp.MustCompile(`^(?:%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\+[nrt"'/])`)
)

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isBase64(c byte) bool {
	return isDigit(c) || isLetter(c|0x20) || c == '+' || c == '/' || c == '_' || c == '-'
}

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

// readings returns the blob as it stands and as it reads when what is in base64 in it is decoded, both folded.
func readings(blob string) []string {
	texts := []string{Fold(blob)}
	var inside strings.Builder
	for _, at := range runs(blob, isBase64, 16) {
		run := blob[at[0]:at[1]]
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if plain, err := encoding.DecodeString(run); err == nil {
				inside.Write(plain)
				inside.WriteByte('\n')
				break
			}
		}
	}
	if inside.Len() > 0 {
		texts = append(texts, Fold(inside.String()))
	}
	return texts
}

func (f *Finder) scan(text string, found func(Secret)) {
	if len(f.words) > 0 {
		for _, at := range runs(text, isLetter, 5) {
			if s, ok := f.words[text[at[0]:at[1]]]; ok {
				found(s)
			}
		}
	}
	if len(f.addresses) > 0 {
		for _, a := range addressRun.FindAllString(strings.ReplaceAll(text, `"@`, "@"), -1) {
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
		plain := html.UnescapeString(unescapeAll(s))
		if plain == s {
			break
		}
		s = plain
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case '！' <= r && r <= '～':
			r = r - '！' + '!'
		case r == 0 || r == 0xad || r == 0xfeff || 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x2064 || 0x300 <= r && r <= 0x36f:
			continue
		case 0x2010 <= r && r <= 0x2015:
			r = '-'
		case r == 0xa0:
			r = ' '
		}
		b.WriteRune(r)
	}
	return unaccent.Replace(strings.ToLower(b.String()))
}

var unaccent = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ã", "a", "é", "e", "ê", "e", "í", "i", "ó", "o", "ô", "o", "õ", "o", "ú", "u", "ç", "c")

func unescapeAll(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, `%\`)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := max(1, len(escape.FindString(s)))
		b.WriteString(unescape(s[:n]))
		s = s[n:]
	}
}

// unescape is what an escape stands for, or a single character itself.
func unescape(escape string) string {
	if len(escape) == 1 {
		return escape
	}
	switch escape[0] {
	case '%':
		v, err := strconv.ParseUint(escape[1:], 16, 8)
		if err != nil {
			return escape
		}
		return string([]byte{byte(v)})
	default:
		rest := strings.TrimLeft(escape, `\`)
		if rest[0] == 'u' || rest[0] == 'x' {
			v, err := strconv.ParseInt(rest[1:], 16, 32)
			if err != nil {
				return escape
			}
			return string(rune(v))
		}
		return strings.NewReplacer("n", "\n", "r", "\n", "t", " ").Replace(rest)
	}
}
