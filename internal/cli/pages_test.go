package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// What a page shows of a command begins with the command line. It is of the store of the scripts, or of none.
var shown = regexp.MustCompile(`(?m)^\$ (?:worker (?:history|claims|kpi)|(?:bin/)?worker explain).*$`)

var words = regexp.MustCompile(`"[^"]*"|\S+`)

func TestPagesShowRealOutput(t *testing.T) {
	a, found := archived(t, week()), 0
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/pt-BR/*.md"} {
		pages, err := filepath.Glob(pattern)
		check.Must(t, err)
		for _, page := range pages {
			text := read(t, page)
			for _, place := range shown.FindAllStringIndex(text, -1) {
				found++
				line := text[place[0]:place[1]]
				want, _, _ := strings.Cut(text[place[1]+1:], "```")
				want, _, _ = strings.Cut(want, "\n$ ")
				var args []string
				for _, word := range words.FindAllString(line, -1)[2:] {
					args = append(args, strings.Trim(word, `"`))
				}
				want, got := masked(want, args), masked(a.must(t, args...), args)
				check.Same(t, want, got[:min(len(want), len(got))], "%s: %s", page, line) // a page may stop earlier
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d outputs in the pages", found)
	}
}
