package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// notMetrics are the names on the page that look like those of metrics.
var notMetrics = map[string]bool{
	"retry_delay":                true, // a variable of a queued job
	"max_retries_exceeded":       true, // a fault of a re-drive
	"submission_retry_scheduled": true, // a line of the log
}

// It checks the names in backticks, and the facts. It does not check what a row says about them.
func TestTheTraceabilityPageNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	sources := files(t, ".go")
	tests := named(`(?m)^func ((?:Test|Fuzz)\w+)\(`, files(t, "_test.go"))
	metrics := named("(?m)^\\| `(\\w+)` \\|", page(t, "metrics.md"))
	settings := named("(?m)^\\| `(\\w+)` \\|", page(t, "configuration.md"))
	cli := under("../internal/cli", sources)
	commands, groups := named(`(?:Use:\s+|group\()"(\w+)`, cli), named(`group\("(\w+)`, cli)
	facts := named(`(?m)^\t\{("[^"]+"), func`, under("../internal/testing/audittest", sources))
	kinds := []struct {
		name, form string
		least      int // distinct names of this kind on the page
		exists     func(name string) bool
	}{
		{"test", `(?:Test|Fuzz)[A-Z]\w*`, 120, func(name string) bool { return tests[name] }},
		{"file", `[\w.-]+(?:/[\w.-]+)+`, 40, func(name string) bool { return isFile("..", name) }},
		{"event", `retry\.\w+\.v\d+`, 3, func(name string) bool { return isFile("events", name+".schema.json") }},
		{"setting", `(?:RETRY|ZEEBE)_[A-Z_]+`, 4, func(name string) bool { return settings[name] }},
		{"metric", `(?:retry|submission_retry|max_retries|permanent_errors|backoff|error)_\w+`, 15, func(name string) bool {
			return metrics[name] || notMetrics[name]
		}},
		{"command", `worker .+`, 12, func(name string) bool {
			words := strings.Fields(name)
			return commands[words[1]] && (!groups[words[1]] || len(words) > 2 && commands[words[2]])
		}},
	}
	text := page(t, "traceability.md")
	names := named("`([^`]+)`", text)
	for _, k := range kinds {
		form, seen := regexp.MustCompile("^(?:"+k.form+")$"), 0
		for name := range names {
			if !form.MatchString(name) {
				continue
			}
			if seen++; !k.exists(name) {
				t.Errorf("the page names the %s %s, which does not exist", k.name, name)
			}
		}
		if seen < k.least {
			t.Errorf("found only %d names of kind %s in the page, want %d: are they still in backticks?", seen, k.name, k.least)
		}
	}
	for fact := range named(`fact ("[^"]+")`, text) {
		if !facts[fact] {
			t.Errorf("the page names the fact %s, which does not exist", fact)
		}
	}
}

// page returns the text of a page, by its name.
func page(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	check.Must(t, err)
	return map[string]string{name: string(text)}
}

// under returns the texts of the files that are in a directory itself.
func under(directory string, texts map[string]string) map[string]string {
	in := map[string]string{}
	for path, text := range texts {
		if filepath.Dir(path) == filepath.FromSlash(directory) {
			in[path] = text
		}
	}
	return in
}

// named returns what the expression's group matches in the texts.
func named(expression string, texts map[string]string) map[string]bool {
	names := map[string]bool{}
	for _, text := range texts {
		for _, found := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
			names[found[1]] = true
		}
	}
	return names
}

func isFile(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}
