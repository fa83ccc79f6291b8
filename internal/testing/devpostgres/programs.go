package devpostgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// elsewhere are the places outside the PATH where distributions and source builds put the server.
var elsewhere = []string{"/usr/lib/postgresql/*/bin", "/usr/local/bin"}

// Programs returns the directory of the programs that servers are started from: those of an installed PostgreSQL, or
// else those that were fetched. Where neither is there it fetches them.
func Programs(ctx context.Context) (bin string, err error) {
	if bin, err = installed(elsewhere); bin != "" || err != nil {
		return bin, err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	if bin, err = fetched(ctx, cache, repository()); err != nil {
		return "", fmt.Errorf("no PostgreSQL is installed (Debian: apt-get install postgresql), and fetching one failed: %w", err)
	}
	return bin, nil
}

// installed returns the directory that holds both initdb and postgres: that of the PATH, or else the newest of those
// that match the patterns. It returns "" where there is none.
func installed(patterns []string) (string, error) {
	var found []string
	for _, pattern := range patterns {
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
	return "", nil
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

// cacheDir returns where a fetched PostgreSQL is kept: the user's cache, but for root that of the system, because the
// server runs as another user, who may not read root's.
func cacheDir() (string, error) {
	if os.Getuid() == 0 {
		return "/var/cache/analyze-retry", nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for PostgreSQL: %w", err)
	}
	return filepath.Join(base, "analyze-retry"), nil
}
