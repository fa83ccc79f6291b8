package image_test

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// finalStage is what the last stage of the Dockerfile says. It knows the few instructions that stand there.
type finalStage struct {
	base, user string
	copies     map[string]string // from the build stage, by where they go, with the owner if it is not root
	env        []string
	health     []string // the command of the health check, after its kind
}

func readFinalStage(t *testing.T) finalStage {
	t.Helper()
	last := stages(t)[1]
	s := finalStage{base: last.BaseName, copies: map[string]string{}}
	for _, command := range last.Commands {
		switch c := command.(type) {
		case *instructions.ArgCommand, *instructions.LabelCommand, *instructions.VolumeCommand, *instructions.ExposeCommand,
			*instructions.EntrypointCommand, *instructions.CmdCommand:
		case *instructions.CopyCommand:
			if len(c.SourcePaths) != 1 || c.From != "build" {
				t.Fatalf("COPY of something that the test does not know: %s", c)
			}
			s.copies[c.DestPath] = strings.TrimSpace(c.SourcePaths[0] + " " + c.Chown)
		case *instructions.HealthCheckCommand:
			s.health = c.Health.Test
		case *instructions.UserCommand:
			s.user = c.User
		case *instructions.EnvCommand:
			for _, e := range c.Env {
				s.env = append(s.env, e.Key+"="+e.Value)
			}
		default: // so that nothing is passed over
			t.Fatalf("the final stage has an instruction that the test does not know: %T", c)
		}
	}
	return s
}

// There is no shell, no package manager, nothing of the broker (whose licence forbids that) and nothing of the tests.
func TestTheImageHoldsWorkerLicencesAndDataFolder(t *testing.T) {
	want := map[string]string{"/worker": "/worker", "/licenses": "/licenses", "/data": "/data 65532:65532"}
	if diff := cmp.Diff(want, readFinalStage(t).copies); diff != "" {
		t.Errorf("what is copied (-want +got):\n%s", diff)
	}
	if data := buildCommand(t, "/data"); data != "mkdir --mode=0700 /data" {
		t.Errorf("/data is not empty and open to its owner only: %s", data)
	}
	made := built(t)
	var licences []string
	entries, err := os.ReadDir(made.licences)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		licences = append(licences, entry.Name())
	}
	if want := []string{"LICENSE", "THIRD_PARTY_LICENSES", "licenses.csv"}; !slices.Equal(licences, want) {
		t.Errorf("the image holds the licences %v, want %v", licences, want)
	}
	if info, err := os.Stat(made.worker); err != nil || info.Mode()&0o022 != 0 || info.Mode()&0o111 == 0 || info.Mode()&os.ModeSetuid != 0 {
		t.Errorf("/worker: %v, %v; the worker must be able to run it and unable to change it", info.Mode(), err)
	}
}

func TestTheImageStartsTheWorkerAsNobodyInParticular(t *testing.T) {
	s := readFinalStage(t)
	user, group, _ := strings.Cut(s.user, ":")
	for _, id := range []string{user, group} {
		if n, err := strconv.Atoi(id); err != nil || n == 0 {
			t.Errorf("USER %q: Kubernetes can check runAsNonRoot by a number only, and 0 is root", s.user)
		}
	}
	if !strings.HasPrefix(s.base, "gcr.io/distroless/static-") || !strings.HasSuffix(s.base, ":nonroot") {
		t.Errorf("the final stage is made from %s", s.base)
	}
}

func TestTheWorkerTakesTheSettingsOfTheImage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("the image is one for Linux; here it was built and read, not run")
		return
	}
	for want, command := range map[string]string{version: "version", "sqlite:///data/analyze-retry.db": "config"} {
		worker := exec.CommandContext(t.Context(), built(t).worker, command)
		worker.Env, worker.Dir = readFinalStage(t).env, t.TempDir()
		if out, err := worker.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("worker %s: %v\n%s", command, err, out)
		}
	}
	// The health check finds no worker where none runs.
	health := readFinalStage(t).health
	if len(health) != 3 || health[0] != "CMD" || health[1] != "/worker" {
		t.Fatalf("the health check is %q", health)
	}
	worker := exec.CommandContext(t.Context(), built(t).worker, health[2])
	worker.Env = append(readFinalStage(t).env, "RETRY_HTTP_ADDRESS=127.0.0.1:1")
	if out, err := worker.CombinedOutput(); err == nil || !strings.Contains(string(out), "no worker answers") {
		t.Errorf("worker %s: %v\n%s", health[2], err, out)
	}
}

// An engine packs layers with gzip.
func TestTheImageWeighsUnder30MB(t *testing.T) {
	// What gcr.io/distroless/static-debian12 adds by its own README ("around 2 MiB"); it cannot be had here.
	var packed counter = 2 << 20
	archive := gzip.NewWriter(&packed)
	files, err := filepath.Glob(filepath.Join(built(t).licences, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, built(t).worker) {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := io.Copy(archive, file); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB in a registry, distroless with 2 MB", float64(packed)/1e6)
	if packed >= 30<<20 {
		t.Errorf("the image weighs %d bytes in a registry, 30 MiB allowed", packed)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
