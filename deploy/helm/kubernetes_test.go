package helm_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// goTypes are the kinds that the chart renders.
var goTypes = map[string]func() any{
	"v1 ConfigMap":                            func() any { return new(corev1.ConfigMap) },
	"v1 PersistentVolumeClaim":                func() any { return new(corev1.PersistentVolumeClaim) },
	"v1 Service":                              func() any { return new(corev1.Service) },
	"v1 ServiceAccount":                       func() any { return new(corev1.ServiceAccount) },
	"apps/v1 Deployment":                      func() any { return new(appsv1.Deployment) },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"batch/v1 Job":                            func() any { return new(batchv1.Job) },
	"keda.sh/v1alpha1 ScaledObject":           func() any { return new(kedav1alpha1.ScaledObject) },
	"monitoring.coreos.com/v1 PodMonitor":     func() any { return new(monitoringv1.PodMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return new(monitoringv1.PrometheusRule) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return new(monitoringv1.ServiceMonitor) },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return new(networkingv1.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":           func() any { return new(policyv1.PodDisruptionBudget) },
}

// operators are the groups whose kinds Kubernetes itself does not know.
var operators = []string{"keda.sh/", "monitoring.coreos.com/"}

// checkObject returns what is wrong with an object: an unknown or misspelt field, a wrong type, a missing field.
func checkObject(t *testing.T, schemas kubeSchemas, o object) error {
	t.Helper()
	apiVersion := at[string](o.tree, "apiVersion")
	asJSON, err := yaml.YAMLToJSONStrict(o.yaml)
	if err != nil {
		return err
	}
	typed, known := goTypes[apiVersion+" "+o.kind]
	if !known {
		t.Fatalf("%s %s is not among the kinds that the chart is known to render", apiVersion, o.kind)
	}
	unknown, err := sigsjson.UnmarshalStrict(asJSON, typed())
	if err = errors.Join(append(unknown, err)...); err != nil {
		return err
	}
	for _, version := range []string{oldest, newest} {
		schema := schemas.of(t, version, apiVersion, o.kind)
		ofOperator := slices.ContainsFunc(operators, func(group string) bool { return strings.HasPrefix(apiVersion, group) })
		if (schema == nil) != ofOperator {
			t.Fatalf("Kubernetes %s: has it a schema of %s %s? %v", version, apiVersion, o.kind, schema != nil)
		}
		if schema == nil {
			continue
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
	for kind := range goTypes {
		if !rendered[kind] {
			t.Errorf("no value file renders a %s", kind)
		}
	}

	// The check must be able to fail.
	for _, slip := range []struct{ kind, right, wrong string }{
		{"Deployment", "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"},
		{"Deployment", "terminationGracePeriodSeconds: 102", "terminationGracePeriodSeconds: 102s"},
		{"Deployment", "image: ", "picture: "},
		{"Job", "backoffLimit: 3", "backOffLimit: 3"},
		{"NetworkPolicy", "protocol: UDP", "protocols: UDP"},
		{"PodDisruptionBudget", "maxUnavailable: 1", "maxUnavailables: 1"},
		{"PodMonitor", "podMetricsEndpoints:", "endpoints:"},
		{"PrometheusRule", "groups:", "group:"},
		{"ScaledObject", "minReplicaCount:", "minReplicas:"},
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
