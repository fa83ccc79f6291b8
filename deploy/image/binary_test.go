package image_test

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// build is one run of the build stage.
type build struct{ worker, licences string }

// runStage runs the build stage's own commands on a copy of the checkout at dir.
func runStage(t *testing.T, dir string, env ...string) build {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	buildContext(t, dir)
	made := build{worker: filepath.Join(dir, "worker.out"), licences: filepath.Join(dir, "licences.out")}
	compile := buildCommand(t, "go build")
	if !strings.Contains(compile, "-o /worker ") {
		t.Fatalf("the build stage does not write /worker: %s", compile)
	}
	script := strings.Replace(compile, "-o /worker ", `-o "$WORKER" `, 1) + "\n" +
		strings.ReplaceAll(buildCommand(t, "thirdparty"), " /licenses", ` "$LICENCES"`)
	shell := exec.CommandContext(t.Context(), "sh", "-euc", script)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH, "VERSION="+version,
		"WORKER="+made.worker, "LICENCES="+made.licences, "GOFLAGS=")
	shell.Env = append(shell.Env, env...)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("the build stage fails: %v\n%s\n%s", err, script, out)
	}
	return made
}

var usual struct {
	once sync.Once
	dir  string
	made build
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		panic(err)
	}
	usual.dir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// built returns what the build stage makes, made once for all tests here.
func built(t *testing.T) build {
	t.Helper()
	usual.once.Do(func() { usual.made = runStage(t, filepath.Join(usual.dir, "src")) })
	if usual.made.worker == "" {
		t.Fatal("the build stage failed in an earlier test")
	}
	return usual.made
}

func sha256Of(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Packages that were compiled from the same bytes come from Go's cache the second time; it knows them by what went into
// them, the directory too unless -trimpath keeps that out. Linking, where version control and paths get in, is done twice.
func TestTheBinaryIsTheSameWhereverItIsBuilt(t *testing.T) {
	first := built(t)
	second := runStage(t, filepath.Join(t.TempDir(), "another", "place"), "TZ=America/Sao_Paulo", "LC_ALL=C", "GOMAXPROCS=1")
	if a, b := sha256Of(t, first.worker), sha256Of(t, second.worker); a != b {
		t.Errorf("two builds of the same sources: sha256 %s and %s", a, b)
	}
	const texts = "THIRD_PARTY_LICENSES"
	if sha256Of(t, filepath.Join(first.licences, texts)) != sha256Of(t, filepath.Join(second.licences, texts)) {
		t.Errorf("two builds write different %s", texts)
	}
}

func TestTheBinaryIsStaticAndStripped(t *testing.T) {
	file, err := elf.Open(built(t).worker)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has %v: it asks for a loader and libraries, and the image has none", p.Type)
		}
	}
	for _, s := range file.Sections {
		if s.Type == elf.SHT_SYMTAB || strings.HasPrefix(s.Name, ".debug") || strings.HasPrefix(s.Name, ".zdebug") {
			t.Errorf("the binary carries %s", s.Name)
		}
	}
}
