package text_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// How findings of models, parts and settings are laid out, the sessions of internal/cli show.
func TestAFindingHoldsNoControlCharacter(t *testing.T) {
	f := text.Finding{
		Check: "timer-duration", Severity: text.Error, File: "a\x1b.bpmn", Line: 83, Name: "b\x1b", Subject: text.Messagef("c\x1b"),
		What: text.Messagef("d\x1b"), Effect: text.Messagef("e\x1b"), Advice: text.Messagef("f\x1b:"), Fix: "<a>\n  <b\x1b/>\n</a>",
	}
	check.Same(t, `a\u001b.bpmn:83: error timer-duration
  b\u001b (c\u001b)
    D\u001b.
    At run time: E\u001b.
    What to do: F\u001b:
      <a>
        <b\u001b/>
      </a>
`, f.In(text.In(text.English)), "text")
	check.Same(t, `a\u001b.bpmn:83: c\u001b: d\u001b`, f.OneLine(), "in a log")
	check.Same(t, f.OneLine()+"\n"+f.OneLine(), text.Findings{f, f}.Error(), "as an error")
}
