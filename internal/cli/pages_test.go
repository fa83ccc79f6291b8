package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// What a page shows of a command begins with the command line. It is of a store of the scripts, or of none.
var shown = regexp.MustCompile(`(?m)^\$ (?:bin/)?worker (?:history|claims|kpi|explain|simulate|redrive)\b.*$`)

var words = regexp.MustCompile(`"[^"]*"|\S+`)

func TestPagesShowRealOutput(t *testing.T) {
	past, sending := archived(t, week()), openHospital(t).archive
	found, root := map[string]int{}, mustAbs("../..")
	t.Chdir(t.TempDir())
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/pt-BR/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		check.Must(t, err)
		for _, page := range pages {
			text := read(t, page)
			for _, place := range shown.FindAllStringIndex(text, -1) {
				line := text[place[0]:place[1]]
				want, _, _ := strings.Cut(text[place[1]+1:], "```")
				want, _, _ = strings.Cut(want, "\n$ ")
				var args []string
				for _, word := range words.FindAllString(line, -1)[2:] {
					args = append(args, strings.Trim(word, `"`))
					if strings.HasSuffix(word, ".yaml") { // the last one that the page has shown
						_, file, _ := strings.Cut(text[strings.LastIndex(text[:place[0]], "```yaml"):place[0]], "\n")
						file, _, _ = strings.Cut(file, "```")
						write(t, word, file)
					}
				}
				a := past
				if args[0] == "redrive" {
					a = sending
				}
				found[args[0]]++
				got := a.must(t, args...)
				check.Same(t, want, got[:min(len(want), len(got))], "%s: %s", page, line) // a page may stop earlier
			}
		}
	}
	if len(found) < 5 {
		t.Errorf("found only these outputs in the pages: %v", found)
	}
}
