// Package deploytest holds what the tests of this module share.
package deploytest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var root = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))), err
})

// Path returns a path of the checkout, by its path from the top.
func Path(t *testing.T, path string) string {
	t.Helper()
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(top, path)
}

// Read returns the content of a file of the checkout, by its path from the top.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(Path(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Write writes a file that only its owner can read, and the directories above it.
func Write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Run runs a program in a directory and returns all that it prints. Debian's package is named if the program is missing.
func Run(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil && name == "promtool" {
		t.Fatal("promtool is missing (Debian: apt-get install --no-install-recommends prometheus)")
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Worker builds the worker as a release does and returns the path of the binary.
func Worker(t *testing.T) string { t.Helper(); return Build(t, "worker") }

// Build builds a program of cmd as a release does and returns the path of the binary.
func Build(t *testing.T, program string) string {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	path := filepath.Join(t.TempDir(), program)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags", "-s -w", "-o", path, "./cmd/" + program}
	if out, err := Run(t, Path(t, ""), "go", args...); err != nil {
		t.Fatalf("build %s: %v\n%s", program, err, out)
	}
	return path
}

// KeyPair returns a new Ed25519 key and a certificate that it signed itself, as PEM.
func KeyPair(t *testing.T) (key, certificate string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"retry.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
