package chaos

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"hospital.example/analyze-retry/test/suite"
)

// previous is the commit of the older worker of row 33: the last one before policies became data, and the events and the
// decisions' explanations got their second version. Its schema of PostgreSQL is the present one, that of SQLite is not: it
// must refuse a file that the newer worker has opened. Once both have changed, the rows that take turns have to say so.
const previous = "ca0ed54df661a5396bf1bb9a91b7e4876fc5ec55"

// previousWorker returns the older worker's binary, built from this repository's own history with the points at which a
// row can break it. It is built once; .cache keeps it.
func (r *rig) previousWorker() string {
	r.Helper()
	path, err := buildPrevious()
	if err != nil {
		r.Fatalf("build the worker of commit %.12s: %v", previous, err)
	}
	return path
}

var buildPrevious = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), suite.SetupTimeout)
	defer cancel()
	run := func(dir string, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
		return strings.TrimSpace(string(out)), err
	}
	root, err := run(".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "worker-"+previous[:12])
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := run(root, "git", "cat-file", "-e", previous+"^{commit}"); err != nil {
		return "", fmt.Errorf("it is not in this clone, which may be a shallow one (get the rest by: git fetch --unshallow): %w", err)
	}
	dir, err := os.MkdirTemp("", "previous-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	// A clone of its own, which borrows the history, leaves no trace in this one.
	source, built := filepath.Join(dir, "source"), path+fmt.Sprint(".", os.Getpid())
	for _, step := range [][]string{
		{root, "git", "clone", "--quiet", "--shared", "--no-checkout", root, source},
		{source, "git", "checkout", "--quiet", "--detach", previous},
		{source, "go", "build", "-tags", "faults", "-buildvcs=false", "-o", built, "./cmd/worker"},
	} {
		if _, err := run(step[0], step[1], step[2:]...); err != nil {
			return "", err
		}
	}
	return path, os.Rename(built, path) // another process may be building it too
})
