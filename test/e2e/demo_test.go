package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// What `make demo` shows people, on a broker of its own.
func TestDemoGoesAsItsClaimsFileSays(t *testing.T) {
	lanes.Take(t, true)
	sandbox := filepath.Join(t.TempDir(), "sandbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", sandbox, "hospital.example/analyze-retry/cmd/sandbox")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the sandbox: %v\n%s", err, out)
	}
	demo := exec.CommandContext(t.Context(), sandbox, "demo", "--json")
	demo.Dir = "../.." // it finds examples/claims.csv and the worker's source from there
	var stderr bytes.Buffer
	demo.Stderr = &stderr
	out, err := demo.Output()
	if err != nil {
		t.Fatalf("sandbox demo: %v\n%s\n%s", err, stderr.String(), out)
	}
	var run struct {
		OK     bool
		Claims []struct {
			Claim  string
			Faults []string
		}
	}
	check.Must(t, json.Unmarshal(out, &run))
	if !run.OK || len(run.Claims) < 12 {
		t.Errorf("ok %v, %d claims, want at least 12 that all go as the file says: %+v", run.OK, len(run.Claims), run.Claims)
	}
}
