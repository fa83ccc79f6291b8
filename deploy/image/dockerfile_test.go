// Package image_test builds what deploy/Dockerfile describes, without a container engine, and looks at the result.
package image_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

const (
	top        = "../.."
	dockerfile = "../Dockerfile"
	// version stands for the tag of a release.
	version = "v0.0.0-test"
)

// stages returns the stages of the Dockerfile, read by BuildKit's own parser.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.Open(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Name != "build" {
		t.Fatalf("%s has other stages than build and the final one: %v", dockerfile, found)
	}
	return found
}

// buildCommand returns the shell command of the build stage that holds a text.
func buildCommand(t *testing.T, part string) string {
	t.Helper()
	for _, c := range stages(t)[0].Commands {
		if run, is := c.(*instructions.RunCommand); is && strings.Contains(strings.Join(run.CmdLine, " "), part) {
			return strings.Join(run.CmdLine, " ")
		}
	}
	t.Fatalf("no RUN of the build stage holds %q", part)
	return ""
}

// buildContext copies to dir what an engine would send to the build: the checkout without what .dockerignore leaves out.
func buildContext(t *testing.T, dir string) []string {
	t.Helper()
	ignored, err := os.Open(filepath.Join(top, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	defer ignored.Close()
	patterns, err := ignorefile.ReadAll(ignored)
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	var copied []string
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil || name == "." {
			return err
		}
		// Nothing below these is let in; they are large.
		if entry.IsDir() && slices.Contains([]string{".git", ".cache", "node_modules"}, entry.Name()) {
			return fs.SkipDir
		}
		if left, err := matcher.MatchesOrParentMatches(filepath.ToSlash(name)); err != nil || left || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		copied = append(copied, filepath.ToSlash(name))
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestTheBuildGetsSourcesOnly(t *testing.T) {
	files := buildContext(t, t.TempDir())
	for _, name := range files {
		switch {
		case strings.HasSuffix(name, "_test.go"), strings.Contains(name, "testdata/"), strings.HasSuffix(name, ".db"),
			strings.HasSuffix(name, ".key"), strings.HasPrefix(filepath.Base(name), "."):
			t.Errorf("%s is sent to the build", name)
		}
	}
	if !slices.Contains(files, "go.mod") || len(files) < 50 {
		t.Errorf("%d files are sent to the build", len(files))
	}
}
