package text_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

var findings = text.Findings{
	{
		Check: "timer-duration", Severity: text.Error, File: "models/minha cobrança.bpmn", Line: 83, Subject: "Event_Wait",
		Name: "Aguardar \x1b[31m", What: `"PT" is missing`, Effect: "An incident.", Advice: "Write:", Fix: "<a>\n  <b/>\n</a>",
	},
	{Check: "retries-unset", Severity: text.Information, File: "/abs/x.bpmn", Line: 2, Subject: "T", What: "the job retries are not set"},
	{Check: "more", Severity: text.Warning, File: "x.bpmn", What: "and 5 more findings"},
}

func TestAFindingIsWordedForAPerson(t *testing.T) {
	const want = `models/minha cobrança.bpmn:83: error timer-duration
  Aguardar \u001b[31m (Event_Wait)
    "PT" is missing.
    At run time: An incident.
    What to do: Write:
      <a>
        <b/>
      </a>

/abs/x.bpmn:2: information retries-unset
  T
    The job retries are not set.

x.bpmn: warning more
    And 5 more findings.
`
	check.Same(t, want, findings.Text("None."), "text")
	check.Same(t, "None.\n", text.Findings{}.Text("None."), "without any")
	part := text.Finding{Severity: text.Warning, Check: "gateway", What: "it does not answer", Advice: "start it"}
	check.Same(t, "warning  gateway         it does not answer\n         -> start it\n", part.String(), "of a part that runs")
	setting := text.Finding{Severity: text.Error, Check: "settings", Subject: "RETRY_LANG", What: "is not a language"}
	check.Same(t, "error    settings        RETRY_LANG: is not a language\n", setting.String(), "of a setting")
	check.Same(t, "it does not answer\nRETRY_LANG: is not a language", text.Faults{part, setting}.Error(), "as an error")
	check.Same(t, `models/minha cobrança.bpmn:83: Event_Wait: "PT" is missing`, findings[0].OneLine(), "of a place, in a log")
}
