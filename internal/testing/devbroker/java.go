package devbroker

import (
	"context"
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

// java returns a java executable of version 21 or newer: that of JAVA_HOME, of the PATH or of /usr/lib/jvm, or else one that
// is fetched.
func java(ctx context.Context, cache string, ignoreInstalled bool, progress Progress) (string, error) {
	if !ignoreInstalled {
		installed, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is good
		for _, path := range append([]string{filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java"), "java"}, installed...) {
			if javaMajor(ctx, path) >= minJava {
				return path, nil
			}
		}
	}
	return fetchedJava(ctx, cache, progress)
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// javaMajor returns the major version that a java executable prints, 1 for those up to 8 and 0 where it is none.
func javaMajor(ctx context.Context, path string) int {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	match := javaVersion.FindSubmatch(out)
	if err != nil || match == nil {
		return 0
	}
	major, _ := strconv.Atoi(string(match[1])) // digits
	return major
}
