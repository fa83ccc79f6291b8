// Package devbroker brings up a real Zeebe broker on this machine, for the demo, for play and for tests, moves its
// clock and reads what it did. It is a development tool: nothing that runs in production imports it. In place of versions whose
// brokers cannot be had it runs their workflow engine in Camunda's test gateway, see test/engines.
//
// Everything a broker writes lies in one directory, everything it opens is bound to loopback and gets ports of its
// own. (One exception is the broker's own: its cluster gossip, UDP, always binds to every address.)
package devbroker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// DefaultVersion is the broker that is started when no other version is asked for.
const DefaultVersion = "8.5.8"

// Environment variables that callers and people may set.
const (
	// EnvVersion picks the broker's version, see [VersionFromEnv].
	EnvVersion = "ZEEBE_TEST_VERSION"
	// EnvSHA256 is the checksum of the distribution of that version, where it is none of those that are known.
	EnvSHA256 = "ZEEBE_TEST_SHA256"
	// EnvDistribution is where that distribution comes from: the path of a tar.gz, or Maven coordinates
	// (group:artifact:version:tar.gz). Unset, it is io.camunda:camunda-zeebe of the version.
	EnvDistribution = "ZEEBE_TEST_DISTRIBUTION"
	// EnvMainClass is what that distribution's bin/broker starts; unset, it is the one of 8.6.
	EnvMainClass = "ZEEBE_TEST_MAIN_CLASS"
	// EnvSettings are more settings of the broker of that version: NAME=value, separated by spaces.
	EnvSettings = "ZEEBE_TEST_SETTINGS"
	// EnvCache moves the cache, see [CacheDir].
	EnvCache = "ANALYZE_RETRY_CACHE"
)

// release is what differs from one version of the broker to the next.
type release struct {
	version string
	// sha256 is the checksum of the distribution, the tar.gz that Maven brings.
	sha256 string
	// mainClass is what the distribution's bin/broker starts.
	mainClass string
	// megabytes is the size of the download, for the progress line; 0 where it is not known.
	megabytes int
	// inMemory is set where the version is had as an engine in Camunda's test gateway only. It has neither checksum nor mainClass.
	inMemory bool
	// distribution is that of EnvDistribution, or what it stands for; "" for a release of the table.
	distribution string
	// settings are those of EnvSettings.
	settings []string
}

// mainClass86 is what bin/broker starts in 8.6.
const mainClass86 = "io.camunda.application.StandaloneBroker"

var releases = map[string]release{
	"8.5.8": {
		sha256:    "53ce62b008e61a87a3f7aed700065ad1352084a24c85771bc4e8300828bf95b4",
		mainClass: "io.camunda.zeebe.broker.StandaloneBroker",
		megabytes: 212,
	},
	"8.6.0": {
		sha256:    "5c699e86a6c9d290dd7b1f0b2ea648fb57fd1dacf1cab22c874219e58827ea45",
		mainClass: mainClass86,
		megabytes: 299,
	},
	"8.7.26":    {inMemory: true, megabytes: 128},
	"8.8.21":    {inMemory: true, megabytes: 132},
	"8.9.0-rc2": {inMemory: true, megabytes: 135},
}

// VersionFromEnv returns the version that ZEEBE_TEST_VERSION names, or [DefaultVersion] where it is unset or empty.
func VersionFromEnv() string {
	if v := os.Getenv(EnvVersion); v != "" {
		return v
	}
	return DefaultVersion
}

// InMemory reports whether a version is run as an engine in Camunda's test gateway: it has the workflow engine of the version, but
// keeps nothing when it ends, takes no settings and exposes no metrics but the counters of jobs. It is false for a version that is
// not known.
func InMemory(version string) bool {
	r, err := findRelease(version)
	return err == nil && r.inMemory
}

// CacheDir is where fetched brokers are kept: ANALYZE_RETRY_CACHE, or "analyze-retry" in the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory (set %s to one): %w", EnvCache, err)
	}
	return filepath.Join(base, "analyze-retry"), nil
}

func findRelease(version string) (release, error) {
	if version == "" {
		version = DefaultVersion
	}
	r, ok := releases[version]
	r.version = version
	if version == VersionFromEnv() {
		if err := r.addFromEnv(); err != nil {
			return release{}, err
		}
		ok = ok || r.distribution != ""
	}
	if !ok {
		known := slices.Sorted(maps.Keys(releases))
		return release{}, fmt.Errorf("zeebe version %q is not known here, choose one of %s; to run another, set %s to the checksum of its distribution",
			version, strings.Join(known, ", "), EnvSHA256)
	}
	return r, nil
}

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// addFromEnv adds what the environment says about the version that it names. A distribution there takes the place of one here.
func (r *release) addFromEnv() error {
	r.settings = strings.Fields(os.Getenv(EnvSettings))
	for _, setting := range r.settings {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return fmt.Errorf("%s: %q is not NAME=value", EnvSettings, setting)
		}
	}
	sum, from := os.Getenv(EnvSHA256), os.Getenv(EnvDistribution)
	switch {
	case sum == "" && from == "":
		return nil
	case !hexSHA256.MatchString(sum):
		return fmt.Errorf("%s must be the checksum of the distribution, 64 hexadecimal digits in lower case, but is %q", EnvSHA256, sum)
	case from == "":
		from = r.coordinates()
	}
	r.sha256, r.distribution, r.inMemory, r.megabytes, r.mainClass = sum, from, false, 0, mainClass86
	if r.isFile() && !filepath.IsAbs(from) {
		return fmt.Errorf("%s must be an absolute path or Maven coordinates, but is %q", EnvDistribution, from)
	}
	if class := os.Getenv(EnvMainClass); class != "" {
		r.mainClass = class
	}
	return nil
}

// isFile reports whether the distribution is a file of this machine.
func (r *release) isFile() bool {
	return strings.HasSuffix(r.distribution, ".tar.gz")
}

// coordinates are what Maven knows the distribution by.
func (r *release) coordinates() string {
	if r.distribution != "" {
		return r.distribution
	}
	return "io.camunda:camunda-zeebe:" + r.version + ":tar.gz"
}
