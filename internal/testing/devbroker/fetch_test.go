package devbroker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// fakeMaven puts a Maven on the PATH that "fetches" a distribution of one file, and returns the release to ask for and
// the file in which every call leaves a line.
func fakeMaven(t *testing.T) (r release, calls string) {
	t.Helper()
	dir := t.TempDir()
	program(t, filepath.Join(dir, "camunda-zeebe-1.2.3", "lib", "zeebe.jar"), "classes")
	path := filepath.Join(dir, "zeebe.tar.gz")
	check.Must(t, exec.Command("tar", "-czf", path, "-C", dir, "camunda-zeebe-1.2.3").Run())
	calls = filepath.Join(t.TempDir(), "calls")
	onlyPrograms(t, map[string]string{"mvn": `
		echo "$*" >>"` + calls + `"
		for arg; do case $arg in -DoutputDirectory=*) dir=${arg#*=} ;; esac; done
		mkdir -p "$dir" && cp "` + path + `" "$dir/camunda-zeebe-1.2.3.tar.gz"`})
	sum := sha256.Sum256([]byte(read(t, path)))
	return release{version: "1.2.3", sha256: hex.EncodeToString(sum[:])}, calls
}

func TestTwoAtATimeFetchTheDistributionOnce(t *testing.T) {
	r, calls := fakeMaven(t)
	cache := filepath.Join(t.TempDir(), "cache")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			dir, err := distribution(t.Context(), r, cache, nil)
			if err != nil {
				t.Error(err)
			} else if got, err := os.ReadFile(filepath.Join(dir, "lib", "zeebe.jar")); !strings.Contains(string(got), "classes") {
				t.Errorf("unpacked %q (%v)", got, err)
			}
		})
	}
	both.Wait()
	if got := read(t, calls); strings.Count(got, "\n") != 1 || !strings.Contains(got, "-Dartifact=io.camunda:camunda-zeebe:1.2.3:tar.gz") {
		t.Errorf("calls of Maven:\n%s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "fetch-*")); len(left) > 0 {
		t.Errorf("the download is still there: %v", left)
	}
	onlyPrograms(t, nil)
	if err := canHaveDistribution(r, cache); err != nil {
		t.Errorf("without Maven, but unpacked: %v", err)
	}
}

func TestADistributionWithAnotherChecksumIsNotUnpacked(t *testing.T) {
	r, _ := fakeMaven(t)
	r.sha256 = strings.Repeat("0", 64)
	cache := t.TempDir()
	_, err := distribution(t.Context(), r, cache, nil)
	if !errors.Is(err, errChecksum) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "remove io.camunda:camunda-zeebe:1.2.3:tar.gz from the local Maven repository") {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, errUnavailable) {
		t.Error("a wrong checksum would be bypassed with Docker")
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) != 1 { // the lock
		t.Errorf("left in the cache: %v", left)
	}
}

func TestOneLineNamesWhatIsMissingAndTheRemedy(t *testing.T) {
	t.Setenv(EnvCache, t.TempDir())
	const remedy = ": install Maven (mvn) and a JDK 21+, or start a Docker engine"
	const failing = `echo "first line"; echo "ERROR: it
is broken" >&2; exit 1`
	for name, c := range map[string]struct {
		programs map[string]string
		reasons  []string
	}{
		"nothing at all":            {nil, []string{"Maven (mvn) is not on the PATH", "docker is not on the PATH"}},
		"Maven, but no Java":        {map[string]string{"mvn": ""}, []string{"no Java 21 or newer was found, nor python3", "docker"}},
		"a Java that cannot be had": {map[string]string{"mvn": "", "python3": failing}, []string{"pip could not fetch", "ERROR: it"}},
		"an engine that is off":     {map[string]string{"docker": failing}, []string{"Maven", "no Docker engine answers", "ERROR: it"}},
	} {
		t.Run(name, func(t *testing.T) {
			onlyPrograms(t, c.programs)
			_, err := Start(t.Context(), Options{IgnoreInstalledJava: true})
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range append(c.reasons, remedy) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestTheVersionOfAJavaIsRead(t *testing.T) {
	for printed, want := range map[string]int{
		`openjdk version "21.0.1" 2025-04-15`: 21, `openjdk version "25-ea"`: 25, `java version "1.8.0_392"`: 1,
		"Unable to locate a Java Runtime.": 0,
	} {
		path := filepath.Join(t.TempDir(), "java")
		program(t, path, `echo 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g
`+printed+`' >&2`)
		if got := javaMajor(t.Context(), path); got != want {
			t.Errorf("%s: got %d, want %d", printed, got, want)
		}
	}
	if got := javaMajor(t.Context(), "/no/such/java"); got != 0 {
		t.Errorf("no java at all: got %d", got)
	}
}
