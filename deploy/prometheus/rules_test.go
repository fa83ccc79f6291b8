// Package prometheus_test holds the rules of this directory to their tests, to the worker's metrics and to the runbooks.
package prometheus_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/deploy/deploytest"
)

const (
	runbooks = "docs/runbooks/" // from the top
	// runbookURL is where the runbooks are read.
	runbookURL = "https://hospital.example/analyze-retry/docs/runbooks/"
)

// rule is a recording rule or an alert.
type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

// testCase is one test of a *.rules.test.yml.
type testCase struct {
	InputSeries []struct{ Series string } `yaml:"input_series"`
	AlertTests  []struct {
		Alert  string      `yaml:"alertname"`
		Firing []yaml.Node `yaml:"exp_alerts"`
	} `yaml:"alert_rule_test"`
	ExprTests []struct{ Expr string } `yaml:"promql_expr_test"`
}

// files returns files of this directory.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(deploytest.Read(t, "deploy/prometheus/"+file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// rules returns all rules of all files.
func rules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, file := range files(t, "*.rules.yml") {
		var content struct{ Groups []struct{ Rules []rule } }
		decode(t, file, &content)
		for _, group := range content.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all
}

// alerts returns the alerts by their names, of which no two may be the same.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	byName := map[string]rule{}
	for _, r := range rules(t) {
		if _, twice := byName[r.Alert]; twice {
			t.Errorf("there are two alerts %s", r.Alert)
		}
		if r.Alert != "" {
			byName[r.Alert] = r
		}
	}
	return byName
}

// testCases returns all tests of all files.
func testCases(t *testing.T) []testCase {
	t.Helper()
	var all []testCase
	for _, file := range files(t, "*.rules.test.yml") {
		var content struct{ Tests []testCase }
		decode(t, file, &content)
		all = append(all, content.Tests...)
	}
	return all
}

func TestEveryAlertIsSeenFiringAndSilent(t *testing.T) {
	firing, silent := map[string]bool{}, map[string]bool{}
	for _, c := range testCases(t) {
		for _, a := range c.AlertTests {
			if len(a.Firing) > 0 {
				firing[a.Alert] = true
			} else {
				silent[a.Alert] = true
			}
		}
	}
	want := slices.Sorted(maps.Keys(alerts(t)))
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(firing))); diff != "" {
		t.Errorf("alerts with a case in which they fire (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(silent))); diff != "" {
		t.Errorf("alerts with a case in which they are silent (-want +got):\n%s", diff)
	}
}

func TestEveryRecordingRuleIsTested(t *testing.T) {
	var tested strings.Builder
	for _, c := range testCases(t) {
		for _, e := range c.ExprTests {
			tested.WriteString(e.Expr + "\n")
		}
	}
	for _, r := range rules(t) {
		if r.Record != "" && !strings.Contains(tested.String(), r.Record) {
			t.Errorf("no promql_expr_test asks for %s", r.Record)
		}
	}
}

func TestEveryAlertHasSeverityDescriptionAndRunbook(t *testing.T) {
	for name, alert := range alerts(t) {
		if s := alert.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity is %q, want critical (a person is woken) or warning (a ticket)", name, s)
		}
		for _, annotation := range []string{"summary", "description"} {
			if alert.Annotations[annotation] == "" {
				t.Errorf("%s has no %s", name, annotation)
			}
		}
		if got, want := alert.Annotations["runbook_url"], runbookURL+name+".md"; got != want {
			t.Errorf("%s: runbook_url is %q, want %q", name, got, want)
		}
	}
}

func TestEveryAlertHasARunbookAndViceVersa(t *testing.T) {
	index := deploytest.Read(t, runbooks+"README.md")
	var got []string
	for _, file := range deploytest.Files(t, runbooks+"*[a-z].md") {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		got = append(got, name)
		if !strings.HasPrefix(deploytest.Read(t, file), "# "+name+"\n") {
			t.Errorf("%s does not begin with its name", file)
		}
		if !strings.Contains(index, "("+name+".md)") {
			t.Errorf("the index does not name %s", name)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(alerts(t))), got); diff != "" {
		t.Errorf("runbooks (-alerts +files):\n%s", diff)
	}
}

// A person follows the Portuguese page with the same commands, metrics and names.
func TestEveryRunbookIsThereInPortuguese(t *testing.T) {
	const portuguese = "docs/pt-BR/runbooks/"
	names := func(folder string) (all []string) {
		for _, file := range deploytest.Files(t, folder+"*.md") {
			all = append(all, filepath.Base(file))
		}
		return all
	}
	if diff := cmp.Diff(names(runbooks), names(portuguese)); diff != "" {
		t.Errorf("runbooks (-English +Portuguese):\n%s", diff)
	}
	for _, name := range names(portuguese) {
		text := deploytest.Read(t, portuguese+name)
		for _, code := range inCode(deploytest.Read(t, runbooks+name)) {
			if !strings.Contains(text, code) {
				t.Errorf("%s%s lacks %s", portuguese, name, code)
			}
		}
		if first, _, _ := strings.Cut(text, "\n"); name != "README.md" && first != "# "+strings.TrimSuffix(name, ".md") {
			t.Errorf("%s%s does not begin with its name", portuguese, name)
		}
	}
}

// inCode returns what a page writes in a code block or between backquotes.
func inCode(page string) (all []string) {
	for i, block := range strings.Split(page, "```") {
		if i%2 == 1 {
			all = append(all, block)
			continue
		}
		for k, code := range strings.Split(block, "`") {
			if k%2 == 1 {
				all = append(all, "`"+code+"`")
			}
		}
	}
	return all
}

func TestTheExampleScrapesWhatTheRulesRead(t *testing.T) {
	var config struct {
		ScrapeConfigs []struct {
			Job    string                               `yaml:"job_name"`
			Static []struct{ Labels map[string]string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	decode(t, "scrape.example.yml", &config)
	got := map[string]bool{}
	for _, s := range config.ScrapeConfigs {
		got[s.Job] = true
		for _, group := range s.Static {
			if group.Labels["namespace"] != "hospital" {
				t.Errorf("job %s: namespace is %q; rules that join worker and broker need the same at both", s.Job, group.Labels["namespace"])
			}
		}
	}
	if want := map[string]bool{"analyze-retry": true, "zeebe": true}; !maps.Equal(got, want) {
		t.Errorf("jobs are %v, want %v", got, want)
	}
}
