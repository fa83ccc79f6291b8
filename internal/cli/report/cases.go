package report

import (
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

// CaseFinding compares an answer with what its case in a file expects. differs is true if they disagree; the
// finding then lists how.
func CaseFinding(file string, c policy.Case, got policy.Answer) (f text.Finding, differs bool) {
	wrong := text.Message{}
	for _, part := range [][3]string{
		{"class", c.Class, got.Class},
		{"rule", c.Rule, got.Rule},
		{"wait", c.Wait, got.Wait},
	} {
		if part[1] == "" || part[1] == part[2] {
			continue
		}
		one := text.Messagef("%s is %s, not %s", part[0], part[2], part[1])
		if wrong = text.Messagef("%s; %s", wrong, one); !differs {
			wrong, differs = one, true
		}
	}
	return text.Finding{
		Severity: text.Error,
		Check:    "case",
		File:     file,
		Line:     c.Line,
		Subject:  text.Messagef("policy %s: %q", c.Policy, text.Shorten(c.Text, 200)),
		What:     wrong,
	}, differs
}
