package devpostgres

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

//go:embed testdata/small.txz
var small []byte

// offer serves an archive and makes it the expected one. The returned number is that of its downloads.
func offer(t *testing.T) (repository string, downloads *atomic.Int32) {
	t.Helper()
	var jar bytes.Buffer
	pack := zip.NewWriter(&jar)
	file, err := pack.Create("postgres-test.txz")
	check.Must(t, err)
	_, err = file.Write(small)
	check.Must(t, err, pack.Close())

	platform := runtime.GOOS + "/" + runtime.GOARCH
	before := archives[platform]
	archives[platform] = archive{"test", fmt.Sprintf("%x", sha256.Sum256(jar.Bytes()))}
	t.Cleanup(func() { archives[platform] = before })
	downloads = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		downloads.Add(1)
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, downloads
}

func TestManyProcessesFetchOnce(t *testing.T) {
	repository, downloads := offer(t)
	cache := filepath.Join(t.TempDir(), "cache")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			bin, err := fetched(t.Context(), cache, repository)
			check.Must(t, err)
			for _, name := range []string{"initdb", "postgres", "../lib/libpq.so", "../share/postgresql/postgresql.conf.sample"} {
				if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := downloads.Load(); n != 1 {
		t.Errorf("it was downloaded %d times", n)
	}
}

func TestWhatAnInterruptedRunLeftIsReplaced(t *testing.T) {
	repository, _ := offer(t)
	cache := t.TempDir()
	bin, err := fetched(t.Context(), cache, repository)
	check.Must(t, err, os.Remove(filepath.Join(bin, "postgres")), os.MkdirAll(filepath.Dir(bin)+".part/bin", 0o755))
	again, err := fetched(t.Context(), cache, repository)
	check.Must(t, err)
	if again != bin || !isProgram(filepath.Join(bin, "postgres")) {
		t.Errorf("there is no server in %s", again)
	}
}

func TestAnotherArchiveIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(small) }))
	defer server.Close()
	cache := t.TempDir()
	_, err := fetched(t.Context(), cache, server.URL)
	check.Fails(t, err, "sha256 is")
	if left, err := filepath.Glob(cache + "/*/*"); len(left) > 0 || err != nil {
		t.Errorf("it left %v, %v", left, err)
	}
}
