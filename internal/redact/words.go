package redact

import (
	"embed"
	"strings"
)

// The lists of words are data, so that people who know the texts can review them. They hold one word a line, in small letters
// without accents; "?" is a letter that came in another encoding. The names are those of Brazilian forms, of TISS messages
// and of the tables behind them.
//
//go:embed words/*.txt
var lists embed.FS

// list returns the words of a list.
func list(name string) (words []string) {
	text, err := lists.ReadFile("words/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			words = append(words, word)
		}
	}
	return words
}

// fieldWords are the words that announce a value.
var fieldWords = newIndex(map[string]field{
	"name": fieldName, "name_short": fieldName | fieldTitle, "role": fieldWeakName, "title": fieldTitle,
	"cpf": fieldCPF, "cpf_cnpj": fieldCPF | fieldCNPJ, "cns": fieldCNS, "cnpj": fieldCNPJ, "card": fieldCard | fieldCNS,
	"phone": fieldPhone, "birthdate": fieldBirth, "link": fieldLink, "aside": fieldAside,
})

// trait is what a word is good for in or next to a name. A word may have several.
type trait uint8

const (
	particle  trait = 1 << iota // joins the words of a name
	ordinary                    // begins no name and is in none
	givenName                   // a common given name
	numbering                   // stands between a person's field and a number
	month                       // the first three letters of a month
)

var (
	traits = newIndex(map[string]trait{
		"particle": particle, "ordinary": ordinary, "given_name": givenName, "numbering": numbering, "month": month,
	})
	ordinaryStems = list("ordinary_stem")
)

// index knows the kinds of each word of some lists, by first letter and length. A map is slower.
type index[K field | trait] [32][16]struct {
	// ends are the last letters of the words, as bits.
	ends  uint32
	words []string
	kinds []K
}

func newIndex[K field | trait](lists map[string]K) *index[K] {
	x := &index[K]{}
	for name, kind := range lists {
		for _, word := range list(name) {
			b := &x[word[0]%32][len(word)%16]
			b.ends |= 1 << (word[len(word)-1] % 32)
			b.words, b.kinds = append(b.words, word), append(b.kinds, kind)
		}
	}
	return x
}

// of returns all kinds of a word.
func (x *index[K]) of(word []byte) (kinds K) {
	n := len(word)
	if n == 0 {
		return 0
	}
	b := &x[word[0]%32][n%16]
	if b.ends&(1<<(word[n-1]%32)) == 0 { // most words end here
		return 0
	}
	for i, known := range b.words {
		if len(known) == n && known[n-1] == word[n-1] && known == string(word) {
			kinds |= b.kinds[i]
		}
	}
	return kinds
}

// is reports whether the word has a trait.
func (w *word) is(t trait) bool {
	if w.n > maxWord {
		return false
	}
	var buf [maxWord]byte
	return traits.of(lower(&buf, w.letters[:w.n]))&t != 0
}

// ordinary reports whether the word begins no name and is in none. In doubt it is no ordinary word, so that it is redacted.
func (w *word) ordinary() bool {
	if w.n > maxWord {
		return false
	}
	var buf [maxWord]byte
	low := lower(&buf, w.letters[:w.n])
	if traits.of(low)&ordinary != 0 {
		return true
	}
	for _, stem := range ordinaryStems {
		if n := len(stem); len(low) >= n && string(low[:n]) == stem {
			return true
		}
	}
	return false
}
