package text

import (
	_ "embed" // of the table
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message/catalog"
)

//go:embed pt-BR.tsv
var table string

// rows returns the texts of the table: English and Portuguese, and of one that counts also both for one.
func rows() (all [][]string) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

// catalogue returns the texts in all languages.
var catalogue = sync.OnceValue(func() catalog.Catalog {
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	set := func(l Language, key string, m catalog.Message) {
		if err := b.Set(l.tag(), key, m); err != nil {
			panic(fmt.Sprintf("text: %q: %v", key, err)) // a mistake in the table
		}
	}
	for _, row := range rows() {
		key, translated := row[0], catalog.Message(catalog.String(row[1]))
		if len(row) > 2 {
			set(English, key, plural.Selectf(1, "%d", "=1", row[2], plural.Other, key))
			translated = plural.Selectf(1, "%d", "=1", row[3], plural.Other, row[1])
		}
		set(Portuguese, key, translated)
	}
	return b
})
