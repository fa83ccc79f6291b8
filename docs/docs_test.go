// Package docs_test holds the pages to what they name: files, headings, packages, tests and commands.
package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/cli"
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
	if err != nil || len(texts) == 0 {
		t.Fatalf("no file ends in %s: %v", suffix, err)
	}
	return texts
}

// anchors returns the anchors that GitHub gives the headings of a page.
func anchors(page string) (names []string) {
	unkept := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		kept := unkept.ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(kept, " ", "-"))
	}
	return names
}

func TestEveryLinkLeadsToAFileAndAHeading(t *testing.T) {
	t.Parallel()
	pages := files(t, ".md")
	for page, text := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`).FindAllStringSubmatch(text, -1) {
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if link[2] != "" && !slices.Contains(anchors(pages[target]), link[2]) {
				t.Errorf("%s links to #%s, which is no heading of %s", page, link[2], target)
			}
		}
	}
}

func TestEveryPictureIsShown(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, text := range files(t, ".md") {
		all.WriteString(text)
	}
	for picture := range files(t, ".png") {
		if name := filepath.Base(picture); strings.Contains(picture, "docs/images") && !strings.Contains(all.String(), name) {
			t.Errorf("no page shows %s", name)
		}
	}
}

// A row of the table is the beginning of the package's comment.
func TestEveryPackageIsInTheTable(t *testing.T) {
	t.Parallel()
	table := files(t, "CONTRIBUTING.md")["../CONTRIBUTING.md"]
	comment := regexp.MustCompile(`(?m)^// Package (\w+ (?:.*\n)(?://.*\n)*)package`)
	for path, source := range files(t, ".go") {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		found := comment.FindStringSubmatch(source)
		isTest := strings.HasPrefix(dir, "internal/testing/") || strings.HasSuffix(dir, "/exhaustive") ||
			strings.HasSuffix(dir, "/powercut")
		if found == nil || isTest || !strings.HasPrefix(dir, "internal/") {
			continue
		}
		row := regexp.MustCompile("(?m)^\\| `" + dir + "` \\| (.*) \\|$").FindStringSubmatch(table)
		says := strings.Join(strings.Fields(strings.ReplaceAll(found[1], "\n//", " ")), " ")
		if row == nil || !strings.HasPrefix(says, filepath.Base(dir)+" "+row[1]) {
			t.Errorf("CONTRIBUTING.md has no row for %s that begins as its comment: %.80s", dir, says)
		}
	}
}

// A name may be the beginning of several, as of `go test -run TestMail`; a fact is one that both stores are held to.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	for _, source := range files(t, ".go") {
		sources.WriteString(source)
	}
	names := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+|\bfact "[^"]*`)
	for page, text := range files(t, ".md") {
		for line := range strings.Lines(text) {
			named := map[string]bool{}
			for _, name := range names.FindAllString(line, -1) {
				if named[name] && strings.HasPrefix(line, "|") {
					t.Errorf("%s names %s twice in one row", page, name)
				}
				named[name] = true
				fact := "\t{" + strings.TrimPrefix(name, "fact ")
				if !strings.Contains(sources.String(), "\nfunc "+name) && !strings.Contains(sources.String(), fact) {
					t.Errorf("%s names %s, which does not exist", page, name)
				}
			}
		}
	}
}

// TestEveryCommandThatAPageShowsExists asks each command in a code block or a line for its help, with its flags and their
// values.
func TestEveryCommandThatAPageShowsExists(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile("(?s)```\\w*\n(.*?)```|`((?:bin/)?worker\\s[^`]+)`")
	commands := 0
	for page, text := range files(t, ".md") {
		for _, block := range code.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[1] + strings.ReplaceAll(block[2], "\n", " ")) {
				args := argsOf(line)
				if args == nil {
					continue
				}
				commands++
				var stdout, stderr bytes.Buffer
				// First, so that no flag takes it for its value and the command runs.
				exit := cli.Run(t.Context(), time.Now, append(append([]string{"--help=true"}, args...), "--lang=en"), &stdout, &stderr)
				usage := regexp.MustCompile(`(?m)^Usage:\n  worker ?(.*)$`).FindStringSubmatch(stdout.String())
				if exit != 0 || usage == nil || !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(usage[1], args[0]) ||
					len(args) > 1 && args[1][0] != '-' && usage[1] == args[0]+" [flags]" { // which takes no argument
					t.Errorf("%s: worker %s: %s", page, strings.Join(args, " "), &stderr)
				}
			}
		}
	}
	if commands < 200 {
		t.Errorf("found only %d commands", commands)
	}
}

// argsOf returns the arguments of a command line of the worker, nil if it is none.
func argsOf(line string) []string {
	line = regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "TEXT")
	line = regexp.MustCompile(`\s+(?:[|>#]|2>).*`).ReplaceAllString(strings.TrimPrefix(line, "$ "), "")
	words := strings.Fields(line)
	for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "worker" && words[0] != "bin/worker" || !regexp.MustCompile(`^[a-z-]+$`).MatchString(words[1]) {
		return nil
	}
	return words[1:]
}
