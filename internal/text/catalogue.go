package text

import (
	_ "embed" // of the table
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

//go:embed pt-BR.tsv
var table string

// rows returns the rows of the table. A text has its English and its Portuguese, one that counts also both of
// one; a name has its group with its code, its English and its Portuguese.
func rows() (all [][]string) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

// tags are the languages for x/text.
var tags = map[Language]language.Tag{English: language.English, Portuguese: language.BrazilianPortuguese}

// printers are those of x/text, with the texts of the table.
var printers = sync.OnceValue(func() map[Language]*message.Printer {
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	set := func(l Language, key string, m catalog.Message) {
		if err := b.Set(tags[l], key, m); err != nil {
			panic(fmt.Sprintf("text: %q: %v", key, err)) // a mistake in the table
		}
	}
	for _, row := range rows() {
		switch key := row[0]; len(row) {
		case 2:
			set(Portuguese, key, catalog.String(row[1]))
		case 3:
			set(English, key, catalog.String(row[1]))
			set(Portuguese, key, catalog.String(row[2]))
		default:
			set(English, key, plural.Selectf(1, "%d", "=1", row[2], plural.Other, key))
			set(Portuguese, key, plural.Selectf(1, "%d", "=1", row[3], plural.Other, row[1]))
		}
	}
	all := map[Language]*message.Printer{}
	for l, tag := range tags {
		all[l] = message.NewPrinter(tag, message.Catalog(b))
	}
	return all
})
