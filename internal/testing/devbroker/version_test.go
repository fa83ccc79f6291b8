package devbroker

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/test/engines"
)

// setBroker sets the variables of the environment that say which broker is under test: the version, and the others as NAME=value.
func setBroker(t *testing.T, version string, others ...string) {
	t.Helper()
	t.Setenv(EnvVersion, version)
	for _, name := range []string{EnvSHA256, EnvDistribution, EnvMainClass, EnvSettings} {
		t.Setenv(name, "")
	}
	for _, other := range others {
		name, value, _ := strings.Cut(other, "=")
		t.Setenv(name, value)
	}
}

func TestUnknownVersionListsTheKnownOnes(t *testing.T) {
	setBroker(t, "8.10.0")
	_, err := Start(t.Context(), Options{Version: "8.10.0"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`"8.10.0"`, "8.5.8, 8.6.0, 8.7.26, 8.8.21, 8.9.0-rc2", EnvSHA256} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestEnvironmentNamesADistribution(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		sha, from, class, settings string
		want                       release
	}{
		"of Maven, as those that are known": {
			sha: sum, want: release{distribution: "io.camunda:camunda-zeebe:8.10.0:tar.gz", mainClass: mainClass86},
		},
		"by other coordinates": {
			sha: sum, from: "io.camunda:camunda:8.10.0:tar.gz", class: "io.camunda.Other",
			want: release{distribution: "io.camunda:camunda:8.10.0:tar.gz", mainClass: "io.camunda.Other"},
		},
		"a file, with settings": {
			sha: sum, from: "/tmp/camunda.tar.gz", settings: " A=1\nB=x=y ",
			want: release{distribution: "/tmp/camunda.tar.gz", mainClass: mainClass86, settings: []string{"A=1", "B=x=y"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			setBroker(t, "8.10.0", EnvSHA256+"="+c.sha, EnvDistribution+"="+c.from, EnvMainClass+"="+c.class, EnvSettings+"="+c.settings)
			got, err := findRelease("8.10.0")
			check.Must(t, err)
			if got.version != "8.10.0" || got.sha256 != sum || got.distribution != c.want.distribution || got.mainClass != c.want.mainClass ||
				!slices.Equal(got.settings, c.want.settings) || got.inMemory {
				t.Errorf("got %+v", got)
			}
			if other, err := findRelease("8.6.0"); err != nil || other.distribution != "" || len(other.settings) > 0 {
				t.Errorf("another version is changed too: %+v (%v)", other, err)
			}
		})
	}
}

func TestKnownVersionTakesSettingsAndAnotherDistributionFromTheEnvironment(t *testing.T) {
	setBroker(t, "8.6.0", EnvSettings+"=A=1")
	r, err := findRelease("8.6.0")
	if err != nil || !slices.Equal(r.settings, []string{"A=1"}) || r.distribution != "" {
		t.Errorf("got %+v (%v)", r, err)
	}
	setBroker(t, "8.8.21", EnvSHA256+"="+strings.Repeat("0", 64))
	if InMemory("8.8.21") {
		t.Error("a distribution that the environment names is run as an engine in memory")
	}
}

func TestWrongEnvironmentIsRefused(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for name, c := range map[string]struct{ sha, from, settings, want string }{
		"no checksum":        {"", "/tmp/camunda.tar.gz", "", EnvSHA256},
		"a short checksum":   {"0a", "", "", EnvSHA256},
		"a relative path":    {sum, "camunda.tar.gz", "", EnvDistribution},
		"a setting, no name": {sum, "", "=1", EnvSettings},
		"a word":             {sum, "", "A=1 fast", EnvSettings},
	} {
		t.Run(name, func(t *testing.T) {
			setBroker(t, "8.10.0", EnvSHA256+"="+c.sha, EnvDistribution+"="+c.from, EnvSettings+"="+c.settings)
			if _, err := findRelease("8.10.0"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want one about %s", err, c.want)
			}
		})
	}
}

func TestDistributionOfAFileNeedsNoMaven(t *testing.T) {
	fakeMaven(t)
	dir := t.TempDir()
	check.Must(t, mavenCopy(t.Context(), "any", dir))
	path, err := onlyEntry(dir)
	check.Must(t, err)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, path))))
	onlyPrograms(t, nil)
	cache := t.TempDir()
	setBroker(t, "8.10.0", EnvSHA256+"="+sum, EnvDistribution+"="+path)
	r, err := findRelease("8.10.0")
	check.Must(t, err)
	unpacked, err := distribution(t.Context(), r, cache, nil)
	check.Must(t, err)
	if got := read(t, filepath.Join(unpacked, "lib", "zeebe.jar")); !strings.Contains(got, "classes") {
		t.Errorf("unpacked %q", got)
	}

	setBroker(t, "8.10.0", EnvSHA256+"="+strings.Repeat("0", 64), EnvDistribution+"="+path)
	r, err = findRelease("8.10.0")
	check.Must(t, err)
	if _, err := distribution(t.Context(), r, cache, nil); !errors.Is(err, errChecksum) {
		t.Errorf("another checksum: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestEveryEngineHasItsLockAndProfile(t *testing.T) {
	pom, err := engines.Module.ReadFile("pom.xml")
	check.Must(t, err)
	var inMemory []string
	for version, r := range releases {
		if !r.inMemory {
			continue
		}
		inMemory = append(inMemory, version)
		if _, err := engines.Module.ReadFile(engines.Lock(version)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(pom), "<id>"+version+"</id>") {
			t.Errorf("pom.xml has no profile %s", version)
		}
	}
	locks, err := engines.Module.ReadDir("locks")
	check.Must(t, err)
	if len(locks) != len(inMemory) {
		t.Errorf("%d locks for %d versions", len(locks), len(inMemory))
	}
}

func TestLibrariesMustBeThoseOfTheLock(t *testing.T) {
	const lock = "a85e1f1d2b1ec0ae6f8c2b4e1fd3a7b4c5d6e7f8091a2b3c4d5e6f708192a3b4  a.jar\n"
	content := "a library"
	good := fmt.Sprintf("%x  a.jar\n", sha256.Sum256([]byte(content)))
	for name, c := range map[string]struct {
		lock  string
		files []string
		want  string
	}{
		"they are":          {good, []string{"a.jar"}, ""},
		"another checksum":  {lock, []string{"a.jar"}, "a.jar has sha256"},
		"one is missing":    {good, nil, "a.jar"},
		"one is not locked": {good, []string{"a.jar", "b.jar"}, "b.jar is not"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range c.files {
				check.Must(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
			}
			_, err := verifyLock(dir, c.lock)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestEngineInMemoryTakesNoSettingsAndNoRestart(t *testing.T) {
	setBroker(t, "")
	_, err := Start(t.Context(), Options{Version: "8.8.21", Settings: []string{"A=1"}})
	if err == nil || !strings.Contains(err.Error(), "takes no settings") {
		t.Errorf("settings: %v", err)
	}
	b := Attach(State{Version: "8.8.21", InMemory: true})
	b.engine = memoryEngine{}
	if err := b.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "keeps nothing") {
		t.Errorf("restart: %v", err)
	}
}
