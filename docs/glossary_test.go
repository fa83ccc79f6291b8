package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// termRows returns the rows of the tables of glossary.md, without their heads.
func termRows(t *testing.T) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("glossary.md")
	check.Must(t, err)
	for line := range strings.Lines(string(page)) {
		line, is := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !is || strings.HasPrefix(line, "português |") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 60 {
		t.Errorf("found only %d terms in glossary.md", len(rows))
	}
	return rows
}

func TestGlossaryHasEachTermOnceInBothLanguages(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range termRows(t) {
		if len(row) != 5 {
			t.Errorf("the row of %q has %d columns, not 5", row[0], len(row))
			continue
		}
		for i, cell := range row[:4] {
			if cell == "" || i > 1 && !strings.HasSuffix(cell, ".") {
				t.Errorf("the row of %q has %q in column %d", row[0], cell, i+1)
			}
		}
		for term := range strings.SplitSeq(strings.ToLower(row[0]), ", ") {
			if seen[term] {
				t.Errorf("%q is there twice", term)
			}
			seen[term] = true
		}
	}
	// The glossaries of RN-BIL-005, section 12.6, and RN-BIL-004, section XIV.
	for _, term := range []string{
		"tentativa de reenvio (retentativa)", "erro transiente", "erro transitório", "erro permanente", "backoff exponencial", "jitter", //nolint:misspell // Portuguese
		"thundering herd", "max retries",
	} {
		if !seen[term] {
			t.Errorf("%q, of the documents' glossaries, is missing", term)
		}
	}
}

func TestEveryNameInTheGlossaryExists(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	for _, suffix := range []string{".go", ".bpmn", ".yaml"} {
		for path, text := range files(t, suffix) {
			if !strings.HasSuffix(path, "_test.go") {
				sources.WriteString(text)
			}
		}
	}
	source := sources.String()
	for _, row := range termRows(t) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[len(row)-1], -1) {
			if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name[1]) + `(\W|$)`).MatchString(source) {
				t.Errorf("glossary.md: nothing is called %s", name[1])
			}
		}
	}
}
