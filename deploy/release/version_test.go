package release_test

import (
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// The changelog names the version that comes next, or begins with the one that is out.
func TestTheChartAndTheChangelogNameOneVersion(t *testing.T) {
	var chart struct {
		Version    string `json:"version"`
		AppVersion string `json:"appVersion"`
	}
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, "deploy/helm/analyze-retry/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	const number = `[0-9]+\.[0-9]+\.[0-9]+`
	newest := regexp.MustCompile(`(?m)^## \[Unreleased\]\n\nWhat will be version (` + number + `)\.$|^## \[(` + number + `)\]`)
	found := newest.FindStringSubmatch(deploytest.Read(t, "CHANGELOG.md"))
	if found == nil {
		t.Fatal("CHANGELOG.md names no version, neither that of what is unreleased nor of a release")
	}
	if version := found[1] + found[2]; chart.AppVersion != version {
		t.Errorf("the chart's appVersion is %s, the changelog's newest version %s", chart.AppVersion, version)
	}
	if !regexp.MustCompile("^" + number + "$").MatchString(chart.Version) {
		t.Errorf("the chart's version is %q", chart.Version)
	}
}
