package helm_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

// contents are what the mounted files hold, by their names.
func contents(t *testing.T, all []object) map[string]string {
	t.Helper()
	key, certificate := deploytest.KeyPair(t)
	return map[string]string{
		"database-url":         "postgres://analyze_retry_app:canary-1@db.example/analyze_retry\n",
		"events-url":           "amqps://analyze_retry:canary-2@queue.example\n",
		"http-token":           "canary-3-canary-3-canary-3\n",
		"zeebe-client-secret":  "canary-4\n",
		"zeebe-basic-password": "canary-5\n",
		"audit.key":            key,
		"ca.crt":               certificate,
		"tls.crt":              certificate,
		"tls.key":              key,
		"policies.yaml":        policies(all),
	}
}

// policies is the text of the rendered ConfigMap of policies, empty where there is none.
func policies(all []object) string {
	for _, o := range all {
		if strings.HasSuffix(o.name, "-policies") {
			return at[string](o.tree, "data", "policies.yaml")
		}
	}
	return ""
}

// Faults of the command line end with exit code 2; here only the store is absent.
func TestTheReportTakesTheArgumentsOfItsJob(t *testing.T) {
	worker := deploytest.Worker(t)
	for _, text := range []string{"{enabled: true}", "{enabled: true, language: en, format: csv, timeZone: UTC}", "{enabled: true, format: html, existingClaim: c}"} {
		args := pods(t, objects(t, values(t, "minimal", "report: "+text)))["CronJob billing-analyze-retry-report"].Spec.Containers[0].Args
		cmd := exec.CommandContext(t.Context(), worker, args...)
		cmd.Env = []string{"RETRY_DATABASE_URL=sqlite:///absent/analyze-retry.db"}
		out, err := cmd.CombinedOutput()
		if failed, is := errors.AsType[*exec.ExitError](err); !is || failed.ExitCode() != 1 || !strings.Contains(string(out), "there is no audit store") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestTheNameOfTheReportsJobIsShortEnough(t *testing.T) {
	long := "fullnameOverride: " + strings.Repeat("a", 44) + "-bbbbbbb\nreport: {enabled: true}"
	if name := at[string](one(t, objects(t, values(t, "minimal", long)), "CronJob").tree, "metadata", "name"); len(name) > 52 || strings.Contains(name, "--") {
		t.Errorf("%s has %d characters, and Kubernetes takes 52", name, len(name))
	}
}

// The worker itself checks names, notations, and settings that need or exclude each other.
func TestTheWorkerTakesTheVariablesOfEveryPod(t *testing.T) {
	worker := deploytest.Worker(t)
	for file, values := range valueFiles(t) {
		all := objects(t, values)
		contents := contents(t, all)
		for name, pod := range pods(t, all) {
			root := t.TempDir()
			for path := range mountedFiles(t, pod.Spec) {
				content, known := contents[filepath.Base(path)]
				if !known {
					t.Fatalf("%s, %s mounts %s, which no test knows", file, name, path)
				}
				deploytest.Write(t, root+path, content)
			}
			cmd := exec.CommandContext(t.Context(), worker, "config")
			// As in the image, which sets these two.
			cmd.Env = []string{"RETRY_DATABASE_URL=sqlite:///data/analyze-retry.db", "SQLITE_TMPDIR=/data"}
			for _, v := range pod.Spec.Containers[0].Env {
				value := v.Value
				if v.ValueFrom != nil {
					value = "given-by-kubernetes"
				}
				if strings.HasPrefix(value, "/etc/") {
					value = root + value
				}
				cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", v.Name, value))
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s, %s: the worker refuses its variables: %v\n%s", file, name, err, out)
			}
			if strings.Contains(string(out), "canary") {
				t.Errorf("%s, %s: the worker shows a secret:\n%s", file, name, out)
			}
			store := "postgres://analyze_retry_app:***@db.example/analyze_retry"
			if file == "sqlite" {
				store = "sqlite:///data/analyze-retry.db"
			}
			if !strings.Contains(string(out), store) {
				t.Errorf("%s, %s: the store is not %s:\n%s", file, name, store, out)
			}
		}
	}
}
