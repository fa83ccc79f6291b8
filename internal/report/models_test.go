package report_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/testing/check"
)

var modelFindings = []modellint.Finding{
	{
		Rule: "timer-duration", Severity: modellint.SevereError, File: "models/minha cobrança.bpmn", Line: 83, Process: "P", Element: "Event_Wait",
		Name: "Aguardar \x1b[31m", Problem: `"PT" is missing`, Effect: "An incident.", Advice: "Write:", Fix: "<a>\n  <b/>\n</a>",
	},
	{Rule: "retries-unset", Severity: modellint.SevereInformation, File: "/abs/x.bpmn", Line: 2, Process: "P", Element: "T", Problem: "the job retries are not set"},
	{Rule: "more", Severity: modellint.SevereWarning, File: "x.bpmn", Problem: "and 5 more findings"},
}

func TestFindingOfAModelIsWordedForAPerson(t *testing.T) {
	const want = `models/minha cobrança.bpmn:83: error timer-duration
  Aguardar \x1b[31m (Event_Wait)
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
	check.Same(t, want, report.ModelFindingsText(modelFindings, 2), "text")
	check.Same(t, "No findings in 1 file.\n", report.ModelFindingsText(nil, 1), "text")
}
