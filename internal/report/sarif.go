package report

import (
	"net/url"
	"path/filepath"
	"strings"

	"hospital.example/analyze-retry/internal/modellint"
)

// SARIF is a log of the Static Analysis Results Interchange Format, version 2.1.0, as far as it is used here. CI systems show it
// next to the changed lines.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID                   string    `json:"id"`
	ShortDescription     sarifText `json:"shortDescription"`
	FullDescription      sarifText `json:"fullDescription"`
	DefaultConfiguration struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex *int            `json:"ruleIndex,omitempty"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	PhysicalLocation sarifPhysical  `json:"physicalLocation"`
	LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	ArtifactLocation struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name               string `json:"name"`
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

// sarifLevels are the levels of the severities.
var sarifLevels = map[modellint.Severity]string{
	modellint.SevereError: "error", modellint.SevereWarning: "warning", modellint.SevereInformation: "note",
}

// ModelSARIF returns the findings about models as a SARIF log. version is that of the worker.
func ModelSARIF(findings []modellint.Finding, version string) SARIF {
	var run sarifRun
	run.Tool.Driver = sarifDriver{Name: "analyze-retry worker models lint", Version: version}
	index := map[string]int{}
	for i, r := range modellint.Rules() {
		rule := sarifRule{ID: r.ID, ShortDescription: sarifText{r.Title}, FullDescription: sarifText{r.Text}}
		rule.DefaultConfiguration.Level = sarifLevels[r.Severity]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		index[r.ID] = i
	}
	run.Results = []sarifResult{} // null would mean that the files were not checked
	for _, f := range findings {
		run.Results = append(run.Results, sarifOf(f, index))
	}
	return SARIF{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func sarifOf(f modellint.Finding, index map[string]int) sarifResult {
	result := sarifResult{RuleID: f.Rule, Level: sarifLevels[f.Severity]}
	if i, is := index[f.Rule]; is {
		result.RuleIndex = &i
	}
	message := sentence(f.Problem)
	if f.Effect != "" {
		message += " " + sentence(f.Effect)
	}
	if f.Advice != "" {
		message += " " + sentence(f.Advice)
	}
	if f.Fix != "" {
		message += "\n\n" + f.Fix
	}
	result.Message = sarifText{message}
	var location sarifLocation
	location.PhysicalLocation.ArtifactLocation.URI = fileURI(f.File)
	if f.Line > 0 {
		location.PhysicalLocation.Region = &sarifRegion{f.Line}
	}
	if f.Element != "" {
		location.LogicalLocations = []sarifLogical{{Name: f.Element, FullyQualifiedName: f.Process + "/" + f.Element, Kind: "element"}}
	}
	result.Locations = []sarifLocation{location}
	return result
}

// fileURI returns the reference of a file: a relative one stays relative, as CI systems want it.
func fileURI(name string) string {
	path := filepath.ToSlash(name)
	if filepath.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()
	}
	return (&url.URL{Path: path}).String()
}
