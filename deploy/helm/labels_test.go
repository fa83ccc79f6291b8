package helm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// selectors are where kinds say which pods (or, of a ServiceMonitor, which Services) they are about.
var selectors = map[string][]string{
	"Deployment":     {"spec", "selector", "matchLabels"},
	"NetworkPolicy":  {"spec", "podSelector", "matchLabels"},
	"PodMonitor":     {"spec", "selector", "matchLabels"},
	"Service":        {"spec", "selector"},
	"ServiceMonitor": {"spec", "selector", "matchLabels"},
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
				ours := component(o.name) == component(name)
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

// component is what an object belongs to, by its name.
func component(name string) string {
	for _, part := range []string{"migrate", "report"} {
		if strings.HasSuffix(name, "-"+part) {
			return part
		}
	}
	return "worker"
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

func TestTheChartCarriesTheRulesAndTheDashboard(t *testing.T) {
	all := objects(t, valueFiles(t)["everything"])
	var want monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict([]byte(deploytest.Read(t, "deploy/prometheus/analyze-retry.rules.yml")), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Groups, decode[monitoringv1.PrometheusRule](t, one(t, all, "PrometheusRule")).Spec.Groups); diff != "" {
		t.Errorf("the rules differ (-files +chart):\n%s", diff)
	}
	i := slices.IndexFunc(all, func(o object) bool { return strings.HasSuffix(o.name, "-dashboard") })
	if i < 0 {
		t.Fatal("there is no ConfigMap of the dashboard")
	}
	carried := at[string](all[i].tree, "data", "analyze-retry.json")
	if strings.TrimSpace(carried) != strings.TrimSpace(deploytest.Read(t, "deploy/grafana/dashboard.json")) {
		t.Errorf("%s holds another dashboard", all[i].name)
	}
}
