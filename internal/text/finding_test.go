package text_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

var findings = text.Findings{
	{
		Check: "timer-duration", Severity: text.Error, File: "models/minha cobrança.bpmn", Line: 83, Subject: text.Messagef("Event_Wait"),
		Name: "Aguardar \x1b[31m", What: text.Messagef(`"PT" is missing`), Effect: text.Messagef("An incident."), Advice: text.Messagef("Write:"), Fix: "<a>\n  <b/>\n</a>",
	},
	{Check: "retries-unset", Severity: text.Information, File: "/abs/x.bpmn", Line: 2, Subject: text.Messagef("T"), What: text.Messagef("the job retries are not set")},
	{Check: "more", Severity: text.Warning, File: "x.bpmn", What: text.Messagef("and 5 more findings")},
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
	check.Same(t, want, findings.In(text.In(text.English), "None."), "text")
	check.Same(t, "None.\n", text.Findings{}.In(text.In(text.English), "None."), "without any")
	part := text.Finding{Severity: text.Warning, Check: "gateway", What: text.Messagef("it does not answer"), Advice: text.Messagef("start it")}
	check.Same(t, "warning  gateway         it does not answer\n         -> start it\n", part.In(text.In(text.English)), "of a part that runs")
	setting := text.Finding{Severity: text.Error, Check: "settings", Subject: text.Messagef("RETRY_LANG"), What: text.Messagef("is not a language")}
	check.Same(t, "error    settings        RETRY_LANG: is not a language\n", setting.In(text.In(text.English)), "of a setting")
	check.Same(t, "it does not answer\nRETRY_LANG: is not a language", text.Faults{part, setting}.Error(), "as an error")
	check.Same(t, `models/minha cobrança.bpmn:83: Event_Wait: "PT" is missing`, findings[0].OneLine(), "of a place, in a log")
}
