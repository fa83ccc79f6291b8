package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
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
	check.Must(t, err)
	return texts
}

// A name may be the beginning of several: `go test -run TestSeed003` is how they are run.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	t.Parallel()
	var declared []string
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	for _, source := range files(t, "_test.go") {
		for _, found := range declaration.FindAllStringSubmatch(source, -1) {
			declared = append(declared, found[1])
		}
	}
	named := 0
	name := regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`)
	for page, text := range files(t, ".md") {
		for _, name := range name.FindAllString(text, -1) {
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

func TestEveryAnchorIsAHeading(t *testing.T) {
	t.Parallel()
	pages := files(t, ".md")
	headings := map[string][]string{}
	for page, text := range pages {
		headings[page] = anchors(text)
	}
	for page, text := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^)#:\s]*)#([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if !slices.Contains(headings[target], link[2]) {
				t.Errorf("%s links to #%s, which is no heading of %s", page, link[2], target)
			}
		}
	}
}

// anchors returns the anchors that GitHub gives the headings of a page.
func anchors(page string) []string {
	var names []string
	unkept := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		kept := unkept.ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(kept, " ", "-"))
	}
	return names
}

// A fact is a case of audittest or transporttest, named in quotes where a decision names its tests.
func TestEveryFactThatADecisionNamesExists(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("decisions.md")
	check.Must(t, err)
	var cases strings.Builder
	for path, source := range files(t, ".go") {
		if slices.Contains([]string{"audittest", "transporttest"}, filepath.Base(filepath.Dir(path))) {
			cases.WriteString(source)
		}
	}
	facts := 0
	for _, tests := range regexp.MustCompile(`(?s)\*\*Test\.\*\*.+?\n\n`).FindAllString(string(page), -1) {
		for _, fact := range regexp.MustCompile(`"[^"]+"`).FindAllString(tests, -1) {
			if facts++; !strings.Contains(cases.String(), strings.ReplaceAll(fact, "\n", " ")) {
				t.Errorf("a decision names the fact %s, which does not exist", fact)
			}
		}
	}
	if facts < 10 {
		t.Errorf("found only %d facts in the page", facts)
	}
}
