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
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	embedded "github.com/fergusstrange/embedded-postgres"

	"hospital.example/analyze-retry/internal/testing/check"
)

//go:embed testdata/small.txz
var small []byte

// offer serves an archive. The returned number is that of its downloads.
func offer(t *testing.T) (config embedded.Config, downloads *atomic.Int32) {
	t.Helper()
	var jar bytes.Buffer
	pack := zip.NewWriter(&jar)
	file, err := pack.Create("postgres-test.txz")
	check.Must(t, err)
	_, err = file.Write(small)
	check.Must(t, err, pack.Close())
	downloads = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".jar") {
			http.NotFound(w, r)
			return
		}
		downloads.Add(1)
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return embedded.DefaultConfig().BinaryRepositoryURL(server.URL), downloads
}

func TestManyProcessesFetchOnceAndReplaceWhatAnInterruptedRunLeft(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	defer func(before string) { archives[platform] = before }(archives[platform])
	archives[platform] = fmt.Sprintf("%x", sha256.Sum256(small))
	config, downloads := offer(t)
	cache := filepath.Join(t.TempDir(), "cache")
	fetch := func() {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				bin, err := fetched(t.Context(), cache, config)
				check.Must(t, err)
				for _, name := range []string{"initdb", "postgres", "../lib/libpq.so", "../share/postgresql/postgresql.conf.sample"} {
					if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	fetch()
	check.Same(t, 1, downloads.Load(), "downloads")
	programs, err := filepath.Glob(cache + "/*/bin")
	check.Must(t, err, os.Remove(filepath.Join(programs[0], "postgres")), os.MkdirAll(filepath.Dir(programs[0])+".part/whole", 0o755))
	fetch()
	check.Same(t, 2, downloads.Load(), "downloads")
}

func TestAnotherArchiveIsRefused(t *testing.T) {
	config, _ := offer(t)
	cache := t.TempDir()
	_, err := fetched(t.Context(), cache, config)
	check.Fails(t, err, "sha256 is")
	if left, err := filepath.Glob(cache + "/*/*"); len(left) > 0 || err != nil {
		t.Errorf("it left %v, %v", left, err)
	}
}
