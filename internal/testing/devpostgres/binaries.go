package devpostgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// ErrNotInstalled is returned where no PostgreSQL server is installed.
var ErrNotInstalled = errors.New("no PostgreSQL server found in PATH, /usr/lib/postgresql/*/bin and /usr/local/bin: install it (Debian: apt-get install postgresql)")

// elsewhere are the places outside the PATH where distributions and source builds put the server.
var elsewhere = []string{"/usr/lib/postgresql/*/bin", "/usr/local/bin"}

// findBinaries returns the directory that holds both initdb and postgres: that of the PATH, or else the newest of those
// elsewhere.
func findBinaries() (string, error) {
	var found []string
	for _, pattern := range elsewhere {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		found = append(found, dirs...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return version(b) - version(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil { // the other programs may be missing where the link is
			found = slices.Insert(found, 0, filepath.Dir(initdb))
		}
	}
	for _, dir := range found {
		if isProgram(filepath.Join(dir, "initdb")) && isProgram(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrNotInstalled
}

// version is the 15 of /usr/lib/postgresql/15/bin, or 0.
func version(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// unprivileged returns whom the server runs as: nil for ourselves, and another user where we are root, because
// PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("group of user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: create one, or run this as another user")
}
