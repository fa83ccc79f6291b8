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
	"testing"

	embedded "github.com/fergusstrange/embedded-postgres"

	"hospital.example/analyze-retry/internal/testing/check"
)

//go:embed testdata/small.txz
var small []byte

// offer serves an archive.
func offer(t *testing.T) embedded.Config {
	t.Helper()
	var jar bytes.Buffer
	pack := zip.NewWriter(&jar)
	file, err := pack.Create("postgres-test.txz")
	check.Must(t, err)
	_, err = file.Write(small)
	check.Must(t, err, pack.Close())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".jar") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return embedded.DefaultConfig().BinaryRepositoryURL(server.URL)
}

func TestManyProcessesFetchWholeOnes(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	defer func(before string) { archives[platform] = before }(archives[platform])
	archives[platform] = fmt.Sprintf("%x", sha256.Sum256(small))
	config, cache := offer(t), filepath.Join(t.TempDir(), "cache")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			bin, err := fetched(cache, config)
			check.Must(t, err)
			for _, name := range []string{"initdb", "postgres", "../lib/libpq.so", "../share/postgresql/postgresql.conf.sample"} {
				if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(cache)
	check.Must(t, err)
	check.Same(t, 1, len(left), "what is in the cache: %v", left)
}

func TestAnotherArchiveIsRefused(t *testing.T) {
	cache := t.TempDir()
	_, err := fetched(cache, offer(t))
	check.Fails(t, err, "sha256 is")
	left, err := os.ReadDir(cache)
	check.Must(t, err)
	check.Same(t, 0, len(left), "what is in the cache: %v", left)
}
