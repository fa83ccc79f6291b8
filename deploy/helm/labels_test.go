package helm_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// selectors are where kinds say which pods (or, of a ServiceMonitor, which Services) they are about.
var selectors = map[string][]string{
	"Deployment":          {"spec", "selector", "matchLabels"},
	"NetworkPolicy":       {"spec", "podSelector", "matchLabels"},
	"PodDisruptionBudget": {"spec", "selector", "matchLabels"},
	"PodMonitor":          {"spec", "selector", "matchLabels"},
	"Service":             {"spec", "selector"},
	"ServiceMonitor":      {"spec", "selector", "matchLabels"},
}

func TestEverySelectorFindsItsOwnPodsAndNoOthers(t *testing.T) {
	for file, values := range valueFiles(t) {
		all := objects(t, values)
		templates := pods(t, all)
		for _, o := range all {
			where, has := selectors[o.kind]
			if !has {
				continue
			}
			labels := at[map[string]any](o.tree, where...)
			if len(labels) == 0 {
				t.Errorf("%s: %s selects everything", file, o.name)
			}
			for name, pod := range templates {
				ours := strings.HasSuffix(o.name, "-migrate") == strings.HasPrefix(name, "Job ")
				matches := true
				for key, value := range labels {
					matches = matches && pod.Labels[key] == value
				}
				if matches != ours {
					t.Errorf("%s: does %s select the pods of %s? %v, want %v", file, o.name, name, matches, ours)
				}
			}
			if o.kind == "ServiceMonitor" && !subset(labels, at[map[string]any](one(t, all, "Service").tree, "metadata", "labels")) {
				t.Errorf("%s: the ServiceMonitor does not find the Service", file)
			}
		}
	}
}

func subset(small, large map[string]any) bool {
	for key, value := range small {
		if large[key] != value {
			return false
		}
	}
	return true
}

func TestEveryObjectSaysWhereItBelongs(t *testing.T) {
	for file, values := range valueFiles(t) {
		for _, o := range objects(t, values) {
			labels := at[map[string]any](o.tree, "metadata", "labels")
			for _, name := range []string{"name", "instance", "version", "managed-by", "component", "part-of"} {
				if labels["app.kubernetes.io/"+name] == nil {
					t.Errorf("%s: %s has no label %s", file, o.name, name)
				}
			}
			if at[string](o.tree, "metadata", "namespace") != "claims" {
				t.Errorf("%s: %s is in no namespace", file, o.name)
			}
		}
	}
}

func TestScalersScaleTheDeploymentThatLeavesItsReplicasToThem(t *testing.T) {
	for file, kind := range map[string]string{"tls": "HorizontalPodAutoscaler", "everything": "ScaledObject"} {
		all := objects(t, valueFiles(t)[file])
		deployment := one(t, all, "Deployment")
		if decode[appsv1.Deployment](t, deployment).Spec.Replicas != nil {
			t.Errorf("%s: the Deployment sets replicas beside a %s", file, kind)
		}
		if got := at[string](one(t, all, kind).tree, "spec", "scaleTargetRef", "name"); got != at[string](deployment.tree, "metadata", "name") {
			t.Errorf("%s: the %s scales %q", file, kind, got)
		}
	}
}

// copies are the files that lie outside the chart, which must hold all it needs. A symlink does not survive packing.
func copies(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"../prometheus/*.rules.yml", "../grafana/dashboard.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			found[path] = filepath.Join(chartDir, "files", strings.TrimPrefix(path, "../"))
		}
	}
	return found
}

func TestTheChartCarriesTheRulesAndTheDashboard(t *testing.T) {
	have := map[string]bool{}
	for source, copied := range copies(t) {
		have[copied] = true
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, copied, string(text))
	}
	in, err := filepath.Glob(chartDir + "/files/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range in {
		if have[path] {
			continue
		}
		if *update {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is a copy of nothing; `go test ./helm -update` removes it", path)
	}
}

func TestThePrometheusRuleHoldsTheRulesOfAllFiles(t *testing.T) {
	var want []monitoringv1.RuleGroup
	for _, source := range slices.Sorted(maps.Keys(copies(t))) {
		if filepath.Ext(source) != ".yml" {
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		var spec monitoringv1.PrometheusRuleSpec
		if err := yaml.UnmarshalStrict(text, &spec); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		want = append(want, spec.Groups...)
	}
	rule := decode[monitoringv1.PrometheusRule](t, one(t, objects(t, valueFiles(t)["everything"]), "PrometheusRule"))
	if len(want) == 0 {
		t.Fatal("there are no rules")
	}
	if diff := cmp.Diff(want, rule.Spec.Groups); diff != "" {
		t.Errorf("the rules differ (-files +chart):\n%s", diff)
	}
	names := map[string]bool{}
	for _, group := range want {
		if names[group.Name] {
			t.Errorf("two groups are called %s, which the operator refuses", group.Name)
		}
		names[group.Name] = true
	}
}

func TestTheDashboardIsCarriedUnchanged(t *testing.T) {
	text, err := os.ReadFile("../grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects(t, valueFiles(t)["everything"]) {
		if strings.HasSuffix(o.name, "-dashboard") {
			if got := at[string](o.tree, "data", "analyze-retry.json"); strings.TrimSpace(got) != strings.TrimSpace(string(text)) {
				t.Errorf("%s holds another dashboard", o.name)
			}
			return
		}
	}
	t.Error("there is no ConfigMap of the dashboard")
}

func TestTheScalersQueryNamesEveryJobType(t *testing.T) {
	query := string(one(t, objects(t, valueFiles(t)["everything"]), "ScaledObject").yaml)
	types := regexp.MustCompile(`type=~"([^"]*)"`).FindAllStringSubmatch(query, -1)
	if len(types) != 2 {
		t.Fatalf("the query is %s", query)
	}
	for _, found := range types {
		for _, jobType := range []string{"analyze-retry", "mail.retry", "record-retry-outcome"} {
			if !regexp.MustCompile("^(?:" + found[1] + ")$").MatchString(jobType) {
				t.Errorf("%s does not match the job type %s", found[1], jobType)
			}
		}
		if regexp.MustCompile("^(?:" + found[1] + ")$").MatchString("mail-retry") {
			t.Errorf("%s matches a foreign job type", found[1])
		}
	}
}
