//go:build clients

package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	jars := absolute(t, cache+"/java")
	install(t, "java/pom.xml", jars,
		"mvn", "-q", "-B", "-ntp", "-f", "java/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+jars)
	for api, names := range map[string]map[string]string{"grpc": statusCodes, "rest": problems} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			play(t, names, "java", "-cp", jars+"/*", "java/Main.java", api)
		})
	}
}

// install runs a package manager that fills a directory, unless it has done so for the same list of packages.
func install(t *testing.T, list, into string, command ...string) {
	t.Helper()
	want, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	done := filepath.Join(into, ".installed")
	if got, err := os.ReadFile(done); err == nil && bytes.Equal(got, want) {
		return
	}
	if err := os.RemoveAll(into); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	if err := os.WriteFile(done, want, 0o600); err != nil {
		t.Fatal(err)
	}
}

// play runs a program that plays the scenario on a cluster of its own, and checks what it reports.
func play(t *testing.T, names map[string]string, command ...string) {
	t.Helper()
	c := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	program := exec.CommandContext(ctx, command[0], command[1:]...)
	program.Env = append(os.Environ(), "GRPC_ADDRESS="+c.Address(), "REST_ADDRESS="+c.RESTURL(),
		"KEYS_ADDRESS="+serveKeys(t, c), "MODEL="+absolute(t, "order.bpmn"))
	var faults bytes.Buffer
	program.Stderr = &faults
	out, err := program.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, &faults)
	}
	var reports []report
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v wrote %q: %v", command, lines.Text(), err)
		}
		reports = append(reports, r)
	}
	check(t, c, reports, names)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
