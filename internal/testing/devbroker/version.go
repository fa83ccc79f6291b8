// Package devbroker brings up a real Zeebe broker on this machine, for the demo, for play and for tests, moves its
// clock and reads what it did. It is a development tool: nothing that runs in production imports it.
//
// Everything a broker writes lies in one directory, everything it opens is bound to loopback and gets ports of its
// own. (One exception is the broker's own: its cluster gossip, UDP, always binds to every address.)
package devbroker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultVersion is the broker that is started when no other version is asked for.
const DefaultVersion = "8.5.8"

// Environment variables that callers and people may set.
const (
	// EnvVersion picks the broker's version, see [VersionFromEnv].
	EnvVersion = "ZEEBE_TEST_VERSION"
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
	// megabytes is the size of the download, for the progress line.
	megabytes int
}

var releases = map[string]release{
	"8.5.8": {
		version:   "8.5.8",
		sha256:    "53ce62b008e61a87a3f7aed700065ad1352084a24c85771bc4e8300828bf95b4",
		mainClass: "io.camunda.zeebe.broker.StandaloneBroker",
		megabytes: 212,
	},
	"8.6.0": {
		version:   "8.6.0",
		sha256:    "5c699e86a6c9d290dd7b1f0b2ea648fb57fd1dacf1cab22c874219e58827ea45",
		mainClass: "io.camunda.application.StandaloneBroker",
		megabytes: 299,
	},
}

// VersionFromEnv returns the version that ZEEBE_TEST_VERSION names, or [DefaultVersion] where it is unset or empty.
func VersionFromEnv() string {
	if v := os.Getenv(EnvVersion); v != "" {
		return v
	}
	return DefaultVersion
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
	if !ok {
		known := slices.Sorted(maps.Keys(releases))
		return release{}, fmt.Errorf("zeebe version %q is not known here, choose one of %s", version, strings.Join(known, ", "))
	}
	return r, nil
}
