package docs_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/check"
)

// TestEveryCommandOfTheCompliancePageExists asks each command of a page for its help, with its flags and their values.
func TestEveryCommandOfTheCompliancePageExists(t *testing.T) {
	t.Parallel()
	commands := 0
	for _, page := range []string{"compliance.md", "log-events.md", "glossary.md"} {
		text, err := os.ReadFile(page)
		check.Must(t, err)
		for _, code := range codeOf(string(text)) {
			args := argsOf(code)
			if args == nil {
				continue
			}
			commands++
			var stdout, stderr bytes.Buffer
			// First, so that no flag takes it for its value and the command runs.
			if exit := cli.Run(t.Context(), append([]string{"--help=true"}, args...), &stdout, &stderr); exit != 0 {
				t.Errorf("%s: %s: %s", page, code, &stderr)
				continue
			}
			// An unknown command gets the help of the one before it.
			usage := regexp.MustCompile(`(?m)^Usage:\n  worker ?(.*)$`).FindStringSubmatch(stdout.String())
			if usage == nil || !takes(usage[1], args) {
				t.Errorf("%s: there is no command %s", page, code)
			}
		}
	}
	if commands < 20 {
		t.Errorf("found only %d commands", commands)
	}
}

// codeOf returns the code of a page: each span, and each line of a block.
func codeOf(page string) (code []string) {
	inBlock := false
	for line := range strings.Lines(page) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock
		case inBlock:
			code = append(code, line)
		default:
			for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
				code = append(code, span[1])
			}
		}
	}
	return code
}

// argsOf returns the arguments of a command line of the worker, nil if it is none.
func argsOf(code string) (args []string) {
	code = regexp.MustCompile(`'[^']*'`).ReplaceAllStringFunc(code, func(s string) string { return strings.ReplaceAll(s[1:len(s)-1], " ", "_") })
	code = regexp.MustCompile(`\s+[|>#].*`).ReplaceAllString(code, "")
	words := strings.Fields(code)
	for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "worker" {
		return nil
	}
	if i := slices.Index(words, "..."); i > 0 && strings.HasPrefix(words[i-1], "--") { // any value of a flag
		words = slices.Delete(words, i, i+1)
		words = slices.Delete(words, i-1, i)
	}
	return words[1:]
}

// takes reports whether a line of usage, such as "audit export CLAIM [flags]", is that of the arguments.
func takes(usage string, args []string) bool {
	path := strings.Fields(regexp.MustCompile(`[A-Z\[-].*`).ReplaceAllString(usage, ""))
	if len(path) == 0 || len(path) > len(args) || !slices.Equal(path, args[:len(path)]) {
		return false
	}
	rest := args[len(path):]
	return len(rest) == 0 || strings.HasPrefix(rest[0], "--") || regexp.MustCompile(`[A-Z]{2}`).MatchString(usage)
}
