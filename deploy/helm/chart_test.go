// Package helm_test renders the chart with Helm's own library, as `helm template` does.
package helm_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"hospital.example/analyze-retry/deploy/deploytest"
)

const chartDir = "analyze-retry"

var update = flag.Bool("update", false, "write the goldens, and the chart's copies of the rules")

// installs are the value files of testdata: three ways to install the chart.
var installs = []string{"minimal", "everything", "saas"}

// load reads the chart and the values of testdata, with more values over them; "" is no file.
func load(t *testing.T, file, over string) (*chart.Chart, chartutil.Values) {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	values, err := chartutil.ReadValues([]byte(over))
	if err == nil && file != "" {
		var base chartutil.Values
		base, err = chartutil.ReadValuesFile(filepath.Join("testdata", file+".yaml"))
		values = chartutil.CoalesceTables(values, base)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, values
}

// render is `helm template billing analyze-retry --namespace claims`: texts by the names of their templates.
func render(c *chart.Chart, values chartutil.Values) (map[string]string, error) {
	options := chartutil.ReleaseOptions{Name: "billing", Namespace: "claims", IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for name, text := range rendered {
		if text = strings.TrimSpace(text); text != "" {
			texts[filepath.Base(name)] = text + "\n"
		}
	}
	return texts, nil
}

// kinds are the objects that the chart makes.
var kinds = map[string]func() metav1.Object{
	"ConfigMap":             func() metav1.Object { return new(corev1.ConfigMap) },
	"CronJob":               func() metav1.Object { return new(batchv1.CronJob) },
	"Deployment":            func() metav1.Object { return new(appsv1.Deployment) },
	"NetworkPolicy":         func() metav1.Object { return new(networkingv1.NetworkPolicy) },
	"PersistentVolumeClaim": func() metav1.Object { return new(corev1.PersistentVolumeClaim) },
	"PrometheusRule":        func() metav1.Object { return new(monitoringv1.PrometheusRule) },
	"Service":               func() metav1.Object { return new(corev1.Service) },
	"ServiceMonitor":        func() metav1.Object { return new(monitoringv1.ServiceMonitor) },
}

// objects renders the chart and decodes each object. An unknown field is an error.
func objects(t *testing.T, file string) (found []metav1.Object) {
	t.Helper()
	texts, err := render(load(t, file, ""))
	if err != nil {
		t.Fatal(err)
	}
	delete(texts, "NOTES.txt")
	for name, text := range texts {
		for one := range strings.SplitSeq(text, "\n---\n") {
			var meta metav1.TypeMeta
			asJSON, err := yaml.YAMLToJSONStrict([]byte(one))
			if err == nil {
				err = yaml.Unmarshal([]byte(one), &meta)
			}
			if err != nil || kinds[meta.Kind] == nil {
				t.Fatalf("%s of %s holds a %q: %v", name, file, meta.Kind, err)
			}
			o := kinds[meta.Kind]()
			unknown, err := sigsjson.UnmarshalStrict(asJSON, o)
			if err := errors.Join(append(unknown, err)...); err != nil {
				t.Errorf("%s of %s: %v", name, file, err)
			}
			found = append(found, o)
		}
	}
	return found
}

// pods returns the pod templates of the Deployment and the CronJobs, by the command that they run and its first flag.
func pods(t *testing.T, file string) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, o := range objects(t, file) {
		switch o := o.(type) {
		case *appsv1.Deployment:
			found["run"] = o.Spec.Template
		case *batchv1.CronJob:
			pod := o.Spec.JobTemplate.Spec.Template
			found["report "+pod.Spec.Containers[0].Args[1]] = pod
		}
	}
	return found
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%s is stale (%v); look at what `go test ./helm -update` changes in it", file, err)
	}
}

