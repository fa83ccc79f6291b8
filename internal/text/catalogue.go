package text

import (
	_ "embed" // of the table
	"strings"
	"sync"
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

// catalogue are the rows by the English of a text, or by group and code of a name. In each language it has
// the words, and behind them those of one.
var catalogue = sync.OnceValue(func() map[string]map[Language][]string {
	all := map[string]map[Language][]string{}
	for _, row := range rows() {
		key, columns := row[0], row
		if len(row) == 3 {
			columns = row[1:]
		}
		words := map[Language][]string{}
		for i, column := range columns {
			l := []Language{English, Portuguese}[i%2]
			words[l] = append(words[l], column)
		}
		all[key] = words
	}
	return all
})
