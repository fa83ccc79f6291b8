//go:build clients

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// cache is where installed clients are kept between runs.
const cache = "../../.cache/clients"

// problems are the REST API's answers to errors: its status and its title.
var problems = map[string]string{
	"400 INVALID_ARGUMENT": "INVALID_ARGUMENT",
	"404 NOT_FOUND":        "NOT_FOUND",
	"409 ALREADY_EXISTS":   "ALREADY_EXISTS",
	"409 INVALID_STATE":    "INVALID_STATE",
}

// statusCodes are gRPC's status codes where they are not the scenario's.
var statusCodes = map[string]string{"FAILED_PRECONDITION": "INVALID_STATE"}

func TestJavaClientPlaysTheScenario(t *testing.T) {
	t.Parallel()
	jars, classes := absolute(t, cache+"/java"), absolute(t, cache+"/classes")
	install(t, "java/pom.xml", jars,
		"mvn", "-q", "-B", "-ntp", "-f", "java/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+jars)
	install(t, "java/Main.java", classes,
		"javac", "-encoding", "UTF-8", "-d", classes, "-cp", jars+"/*", "java/Main.java")
	for api, names := range map[string]map[string]string{"grpc": statusCodes, "rest": problems} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			play(t, names, "java", "-Dfile.encoding=UTF-8", "-XX:TieredStopAtLevel=1",
				"-cp", classes+":"+jars+"/*", "Main", api)
		})
	}
}

func TestPythonClientPlaysTheScenario(t *testing.T) {
	t.Parallel()
	packages := absolute(t, cache+"/python")
	install(t, "python/requirements.txt", packages, "python3", "-m", "pip", "install", "--quiet", "--no-deps",
		"--disable-pip-version-check", "--target", packages, "--requirement", "python/requirements.txt")
	play(t, map[string]string{
		"ProcessInvalidError":            "INVALID_ARGUMENT",
		"ProcessDefinitionNotFoundError": "NOT_FOUND",
		"ProcessInstanceNotFoundError":   "NOT_FOUND",
		"JobNotFoundError":               "NOT_FOUND",
		"MessageAlreadyExistsError":      "ALREADY_EXISTS",
		"JobAlreadyDeactivatedError":     "INVALID_STATE",
		"FAILED_PRECONDITION":            "INVALID_STATE",
	}, "env", "PYTHONPATH="+packages, "python3", "python/client.py")
}

func TestNodeClientsPlayTheScenario(t *testing.T) {
	t.Parallel()
	install(t, "node/package-lock.json", absolute(t, "node/node_modules"),
		"npm", "ci", "--prefix", "node", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
	for client, names := range map[string]map[string]string{
		"sdk.mjs grpc": statusCodes, "sdk.mjs rest": problems, "api.mjs": problems,
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			play(t, names, append([]string{"node"}, strings.Fields("node/"+client)...)...)
		})
	}
}

// install runs a package manager or a compiler that fills a directory, unless it has filled it from the
// same file.
func install(t *testing.T, file, into string, command ...string) {
	t.Helper()
	want, err := os.ReadFile(file)
	check.Must(t, err)
	done := filepath.Join(into, ".installed")
	if got, err := os.ReadFile(done); err == nil && bytes.Equal(got, want) {
		return
	}
	check.Must(t, os.RemoveAll(into))
	if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	check.Must(t, os.WriteFile(done, want, 0o600))
}

// play runs a program that plays the scenario on a cluster of its own, and checks what it reports. Nothing of the caller's
// environment reaches it: the settings of clients are those of the person who runs the tests.
func play(t *testing.T, names map[string]string, command ...string) {
	t.Helper()
	c, err := cluster.Start()
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, c.Stop()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...)
	program.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GRPC_ADDRESS=" + c.Address(), "REST_ADDRESS=" + c.RESTURL(),
		"KEYS_ADDRESS=" + serveKeys(t, c), "MODEL=" + absolute(t, "order.bpmn"),
	}
	compare(t, c, output[report](t, program), names)
}

// output runs a program and reads what it prints: a JSON value a line.
func output[T any](t *testing.T, program *exec.Cmd) (values []T) {
	t.Helper()
	var faults bytes.Buffer
	program.Stderr = &faults
	out, err := program.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", program.Args, err, out, &faults)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var v T
		check.Must(t, d.Decode(&v))
		values = append(values, v)
	}
	return values
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	check.Must(t, err)
	return path
}