func TestChartRendersAsGoldensShow(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range installs {
		c, values := load(t, file, "")
		// The rules change for their own reasons.
		const rules = "groups:\n- name: a\n  rules:\n  - alert: A\n    expr: vector(1)\n" +
			"    annotations:\n      runbook_url: docs/runbooks.md#a\n"
		c.Files = []*chart.File{{Name: "files/analyze-retry.rules.yml", Data: []byte(rules)}}
		texts, err := render(c, values)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			seen[name] = true
			text := texts[name]
			if name == "NOTES.txt" { // not an object
				text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
			}
			all.WriteString("---\n# " + name + "\n" + text)
		}
		golden(t, filepath.Join("testdata", file+".golden.yaml"), all.String())

		for _, m := range lint.AllWithKubeVersion(chartDir, values, "claims", nil).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("helm lint with %s: %s", file, m.Error())
			}
		}
	}
	c, _ := load(t, "", "")
	for _, template := range c.Templates {
		if name := filepath.Base(template.Name); !strings.HasPrefix(name, "_") && !seen[name] {
			t.Errorf("no value file of testdata renders anything of %s", name)
		}
	}
}

func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, file := range installs {
		for name, pod := range pods(t, file) {
			// Kubernetes' own check of the level "restricted" of its Pod Security Standards.
			for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
				if !result.Allowed {
					t.Errorf("%s, %s: %s (%s)", file, name, result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			container := pod.Spec.Containers[0]
			for what, ok := range map[string]bool{
				"no API token":     is(pod.Spec.AutomountServiceAccountToken, false),
				"no service links": is(pod.Spec.EnableServiceLinks, false),
				"a read-only root": is(container.SecurityContext.ReadOnlyRootFilesystem, true),
				"a memory limit":   !container.Resources.Limits.Memory().IsZero(),
				"its command":      container.Args[0] == strings.Fields(name)[0],
			} {
				if !ok {
					t.Errorf("%s, %s: not so: %s", file, name, what)
				}
			}
		}
	}
}

// is reports whether a field is set, and to that.
func is[T comparable](field *T, want T) bool { return field != nil && *field == want }

func TestSelectorsFindTheirPodsOnly(t *testing.T) {
	for _, o := range objects(t, "everything") {
		var selector map[string]string
		switch o := o.(type) {
		case *appsv1.Deployment:
			selector = o.Spec.Selector.MatchLabels
		case *networkingv1.NetworkPolicy:
			selector = o.Spec.PodSelector.MatchLabels
		case *corev1.Service:
			selector = o.Spec.Selector
		default:
			continue
		}
		for command, pod := range pods(t, "everything") {
			found := len(selector) > 0
			for name, value := range selector {
				found = found && pod.Labels[name] == value
			}
			if want := strings.HasSuffix(o.GetName(), "-report") == (command != "run"); found != want {
				t.Errorf("%T %s selects the pods of %s: %v, want %v", o, o.GetName(), command, found, want)
			}
		}
	}
}

// contents are what the mounted files hold, by their names.
func contents(t *testing.T) map[string]string {
	t.Helper()
	key, certificate := deploytest.KeyPair(t)
	return map[string]string{
		"database-url":         "postgres://analyze_retry_app:canary-1@db.example/analyze_retry\n",
		"events-url":           "amqps://analyze_retry:canary-2@queue.example\n",
		"http-token":           "canary-3-canary-3-canary-3\n",
		"zeebe-client-secret":  "canary-4\n",
		"zeebe-basic-password": "canary-5\n",
		"audit.key":            key,
		"audit.pub":            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
		"ca.crt":               certificate,
		"tls.crt":              certificate,
		"tls.key":              key,
		"policies.yaml":        "policies: [{name: mail, extends: smtp}]\n",
	}
}

// The worker itself checks names, notations, and settings that need or exclude each other. It also refuses a variable
// that names a file which nothing mounts.
func TestWorkerTakesVariablesOfEveryPod(t *testing.T) {
	worker, contents := deploytest.Worker(t), contents(t)
	for _, file := range installs {
		for name, pod := range pods(t, file) {
			root, container := t.TempDir(), pod.Spec.Containers[0]
			for _, mount := range container.VolumeMounts {
				i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
				volume := pod.Spec.Volumes[i]
				var files []string
				if volume.Secret != nil {
					for _, item := range volume.Secret.Items {
						files = append(files, item.Path)
					}
				} else if volume.Name == "policies" {
					files = []string{"policies.yaml"}
				}
				for _, name := range files {
					deploytest.Write(t, filepath.Join(root, mount.MountPath, name), contents[name])
				}
			}
			cmd := exec.CommandContext(t.Context(), worker, "config")
			// As in the image, which sets this one.
			cmd.Env = []string{"RETRY_DATABASE_URL=sqlite://" + root + "/analyze-retry.db"}
			for _, v := range container.Env {
				value := strings.Replace(v.Value, "sqlite:///data", "sqlite://"+root, 1)
				if strings.HasPrefix(value, "/etc/") {
					value = root + value
				}
				cmd.Env = append(cmd.Env, v.Name+"="+value)
			}
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "canary") {
				t.Errorf("%s, %s: the worker refuses its variables, or shows a secret: %v\n%s", file, name, err, out)
			}
			if name == "run" {
				continue
			}
			// Faults of the command line end with exit code 2; here only the store is absent.
			report := exec.CommandContext(t.Context(), worker, container.Args...)
			report.Env = []string{"RETRY_DATABASE_URL=sqlite://" + root + "/absent.db"}
			out, err := report.CombinedOutput()
			if failed, is := errors.AsType[*exec.ExitError](err); !is || failed.ExitCode() != 1 {
				t.Errorf("%v: %v\n%s", container.Args, err, out)
			}
		}
	}
}

