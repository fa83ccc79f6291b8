package devpostgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
	"github.com/gofrs/flock"
	"github.com/xi2/xz"
)

// fetchedVersion is the version that is fetched where none is installed.
const fetchedVersion = "18.3.0"

// archive is a build of PostgreSQL without its documents and clients: a tar.xz in a jar.
type archive struct {
	// platform is the system in the archive's name.
	platform string
	sha256   string
}

// archives are those of fetchedVersion, by GOOS/GOARCH.
var archives = map[string]archive{
	"linux/amd64":  {"linux-amd64", "1974c3a59c3ae010e9818e81637e425aad94eaac26e4ef533b42e081fe7ca345"},
	"linux/arm64":  {"linux-arm64v8", "1fb555a6602c13a113ab1f0cc9224d599948e85e51ac5f001393605505eaf78e"},
	"darwin/amd64": {"darwin-amd64", "cb68c57232945f5e74db946e6077d70cec56bfed35959b21acc750cc80ca0977"},
	"darwin/arm64": {"darwin-arm64v8", "a18ec9ec6a905e04f5a08a8f7870bddadd635feb54dee332a3daf80fada3cb1a"},
}

const (
	// fetchTimeout bounds the download, and the wait for another process that downloads.
	fetchTimeout = 10 * time.Minute
	// lockInterval is how often a lock that another process holds is tried again.
	lockInterval = 100 * time.Millisecond
	// largest is the most bytes that a download may have.
	largest = 100 << 20
)

// fetched returns the directory of the programs of a PostgreSQL in the cache, and fetches it where it is not there. Any
// number of processes may ask at the same time: one fetches, and none sees half of it.
func fetched(ctx context.Context, cache, repository string) (bin string, err error) {
	a, ok := archives[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("there is none for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	dir := filepath.Join(cache, "postgres-"+fetchedVersion+"-"+a.sha256[:12])
	bin = filepath.Join(dir, "bin")
	if isProgram(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	// The server's user is let in whatever the umask is.
	if err := errors.Join(os.MkdirAll(cache, 0o755), os.Chmod(cache, 0o755)); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	defer lock.Close()
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if isProgram(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	content, err := a.download(ctx, repository)
	if err != nil {
		return "", err
	}
	return bin, install(content, dir)
}

// repository returns the address of the repository that has the archives. The library knows it but does not export it.
// The library itself is of no use here: it starts what it fetched before we could compare the checksum, and it does so as
// root, which PostgreSQL refuses.
func repository() string {
	return reflect.ValueOf(embedded.DefaultConfig()).FieldByName("binaryRepositoryURL").String()
}

// download returns the archive once its checksum is as expected.
func (a archive) download(ctx context.Context, repository string) ([]byte, error) {
	name := "embedded-postgres-binaries-" + a.platform
	url := fmt.Sprintf("%s/io/zonky/test/postgres/%s/%s/%[2]s-%[3]s.jar", repository, name, fetchedVersion)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s", url, resp.Status)
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, largest))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", url, err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != a.sha256 {
		return nil, fmt.Errorf("get %s: sha256 is %s, want %s", url, got, a.sha256)
	}
	return content, nil
}

// install unpacks the archive and moves it to its place in one step. The caller holds the lock.
func install(archive []byte, dir string) error {
	unpacked := dir + ".part"
	// What is left of an interrupted run would be in the way.
	if err := errors.Join(os.RemoveAll(unpacked), os.RemoveAll(dir), os.Mkdir(unpacked, 0o755)); err != nil {
		return err
	}
	if err := unpack(archive, unpacked); err != nil {
		return fmt.Errorf("unpack PostgreSQL in %s: %w", unpacked, err)
	}
	return os.Rename(unpacked, dir)
}

// unpack writes the files of the tar.xz in the jar. Everybody can read them, whatever the umask is.
func unpack(jar []byte, dir string) error {
	files, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return err
	}
	inner, err := fs.Glob(files, "*.txz")
	if err != nil {
		return err
	}
	if len(inner) != 1 {
		return fmt.Errorf("want one .txz in the jar, got %d", len(inner))
	}
	packed, err := files.Open(inner[0])
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := xz.NewReader(packed, 0)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := untar(tar.NewReader(plain), root); err != nil {
		return err
	}
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = root.Chmod(name, 0o755)
		}
		return err
	})
}

func untar(files *tar.Reader, root *os.Root) error {
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(header.Name), 0o755); err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeReg:
			err = write(root, header, files)
		case tar.TypeSymlink:
			err = root.Symlink(header.Linkname, header.Name)
		case tar.TypeDir:
			err = root.MkdirAll(header.Name, 0o755)
		default:
			err = fmt.Errorf("%s is no file, link or directory", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

func write(root *os.Root, header *tar.Header, content io.Reader) error {
	file, err := root.Create(header.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Chmod(header.FileInfo().Mode().Perm()), file.Close())
}
