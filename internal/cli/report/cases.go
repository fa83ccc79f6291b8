package report

import (
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// CaseFinding compares an answer with what its case in a file expects. differs is true if they disagree; the
// finding then lists how.
func CaseFinding(file string, c policy.Case, got policy.Answer) (f text.Finding, differs bool) {
	var wrong []string
	for _, part := range [][3]string{
		{"class", c.Class, got.Class},
		{"rule", c.Rule, got.Rule},
		{"wait", c.Wait, got.Wait},
	} {
		if part[1] != "" && part[1] != part[2] {
			wrong = append(wrong, fmt.Sprintf("%s is %s, not %s", part[0], part[2], part[1]))
		}
	}
	return text.Finding{
		Severity: text.Error,
		Check:    "case",
		File:     file,
		Line:     c.Line,
		Subject:  fmt.Sprintf("policy %s: %q", c.Policy, text.Shorten(c.Text, 200)),
		What:     strings.Join(wrong, "; "),
	}, wrong != nil
}
