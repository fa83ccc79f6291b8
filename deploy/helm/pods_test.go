package helm_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// pods are the pod templates among the objects, by the name of their object.
func pods(t *testing.T, all []object) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, o := range all {
		switch o.kind {
		case "Deployment":
			found[o.name] = decode[appsv1.Deployment](t, o).Spec.Template
		case "Job":
			found[o.name] = decode[batchv1.Job](t, o).Spec.Template
		case "CronJob":
			found[o.name] = decode[batchv1.CronJob](t, o).Spec.JobTemplate.Spec.Template
		default:
			if at[map[string]any](o.tree, "spec", "template") != nil || at[map[string]any](o.tree, "spec", "jobTemplate") != nil {
				t.Fatalf("%s has a pod template that no test looks at", o.name)
			}
		}
	}
	return found
}

func TestEveryPodIsLockedDown(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	seen := 0
	for file, values := range valueFiles(t) {
		for name, pod := range pods(t, objects(t, values)) {
			seen++
			// Kubernetes' own check of the level "restricted" of its Pod Security Standards.
			for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
				if !result.Allowed {
					t.Errorf("%s, %s: %s (%s)", file, name, result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			spec, container, own := pod.Spec, pod.Spec.Containers[0], pod.Spec.SecurityContext
			if own == nil {
				own = &corev1.PodSecurityContext{}
			}
			for what, ok := range map[string]bool{
				"no API token":         is(spec.AutomountServiceAccountToken, false),
				"no service links":     is(spec.EnableServiceLinks, false),
				"the image's user":     is(own.RunAsUser, 65532) && is(own.RunAsGroup, 65532) && is(own.FSGroup, 65532),
				"one container":        len(spec.Containers) == 1 && len(spec.InitContainers) == 0,
				"nothing of the node":  !spec.HostNetwork && !spec.HostPID && !spec.HostIPC,
				"a read-only root":     container.SecurityContext != nil && is(container.SecurityContext.ReadOnlyRootFilesystem, true),
				"a memory limit":       !container.Resources.Limits.Memory().IsZero(),
				"requests of both":     !container.Resources.Requests.Memory().IsZero() && !container.Resources.Requests.Cpu().IsZero(),
				"no command but args":  container.Command == nil && slices.Equal(container.Args, arguments(name, container)),
				"no hook into its end": container.Lifecycle == nil,
			} {
				if !ok {
					t.Errorf("%s, %s: not so: %s", file, name, what)
				}
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d pods were looked at", seen)
	}
}

// arguments are those that a pod's container is to have: one, and the report's flags.
func arguments(name string, container corev1.Container) []string {
	kind, _, _ := strings.Cut(name, " ")
	args := []string{map[string]string{"Deployment": "run", "Job": "migrate", "CronJob": "report"}[kind]}
	for _, arg := range container.Args {
		if kind == "CronJob" && strings.HasPrefix(arg, "--") {
			args = append(args, arg)
		}
	}
	return args
}

// is reports whether a field is set, and to that.
func is[T comparable](field *T, want T) bool { return field != nil && *field == want }

// seconds returns a constant of whole seconds in the worker's source.
func seconds(t *testing.T, file, name string) int64 {
	t.Helper()
	constant := regexp.MustCompile(`(?m)^(?:const )?\s*` + name + `\s*=\s*(?:([0-9]+)\s*\*\s*)?time\.Second\b`)
	found := constant.FindStringSubmatch(deploytest.Read(t, file))
	if found == nil {
		t.Fatalf("%s has no %s in whole seconds any more", file, name)
	}
	n, err := strconv.ParseInt(cmp.Or(found[1], "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// steps counts what a stop does one after the other once the jobs are done, each for stepTimeout at the most: the
// cleanups that are registered by name, and what is done within that time directly.
func steps(t *testing.T) int64 {
	t.Helper()
	named, unnamed := regexp.MustCompile(`\b(?:l|closeL)ater\("|\bwithin\("`), regexp.MustCompile(`\.(?:l|closeL)ater\([^"]|\bwithin\([^"]`)
	var count, helpers int
	for _, file := range deploytest.Files(t, "internal/app/*.go") {
		if !strings.HasSuffix(file, "_test.go") {
			text := deploytest.Read(t, file)
			count += len(named.FindAllString(text, -1))
			helpers += len(unnamed.FindAllString(text, -1))
		}
	}
	// Without a name in place: within's definition, its use for the cleanups, and closeLater's.
	if count < 5 || helpers != 3 {
		t.Fatalf("%d steps of a stop were found in internal/app, and %d calls that name none: look whether that still finds all", count, helpers)
	}
	return int64(count)
}

func TestTheGracePeriodIsLongerThanAStopCanTake(t *testing.T) {
	closing := seconds(t, "internal/zeebe/worker.go", "releaseTimeout") + steps(t)*seconds(t, "internal/app/stop.go", "stepTimeout")
	for _, shutdown := range []int64{1, 8, 20, 600} {
		text := fmt.Sprintf("worker: {shutdownTimeoutSeconds: %d}", shutdown)
		deployment := decode[appsv1.Deployment](t, one(t, objects(t, values(t, "minimal", text)), "Deployment"))
		if got := *deployment.Spec.Template.Spec.TerminationGracePeriodSeconds; got <= shutdown+closing {
			t.Errorf("with a shutdown timeout of %d s the grace period is %d s; a stop in which every step hangs takes %d s", shutdown, got, shutdown+closing)
		}
		if got := variables(deployment.Spec.Template.Spec)["RETRY_SHUTDOWN_TIMEOUT"].Value; got != fmt.Sprintf("%ds", shutdown) {
			t.Errorf("the worker's setting is %s, want %d s", got, shutdown)
		}
	}
}

func TestGosMemoryLimitStaysBelowThatOfTheContainer(t *testing.T) {
	for limit, want := range map[string]string{"128Mi": "102MiB", "1Gi": "819MiB", "null": ""} {
		deployment := decode[appsv1.Deployment](t, one(t, objects(t, values(t, "minimal", "resources: {limits: {memory: "+limit+"}}")), "Deployment"))
		if got := variables(deployment.Spec.Template.Spec)["GOMEMLIMIT"].Value; got != want {
			t.Errorf("with a limit of %s GOMEMLIMIT is %q, want %q", limit, got, want)
		}
	}
}

func TestProbesAskTheWorkerItself(t *testing.T) {
	for file, values := range valueFiles(t) {
		c := decode[appsv1.Deployment](t, one(t, objects(t, values), "Deployment")).Spec.Template.Spec.Containers[0]
		scheme := corev1.URISchemeHTTP
		if _, tls := variablesOf(c)["RETRY_HTTP_TLS_CERTIFICATE_PATH"]; tls {
			scheme = corev1.URISchemeHTTPS
		}
		for path, probes := range map[string][]*corev1.Probe{"/healthz": {c.StartupProbe, c.LivenessProbe}, "/readyz": {c.ReadinessProbe}} {
			for _, probe := range probes {
				if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path || probe.HTTPGet.Scheme != scheme || probe.HTTPGet.Port.StrVal != c.Ports[0].Name {
					t.Errorf("%s: a probe of %s over %s is %+v", file, path, scheme, probe)
				}
			}
		}
		if got := variablesOf(c)["RETRY_HTTP_ADDRESS"].Value; got != fmt.Sprintf(":%d", c.Ports[0].ContainerPort) {
			t.Errorf("%s: the worker listens on %s, the port is %d", file, got, c.Ports[0].ContainerPort)
		}
	}
}

func TestAStoreOfOneWorkerIsNeverOpenedByTwo(t *testing.T) {
	all := objects(t, valueFiles(t)["sqlite"])
	deployment := decode[appsv1.Deployment](t, one(t, all, "Deployment"))
	if *deployment.Spec.Replicas != 1 || deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Errorf("%d replicas, by %s", *deployment.Spec.Replicas, deployment.Spec.Strategy.Type)
	}
	claim := decode[corev1.PersistentVolumeClaim](t, one(t, all, "PersistentVolumeClaim"))
	if claim.Annotations["helm.sh/resource-policy"] != "keep" || !slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) {
		t.Errorf("the claim is %+v", claim)
	}
	// An existing claim is mounted, and none is made.
	all = objects(t, values(t, "sqlite", "store: {sqlite: {existingClaim: kept}}"))
	if i := slices.IndexFunc(all, func(o object) bool { return o.kind == "PersistentVolumeClaim" }); i >= 0 {
		t.Errorf("%s is made although there is an existing claim", all[i].name)
	}
	if !strings.Contains(string(one(t, all, "Deployment").yaml), "claimName: kept") {
		t.Error("the existing claim is not mounted")
	}
}
