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

// catalogue are the rows by the English of a text, or by group and code of a name: its English and its
// Portuguese, and behind them those of one.
var catalogue = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range rows() {
		all[row[0]] = row[len(row)%2:] // of a name what follows its code
	}
	return all
})
