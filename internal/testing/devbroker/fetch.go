package devbroker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

var (
	// errChecksum marks a download that is not the one that was pinned. There is no way round it.
	errChecksum = errors.New("wrong checksum")
	// errUnavailable marks a way to a broker that this machine does not offer, so that the next one is tried.
	errUnavailable = errors.New("not available")
)

// lockInterval is how often a lock that another process holds is tried again.
const lockInterval = 100 * time.Millisecond

// marker is a file in every unpacked directory: it is written last, so a directory with it is whole.
const marker = ".complete"

// Progress gets a line about each step that takes long. Nil is silent.
type Progress func(line string)

func (p Progress) say(format string, args ...any) {
	if p != nil {
		p(fmt.Sprintf(format, args...))
	}
}

// remindEvery is the time between two lines that say that a download is still under way.
const remindEvery = 10 * time.Second

// while runs do and says every few seconds that it still does.
func (p Progress) while(what string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(remindEvery)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			p.say("still %s (%s) ...", what, time.Since(began).Round(time.Second))
		}
	}
}

func distributionDir(r release, cache string) string {
	dir := "zeebe-" + r.version
	if r.distribution != "" {
		dir += "-" + r.sha256[:12] // the environment may name another one the next time
	}
	return filepath.Join(cache, dir)
}

// Zbctl returns the path of the command line client of a version's distribution, "" where that has not been fetched.
func Zbctl(version string) string {
	cache, err := CacheDir()
	if err != nil {
		return ""
	}
	name := "zbctl"
	if runtime.GOOS == "darwin" {
		name += ".darwin"
	}
	r, err := findRelease(version)
	if err != nil {
		return ""
	}
	path := filepath.Join(distributionDir(r, cache), "bin", name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// canHaveDistribution returns why the unpacked broker is neither there nor can be fetched.
func canHaveDistribution(r release, cache string) error {
	if isComplete(distributionDir(r, cache)) || r.isFile() {
		return nil
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return fmt.Errorf("%w: Maven (mvn) is not on the PATH", errUnavailable)
	}
	return nil
}

// distribution returns the directory of the unpacked broker, and fetches it once by Maven where it is no file of this machine.
func distribution(ctx context.Context, r release, cache string, progress Progress) (string, error) {
	dir := distributionDir(r, cache)
	return dir, fillOnce(ctx, dir, progress, func(tmp string) error {
		tarball, err := r.tarball(ctx, filepath.Join(tmp, "download"), progress)
		if err != nil {
			return err
		}
		progress.say("unpacking Zeebe %s ...", r.version)
		unpacked := filepath.Join(tmp, "unpacked")
		if err := os.Mkdir(unpacked, 0o755); err != nil {
			return err
		}
		if err := runQuietly(ctx, exec.CommandContext(ctx, "tar", "-xzf", tarball, "-C", unpacked)); err != nil {
			return fmt.Errorf("unpack %s: %w", tarball, err)
		}
		top, err := onlyEntry(unpacked)
		if err != nil {
			return err
		}
		return install(top, dir)
	})
}

// tarball returns the path of the distribution, which is fetched into a directory unless it is a file of this machine.
func (r *release) tarball(ctx context.Context, download string, progress Progress) (string, error) {
	if r.isFile() {
		return r.distribution, verify(r.distribution, r.sha256)
	}
	size := ""
	if r.megabytes > 0 {
		size = fmt.Sprintf("%d MB, ", r.megabytes)
	}
	progress.say("fetching Zeebe %s (%sonce) ...", r.version, size)
	if err := progress.while("fetching", func() error { return mavenCopy(ctx, r.coordinates(), download) }); err != nil {
		return "", err
	}
	path, err := onlyEntry(download)
	if err != nil {
		return "", err
	}
	if err := verify(path, r.sha256); err != nil {
		return "", fmt.Errorf("%w; remove %s from the local Maven repository and try again", err, r.coordinates())
	}
	return path, nil
}

// mavenPlugin is the one that fetches, of a version that is pinned.
const mavenPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

// mavenCopy lets Maven copy one artifact into dir.
func mavenCopy(ctx context.Context, artifact, dir string) error {
	err := runQuietly(ctx, exec.CommandContext(ctx, "mvn", "-B", "-q",
		mavenPlugin+":copy", "-Dartifact="+artifact, "-DoutputDirectory="+dir))
	if err != nil {
		return fmt.Errorf("%w: maven could not fetch %s: %w", errUnavailable, artifact, err)
	}
	return nil
}

// verify compares a file with its pinned checksum.
func verify(path, sha string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != sha {
		return fmt.Errorf("%w: %s has sha256 %s, expected %s", errChecksum, filepath.Base(path), got, sha)
	}
	return nil
}

// fillOnce makes dir complete by calling fill with a temporary directory; it does nothing if dir is complete. A lock keeps
// two processes that need the same download from fetching it twice. The temporary directory is removed afterwards, with
// whatever was downloaded into it.
func fillOnce(ctx context.Context, dir string, progress Progress, fill func(tmp string) error) error {
	if isComplete(dir) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make the cache directory: %w", err)
	}
	lock := flock.New(dir + ".lock")
	defer lock.Close()
	locked, err := lock.TryLock()
	if err == nil && !locked {
		progress.say("waiting for another process that is filling the cache ...")
		_, err = lock.TryLockContext(ctx, lockInterval)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if isComplete(dir) {
		return nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "fetch-")
	if err != nil {
		return fmt.Errorf("make a directory in the cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	return fill(tmp)
}

// install marks an unpacked directory as whole and moves it to its place in one step.
func install(unpacked, dir string) error {
	if err := os.WriteFile(filepath.Join(unpacked, marker), nil, 0o644); err != nil {
		return fmt.Errorf("mark what was unpacked: %w", err)
	}
	// What lies there without a marker was left by something else than us; it would stop the rename.
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clear the place in the cache: %w", err)
	}
	if err := os.Rename(unpacked, dir); err != nil {
		return fmt.Errorf("move into the cache: %w", err)
	}
	return nil
}

func isComplete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, marker))
	return err == nil
}

func onlyEntry(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("expected one file or directory in %s, found %d", dir, len(entries))
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// runQuietly runs a program that is expected to be silent. Its error is one line: the first that looks like one.
func runQuietly(ctx context.Context, cmd *exec.Cmd) error {
	// A script that is stopped may leave a child behind that keeps the output open.
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %s", err, firstComplaint(string(out)))
}

// firstComplaint picks the line of a program's output that says what went wrong.
func firstComplaint(out string) string {
	last := "it printed nothing"
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.Contains(strings.ToLower(line), "error") {
			return line
		}
		if line != "" {
			last = line
		}
	}
	return last
}
