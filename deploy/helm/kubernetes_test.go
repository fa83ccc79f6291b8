//go:build servers

package helm_test

import (
	"bytes"
	"errors"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ofOperators are the kinds that Kubernetes itself does not know.
var ofOperators = map[string]func() any{
	"monitoring.coreos.com/v1 PodMonitor":     func() any { return new(monitoringv1.PodMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return new(monitoringv1.PrometheusRule) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return new(monitoringv1.ServiceMonitor) },
}

// checkObject returns what is wrong with an object: an unknown or misspelt field, a wrong type, a missing field.
func checkObject(t *testing.T, schemas kubeSchemas, o object) error {
	t.Helper()
	apiVersion := at[string](o.tree, "apiVersion")
	asJSON, err := yaml.YAMLToJSONStrict(o.yaml)
	if err != nil {
		return err
	}
	if typed, is := ofOperators[apiVersion+" "+o.kind]; is {
		unknown, err := sigsjson.UnmarshalStrict(asJSON, typed())
		return errors.Join(append(unknown, err)...)
	}
	for _, version := range []string{oldest, newest} {
		schema := schemas.of(t, version, apiVersion, o.kind)
		if schema == nil {
			t.Fatalf("Kubernetes %s has no schema of %s %s", version, apiVersion, o.kind)
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		if err != nil {
			return err
		}
		if err := schema.Validate(parsed); err != nil {
			return err
		}
	}
	return nil
}

func TestEveryObjectIsOneThatKubernetesAndTheOperatorsTake(t *testing.T) {
	schemas, rendered := openKubeSchemas(t), map[string]bool{}
	for name, values := range valueFiles(t) {
		for _, o := range objects(t, values) {
			rendered[at[string](o.tree, "apiVersion")+" "+o.kind] = true
			if err := checkObject(t, schemas, o); err != nil {
				t.Errorf("%s, %s: %v", name, o.name, err)
			}
		}
	}
	for kind := range ofOperators {
		if !rendered[kind] {
			t.Errorf("no value file renders a %s", kind)
		}
	}

	// The check must be able to fail.
	for _, slip := range []struct{ kind, right, wrong string }{
		{"Deployment", "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"},
		{"Deployment", "terminationGracePeriodSeconds: 102", "terminationGracePeriodSeconds: 102s"},
		{"Deployment", "image: ", "picture: "},
		{"CronJob", "timeZone: ", "timezone: "},
		{"CronJob", "    spec:\n      backoffLimit:", "    specs:\n      backoffLimit:"},
		{"Job", "backoffLimit: 3", "backOffLimit: 3"},
		{"NetworkPolicy", "protocol: UDP", "protocols: UDP"},
		{"PodMonitor", "podMetricsEndpoints:", "endpoints:"},
		{"PrometheusRule", "groups:", "group:"},
	} {
		o := one(t, objects(t, valueFiles(t)["everything"]), slip.kind)
		if !bytes.Contains(o.yaml, []byte(slip.right)) {
			t.Fatalf("%s has no %q", o.name, slip.right)
		}
		o.yaml = bytes.Replace(o.yaml, []byte(slip.right), []byte(slip.wrong), 1)
		if err := checkObject(t, schemas, o); err == nil {
			t.Errorf("%s with %q is taken", o.name, slip.wrong)
		}
	}
}
