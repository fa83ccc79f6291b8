package devbroker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hospital.example/analyze-retry/test/engines"
)

// memoryEngine runs the workflow engine of a version in Camunda's test gateway: what can be had of versions whose brokers cannot.
// It has one partition, keeps nothing over a restart, and takes none of a broker's settings.
type memoryEngine struct {
	java, dir string
}

func prepareMemory(ctx context.Context, r release, cache string, o Options) (engine, error) {
	if len(o.Settings)+len(r.settings) > 0 {
		return nil, fmt.Errorf("the engine of %s runs in Camunda's test gateway, which takes no settings of a broker", r.version)
	}
	dir, err := memoryDir(r, cache)
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("mvn"); err != nil && !isComplete(dir) {
		return nil, fmt.Errorf("no way to run the engine of Zeebe %s: install Maven (mvn)", r.version)
	}
	path, err := java(ctx, cache, o.IgnoreInstalledJava, o.Progress)
	if err != nil {
		return nil, err
	}
	return memoryEngine{java: path, dir: dir}, buildMemory(ctx, r, dir, path, o.Progress)
}

// memoryDir returns where the program of a version is kept. Another source, or another choice of libraries, makes another program.
func memoryDir(r release, cache string) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(engines.Module, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "locks/") && path != engines.Lock(r.version) {
			return err
		}
		content, err := fs.ReadFile(engines.Module, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return filepath.Join(cache, fmt.Sprintf("engine-%s-%x", r.version, sum.Sum(nil)[:6])), err
}

// buildMemory fetches the libraries by Maven, once, and compiles the program. The compiler is one of the libraries and runs on the
// same Java as the engine, which need not be a JDK.
func buildMemory(ctx context.Context, r release, dir, java string, progress Progress) error {
	return fillOnce(ctx, dir, progress, func(tmp string) error {
		module, built := filepath.Join(tmp, "module"), filepath.Join(tmp, "built")
		if err := os.CopyFS(module, engines.Module); err != nil {
			return fmt.Errorf("write the module: %w", err)
		}
		progress.say("fetching the engine of Zeebe %s (%d MB, once) ...", r.version, r.megabytes)
		lib := filepath.Join(built, "lib")
		fetch := exec.CommandContext(ctx, "mvn", "-B", "-q", "-f", filepath.Join(module, "pom.xml"), "-P", r.version,
			mavenPlugin+":copy-dependencies", "-DoutputDirectory="+lib)
		if err := progress.while("fetching", func() error { return runQuietly(ctx, fetch) }); err != nil {
			return fmt.Errorf("maven could not fetch the engine of Zeebe %s: %w", r.version, err)
		}
		lock, err := fs.ReadFile(engines.Module, engines.Lock(r.version))
		if err != nil {
			return err
		}
		jars, err := verifyLock(lib, string(lock))
		if err != nil {
			return fmt.Errorf("%w; remove that library from the local Maven repository and try again", err)
		}
		compile := exec.CommandContext(ctx, java, "-classpath", filepath.Join(lib, "*"), "org.eclipse.jdt.internal.compiler.batch.Main",
			"-source", "21", "-target", "21", "-proc:none", "-nowarn", "-classpath", strings.Join(jars, ":"),
			"-d", filepath.Join(built, "classes"), filepath.Join(module, engines.Sources))
		if err := runQuietly(ctx, compile); err != nil {
			return fmt.Errorf("compile the program of test/engines: %w", err)
		}
		return install(built, dir)
	})
}

// verifyLock returns the paths of the files in a directory, which must be those of the lock and no others.
func verifyLock(dir, lock string) (paths []string, err error) {
	locked := map[string]bool{}
	for line := range strings.Lines(lock) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		path := filepath.Join(dir, name)
		if err := verify(path, sum); err != nil {
			return nil, err
		}
		locked[name] = true
		paths = append(paths, path)
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !locked[entry.Name()] {
			err = errors.Join(err, fmt.Errorf("%w: %s is not among the libraries of the lock", errChecksum, entry.Name()))
		}
	}
	return paths, err
}

func (e memoryEngine) command(i State) *exec.Cmd {
	args := append(strings.Fields(javaOptions),
		"-Djava.io.tmpdir="+filepath.Join(i.Dir, "tmp"),
		"-Ddevbroker.dir="+i.Dir,
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-classpath", filepath.Join(e.dir, "classes")+":"+filepath.Join(e.dir, "lib", "*"),
		engines.MainClass,
		fmt.Sprint("gateway=", i.Ports.Gateway), fmt.Sprint("monitoring=", i.Ports.Monitoring),
		fmt.Sprint("rest=", i.Ports.REST), fmt.Sprint("command=", i.Ports.Command))
	if i.Records {
		args = append(args, "records="+recordsPath(i))
	}
	cmd := exec.Command(e.java, args...)
	cmd.Dir = i.Dir
	cmd.Env = inherited()
	return cmd
}

func (memoryEngine) ports(gateway, monitoring, rest int) (Ports, error) {
	return pickPorts(gateway, monitoring, rest)
}

func (memoryEngine) container(State) string { return "" }
