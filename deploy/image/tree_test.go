package image_test

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const (
	megabyte = 1 << 20
	// base is what gcr.io/distroless/static-debian12 adds by its own README ("around 2 MiB"); it cannot be had here.
	base = 2 * megabyte
	// limit is what the image may weigh in a registry.
	limit = 30 * megabyte
)

var shared struct {
	once  sync.Once
	image v1.Image
}

// ociImage returns the image, made once for all tests here.
func ociImage(t *testing.T) v1.Image {
	t.Helper()
	shared.once.Do(func() { shared.image = written(t, filepath.Join(usual.dir, "oci")) })
	if shared.image == nil {
		t.Fatal("making the image failed in an earlier test")
	}
	return shared.image
}

// written makes the image, puts it into an OCI layout at dir and reads it back from there.
func written(t *testing.T, dir string) v1.Image {
	t.Helper()
	image := finalStage(t, built(t))
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := at.AppendImage(image); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if image, err = at.Image(digest); err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Fatal(err)
	}
	return image
}

func TestTheImageIsTheSameTwice(t *testing.T) {
	first, err := ociImage(t).Digest()
	if err != nil {
		t.Fatal(err)
	}
	second, err := written(t, filepath.Join(t.TempDir(), "oci")).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("two images of the same build: %s and %s", first, second)
	}
}

// entry is a file of the unpacked image.
type entry struct {
	mode     int64
	uid, gid int
	size     int64
}

func unpacked(t *testing.T, image v1.Image, dir string) map[string]entry {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	tree := map[string]entry{}
	for archive := tar.NewReader(stream); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return tree
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(header.Name, "/")
		tree[name] = entry{header.Mode, header.Uid, header.Gid, header.Size}
		to := filepath.Join(dir, name)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(to, 0o755)
		case tar.TypeReg:
			content, failed := io.ReadAll(archive)
			err = errors.Join(failed, os.WriteFile(to, content, fs.FileMode(header.Mode)))
		default:
			t.Fatalf("%s is neither a file nor a folder", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// There is no shell, no package manager, nothing of the broker (whose licence forbids that) and nothing of the tests.
func TestTheImageHoldsTheWorkerItsLicencesAndAnEmptyDataFolder(t *testing.T) {
	tree := unpacked(t, ociImage(t), t.TempDir())
	want := []string{"data", "licenses", "licenses/LICENSE", "licenses/THIRD_PARTY_LICENSES", "licenses/licenses.csv", "worker"}
	if got := slices.Sorted(maps.Keys(tree)); !slices.Equal(got, want) {
		t.Errorf("the image holds %v, want %v", got, want)
	}
	if d := tree["data"]; d.mode&0o777 != 0o700 || d.uid != 65532 || d.gid != 65532 {
		t.Errorf("/data: %+v; want it open to 65532 only", d)
	}
	if w := tree["worker"]; w.uid != 0 || w.mode&0o022 != 0 || w.mode&0o111 == 0 || w.mode&0o6000 != 0 {
		t.Errorf("/worker: %+v; the worker must be able to run it and unable to change it", w)
	}
}

func TestTheImageStartsTheWorkerAsNobodyInParticular(t *testing.T) {
	file, err := ociImage(t).ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	user, group, _ := strings.Cut(c.User, ":")
	for _, id := range []string{user, group} {
		if n, err := strconv.Atoi(id); err != nil || n == 0 {
			t.Errorf("USER %q: Kubernetes can check runAsNonRoot by a number only, and 0 is root", c.User)
		}
	}
	if !slices.Equal(c.Entrypoint, []string{"/worker"}) || !slices.Equal(c.Cmd, []string{"run"}) {
		t.Errorf("it starts %q %q", c.Entrypoint, c.Cmd)
	}
	if _, is := c.Volumes["/data"]; !is {
		t.Errorf("volumes %v", c.Volumes)
	}
	if c.Labels["org.opencontainers.image.version"] != version || c.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" {
		t.Errorf("labels %v", c.Labels)
	}
	if from := stages(t)[1].BaseName; !strings.HasPrefix(from, "gcr.io/distroless/static-") || !strings.HasSuffix(from, ":nonroot") {
		t.Errorf("the final stage is made from %s", from)
	}
}

func TestTheWorkerTakesTheSettingsOfTheImage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("the image is one for Linux; here it was built and read, not run")
		return
	}
	image := ociImage(t)
	root := t.TempDir()
	unpacked(t, image, root)
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	worker := exec.CommandContext(t.Context(), filepath.Join(root, "worker"), "config")
	worker.Env = file.Config.Env
	worker.Dir = root
	if out, err := worker.CombinedOutput(); err != nil || !strings.Contains(string(out), "sqlite:///data/analyze-retry.db") {
		t.Errorf("worker config: %v\n%s", err, out)
	}
}

func TestTheImageWeighsUnder30MB(t *testing.T) {
	image := ociImage(t)
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	total := int64(base)
	for _, l := range layers {
		size, err := l.Size()
		if err != nil {
			t.Fatal(err)
		}
		total += size
	}
	var plain int64
	for _, e := range unpacked(t, image, t.TempDir()) {
		plain += e.size
	}
	t.Logf("%.1f MB in a registry, %.1f MB unpacked; distroless with 2 MB in both", float64(total)/1e6, float64(plain+base)/1e6)
	if total >= limit {
		t.Errorf("the image weighs %d bytes in a registry, %d allowed", total, limit)
	}
}
