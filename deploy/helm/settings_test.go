package helm_test

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"hospital.example/analyze-retry/deploy/deploytest"
)

func variablesOf(c corev1.Container) map[string]corev1.EnvVar {
	found := map[string]corev1.EnvVar{}
	for _, v := range c.Env {
		found[v.Name] = v
	}
	return found
}

func variables(pod corev1.PodSpec) map[string]corev1.EnvVar { return variablesOf(pod.Containers[0]) }

// settings are the names that docs/configuration.md knows, and those of them that are secret: they can be given by file.
func settings(t *testing.T) (known map[string]bool, secret []string) {
	t.Helper()
	text := deploytest.Read(t, "docs/configuration.md")
	known = map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)`(?: or `([A-Z_]+_FILE)`)? \\|.*\\| ((?:`[A-Z_]+` ?)*) ?\\|$").FindAllStringSubmatch(text, -1) {
		names := append([]string{row[1]}, strings.Fields(strings.ReplaceAll(row[3], "`", ""))...)
		for _, name := range names {
			known[name] = true
			if row[2] != "" {
				known[name+"_FILE"] = true
				secret = append(secret, name)
			}
		}
	}
	if len(known) < 20 || len(secret) < 4 {
		t.Fatalf("docs/configuration.md names only %d settings, %d of them secret", len(known), len(secret))
	}
	return known, secret
}

func TestEveryVariableIsASettingOfTheWorker(t *testing.T) {
	known, _ := settings(t)
	// Those of Go and of SQLite.
	foreign := regexp.MustCompile(`^(GOGC|GOMEMLIMIT|SQLITE_TMPDIR)$`)
	for file, values := range valueFiles(t) {
		for name, pod := range pods(t, objects(t, values)) {
			seen := map[string]bool{}
			for _, v := range pod.Spec.Containers[0].Env {
				if !known[v.Name] && !foreign.MatchString(v.Name) {
					t.Errorf("%s, %s: docs/configuration.md knows no %s", file, name, v.Name)
				}
				if seen[v.Name] {
					t.Errorf("%s, %s: %s is set twice", file, name, v.Name)
				}
				seen[v.Name] = true
			}
			// The image sets RETRY_DATABASE_URL, and the worker refuses a setting that is given twice, as a value and as a file.
			set := variables(pod.Spec)
			if url, is := set["RETRY_DATABASE_URL"]; set["RETRY_DATABASE_URL_FILE"].Value != "" && (!is || url.Value != "") {
				t.Errorf("%s, %s: RETRY_DATABASE_URL is not emptied", file, name)
			}
		}
	}
}

func TestSecretsAreMountedAndStandNowhereElse(t *testing.T) {
	_, secret := settings(t)
	for file, values := range valueFiles(t) {
		all := objects(t, values)
		for _, o := range all {
			if o.kind == "Secret" {
				t.Errorf("%s: %s is rendered; secrets are the user's to make", file, o.name)
			}
			// user:password@ of a URL, and what a key file begins with.
			if found := regexp.MustCompile(`://[^/\s"]*:[^/\s"]*@|-----BEGIN`).Find(o.yaml); found != nil {
				t.Errorf("%s: %s holds what looks like a secret: %s", file, o.name, found)
			}
		}
		for name, pod := range pods(t, all) {
			files := mountedFiles(t, pod.Spec)
			for _, v := range pod.Spec.Containers[0].Env {
				if slices.Contains(secret, v.Name) && v.Value != "" && !strings.HasPrefix(v.Value, "sqlite://") {
					t.Errorf("%s, %s: %s stands there in plain text", file, name, v.Name)
				}
				// Every file that a variable names is one that is mounted.
				if strings.HasPrefix(v.Value, "/etc/") && !files[v.Value] {
					t.Errorf("%s, %s: %s is %s, which nothing mounts", file, name, v.Name, v.Value)
				}
			}
		}
	}
}

