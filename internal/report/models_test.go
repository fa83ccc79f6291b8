package report_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
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

// The demands are those of the schema of SARIF 2.1.0 and of GitHub's code scanning.
func TestSARIFHasWhatReadersOfItDemand(t *testing.T) {
	text, err := json.Marshal(report.ModelSARIF(modelFindings, "v1.2.3"))
	check.Must(t, err)
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID                                string
						ShortDescription, FullDescription struct{ Text string }
						DefaultConfiguration              struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex *int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine int }
					}
					LogicalLocations []struct{ Name, FullyQualifiedName, Kind string }
				}
			}
		}
	}
	check.Must(t, json.Unmarshal(text, &log))
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 {
		t.Fatalf("%s", text)
	}
	run := log.Runs[0]
	levels := []string{"none", "note", "warning", "error"}
	for _, r := range run.Tool.Driver.Rules {
		if r.ID == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || !slices.Contains(levels, r.DefaultConfiguration.Level) {
			t.Errorf("rule %+v", r)
		}
	}
	check.Same(t, len(modellint.Rules()), len(run.Tool.Driver.Rules), "rules")
	check.Same(t, len(modelFindings), len(run.Results), "results")
	var uris []string
	for i, r := range run.Results {
		if r.Message.Text == "" || !slices.Contains(levels, r.Level) || len(r.Locations) != 1 {
			t.Errorf("result %+v", r)
		}
		if known := r.RuleID != "more"; known != (r.RuleIndex != nil) || known && run.Tool.Driver.Rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("result %d of %s has index %v", i, r.RuleID, r.RuleIndex)
		}
		where := r.Locations[0].PhysicalLocation
		if _, err := url.Parse(where.ArtifactLocation.URI); err != nil || where.Region != nil && where.Region.StartLine < 1 {
			t.Errorf("location %+v", where)
		}
		uris = append(uris, where.ArtifactLocation.URI)
	}
	check.Same(t, []string{"models/minha%20cobran%C3%A7a.bpmn", "file:///abs/x.bpmn", "x.bpmn"}, uris, "files")
	check.Same(t, 83, run.Results[0].Locations[0].PhysicalLocation.Region.StartLine, "line")
	check.Same(t, "Event_Wait", run.Results[0].Locations[0].LogicalLocations[0].Name, "element")
	if !strings.Contains(run.Results[0].Message.Text, "<b/>") {
		t.Errorf("the message has no fix: %s", run.Results[0].Message.Text)
	}
}

func TestSARIFOfACleanModelHasAnEmptyListOfResults(t *testing.T) {
	text, err := json.Marshal(report.ModelSARIF(nil, "v1.2.3"))
	check.Must(t, err)
	if !strings.Contains(string(text), `"results":[]`) {
		t.Errorf("%s", text)
	}
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
