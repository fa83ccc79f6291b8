package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// files returns the text of every file of the project whose name ends so, by path.
func files(t *testing.T, suffix string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", ".git", ".cache"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, suffix):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// A name may be the beginning of several: `go test -run TestSeed003` is how they are run.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	t.Parallel()
	var declared []string
	for _, source := range files(t, ".go") {
		for _, found := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(source, -1) {
			declared = append(declared, found[1])
		}
	}
	named := 0
	for page, text := range files(t, ".md") {
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`).FindAllString(text, -1) {
			if named++; !slices.ContainsFunc(declared, func(d string) bool { return strings.HasPrefix(d, name) }) {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
	}
	if named < 200 {
		t.Errorf("found only %d names of tests in the pages", named)
	}
}

func TestEveryLinkToAFileLeadsSomewhere(t *testing.T) {
	t.Parallel()
	links := 0
	for page, text := range files(t, ".md") {
		for _, link := range regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(text, -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if links < 100 {
		t.Errorf("found only %d links in the pages", links)
	}
}