// mountedFiles are the files of mounted Secrets and ConfigMaps of the chart's own. Each secret is readable for its group
// only, and mounted read-only.
func mountedFiles(t *testing.T, pod corev1.PodSpec) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if i < 0 {
			t.Fatalf("%s is mounted, but is no volume", mount.Name)
		}
		volume := pod.Volumes[i]
		if volume.PersistentVolumeClaim == nil && !mount.ReadOnly {
			t.Errorf("%s may be written to", mount.Name)
		}
		if volume.Secret != nil {
			if !is(volume.Secret.DefaultMode, 0o440) {
				t.Errorf("the files of %s are not of mode 0440: %+v", mount.Name, volume.Secret)
			}
			for _, item := range volume.Secret.Items {
				files[path.Join(mount.MountPath, item.Path)] = true
			}
		}
		if volume.Name == "policies" {
			files[path.Join(mount.MountPath, "policies.yaml")] = true
		}
	}
	return files
}

func TestJobsUseTheirOwnSecretAndNothingElse(t *testing.T) {
	own := map[string]string{"migrate": "analyze-retry-owner", "report": "analyze-retry-reader"}
	for name, pod := range pods(t, objects(t, valueFiles(t)["everything"])) {
		for _, volume := range pod.Spec.Volumes {
			if volume.Secret == nil {
				continue
			}
			used, of := volume.Secret.SecretName, component(name)
			if of == "worker" && (used == own["migrate"] || used == own["report"]) || of != "worker" && used != own[of] {
				t.Errorf("%s mounts the Secret %s", name, used)
			}
			if of != "worker" && (len(volume.Secret.Items) != 1 || volume.Secret.Items[0].Key != "database-url") {
				t.Errorf("%s mounts more than the URL of the database: %+v", name, volume.Secret.Items)
			}
		}
	}
	// Without a Secret of its own the report reads with the worker's URL.
	report := pods(t, objects(t, valueFiles(t)["saas"]))["CronJob billing-analyze-retry-report"]
	if got := report.Spec.Volumes[0].Secret.SecretName; got != "analyze-retry" {
		t.Errorf("the report reads with the Secret %s", got)
	}
}

func TestTheMigrationComesBeforeTheWorkers(t *testing.T) {
	weights := map[string]int{}
	for _, o := range objects(t, valueFiles(t)["everything"]) {
		annotations := at[map[string]any](o.tree, "metadata", "annotations")
		if !strings.HasSuffix(o.name, "-migrate") {
			if annotations["helm.sh/hook"] != nil {
				t.Errorf("%s is a hook", o.name)
			}
			continue
		}
		if annotations["helm.sh/hook"] != "pre-install,pre-upgrade" {
			t.Errorf("%s runs at %v", o.name, annotations["helm.sh/hook"])
		}
		weight, err := strconv.Atoi(annotations["helm.sh/hook-weight"].(string))
		if err != nil {
			t.Fatal(err)
		}
		weights[o.kind] = weight
	}
	if len(weights) != 2 || weights["NetworkPolicy"] >= weights["Job"] {
		t.Errorf("the weights are %v", weights)
	}
	// What the release makes is not there yet before an install.
	if pod := pods(t, objects(t, valueFiles(t)["everything"]))["Job billing-analyze-retry-migrate"]; pod.Spec.ServiceAccountName != "default" {
		t.Errorf("the job runs as %s", pod.Spec.ServiceAccountName)
	}
}

func TestChangedPoliciesMakeNewPods(t *testing.T) {
	checksum := func(policies string) string {
		deployment := decode[appsv1.Deployment](t, one(t, objects(t, values(t, "minimal", "worker: {policies: "+policies+"}")), "Deployment"))
		return deployment.Spec.Template.Annotations["checksum/policies"]
	}
	if a, b := checksum("'policies: [{name: a, extends: tiss}]'"), checksum("'policies: [{name: a, extends: tiss}] # other'"); a == "" || a == b {
		t.Errorf("the pods' annotations are %q and %q", a, b)
	}
}

func TestNoSecretIsTakenInPlainText(t *testing.T) {
	_, secret := settings(t)
	for _, name := range secret {
		_, err := render(load(t), values(t, "minimal", "extraEnv: [{name: "+name+", value: canary}]"))
		if err == nil || !strings.Contains(err.Error(), "extraEnv: "+name+" is secret") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
