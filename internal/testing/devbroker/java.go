package devbroker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// minJava is the oldest Java that runs the broker.
const minJava = 21

// probeTimeout bounds one "java -version"; a healthy one takes a tenth of a second.
const probeTimeout = 20 * time.Second

// usualJVMs are the places, as patterns, where Linux and macOS keep their JVMs; "~" is the home directory.
var usualJVMs = []string{
	"/usr/lib/jvm/*/bin/java",
	"/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
	"~/.sdkman/candidates/java/*/bin/java",
	"/opt/java/*/bin/java",
}

// java returns a java executable of version 21 or newer: an installed one, or else one that is fetched.
func java(ctx context.Context, cache string, ignoreInstalled bool, progress Progress) (string, error) {
	if !ignoreInstalled {
		if path := installedJava(ctx, javaCandidates(usualJVMs)); path != "" {
			return path, nil
		}
	}
	return fetchedJava(ctx, cache, progress)
}

// javaCandidates lists the java executables of this machine, in the order in which they are tried.
func javaCandidates(patterns []string) []string {
	var found []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		found = append(found, filepath.Join(home, "bin", "java"))
	}
	if path, err := exec.LookPath("java"); err == nil {
		found = append(found, path)
	}
	home, homeErr := os.UserHomeDir()
	for _, pattern := range patterns {
		if pattern[0] == '~' {
			if homeErr != nil {
				continue
			}
			pattern = home + pattern[1:]
		}
		// Glob fails only on a malformed pattern, and these are ours.
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	return found
}

// installedJava returns the first candidate that is new enough, or "".
func installedJava(ctx context.Context, candidates []string) string {
	seen := map[string]bool{}
	for _, path := range candidates {
		target, err := filepath.EvalSymlinks(path)
		if err != nil || seen[target] {
			continue
		}
		seen[target] = true
		if major, err := javaMajor(ctx, path); err == nil && major >= minJava {
			return path
		}
	}
	return ""
}

var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// javaMajor returns the major version that a java executable prints. Until 8 it was written 1.8.
func javaMajor(ctx context.Context, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run %s -version: %w", path, err)
	}
	match := javaVersion.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("no version in the output of java: %q", firstComplaint(string(out)))
	}
	return strconv.Atoi(string(match[1]))
}
