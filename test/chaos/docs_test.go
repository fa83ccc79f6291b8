package chaos

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMatrixInTheDocsHasEveryRow(t *testing.T) {
	raw, err := os.ReadFile("../../docs/faults.md")
	check.Must(t, err)
	docs := string(raw)
	files, err := filepath.Glob("*_test.go")
	check.Must(t, err)
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		code.Write(text)
	}
	rows := regexp.MustCompile(`\brow: +(\d+),`).FindAllStringSubmatch(code.String(), -1)
	if len(rows) < 30 {
		t.Fatalf("only %d rows found in the tests: the expression is out of date", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(docs, "\n| "+row[1]+" |") {
			t.Errorf("docs/faults.md has no row %s", row[1])
		}
	}
	for _, named := range regexp.MustCompile("`([a-z_]+_test.go)`( in)?").FindAllStringSubmatch(docs, -1) {
		if _, err := os.Stat(named[1]); named[2] == "" && err != nil {
			t.Errorf("docs/faults.md names %s: %v", named[1], err)
		}
	}
}