func TestContradictionsAreRefusedWithWhatToDo(t *testing.T) {
	for _, c := range []struct{ file, values, says string }{
		{
			"", "{}",
			"kubectl create secret generic analyze-retry --namespace claims" +
				" --from-file=database-url --from-file=audit.key --from-file=http-token",
		},
		{
			"", "{events: {enabled: true}, zeebe: {oauth: {clientId: c}}}",
			"the keys database-url, audit.key, events-url, http-token, zeebe-client-secret",
		},
		{
			"", "{report: {enabled: true}}",
			"the keys database-url, audit.key, http-token, audit.pub",
		},
		{
			"saas", "replicas: 2",
			"set replicas=1, or store.type=postgres",
		},
		{
			"saas", "report: {enabled: true}",
			"kubectl --namespace claims exec deploy/billing-analyze-retry -- /worker report",
		},
		{
			"minimal", "worker: {policies: policies.yaml}",
			"--set-file worker.policies=policies.yaml",
		},
		{
			"minimal", "metrics: {prometheusRule: {enabled: true}}",
			"metrics.prometheusRule.repositoryUrl is empty",
		},
		{
			"minimal", "metrics: {serviceMonitor: {enabled: true}}",
			"networkPolicy.metricsFrom is empty, so Prometheus cannot scrape: name it",
		},
		{
			"minimal", "extraEnv: [{name: CAMUNDA_BASIC_AUTH_PASSWORD, value: x}]",
			"CAMUNDA_BASIC_AUTH_PASSWORD is secret: put it into existingSecret",
		},
		// The schema refuses slips of the pen, which would leave a default in place without a word.
		{"minimal", "replica: 2", "additional properties 'replica'"},
		{"minimal", "worker: {maxJobsActive: 1001}", "/worker/maxJobsActive"},
		{"minimal", "metrics: {prometheusRule: {repositoryUrl: git.example.org}}", "/repositoryUrl"},
	} {
		if _, err := render(load(t, c.file, c.values)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q over %q is not refused with %q:\n%v", c.values, c.file, c.says, err)
		}
	}
}
