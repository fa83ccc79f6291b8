package check

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Rows returns the rows of a table of texts in testdata: so many fields with a tab between them, each written as
// between the quotes of Go, so that \u200b and \xe7 can be seen. Blank lines and those with a # are comments.
func Rows(tb testing.TB, path string, fields int) (rows [][]string) {
	tb.Helper()
	content, err := os.ReadFile(path)
	Must(tb, err)
	for line := range strings.Lines(string(content)) {
		if line == "\n" || strings.HasPrefix(line, "# ") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, field := range row {
			row[i], err = strconv.Unquote(`"` + strings.ReplaceAll(field, `"`, `\"`) + `"`)
			Must(tb, err)
		}
		if len(row) != fields {
			tb.Fatalf("%s: %q has not %d fields", path, line, fields)
		}
		rows = append(rows, row)
	}
	return rows
}
