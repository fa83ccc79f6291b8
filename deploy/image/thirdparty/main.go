// Command thirdparty writes the licence texts of everything that the worker's binary holds besides our own code. They go
// along in the image and in the archives of a release, as these licences ask.
//
//	go run deploy/image/thirdparty/main.go > THIRD_PARTY_LICENSES
//
// from the top of a checkout. It needs nothing but Go, so that the image's build stage can run it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those that the worker is built for. What one of them alone links is told for all, so there is one text.
var systems = []string{"linux", "darwin", "windows"}

// std is the name under which Go's runtime and standard library stand; they are in every binary.
const std = "std"

// module is what is linked of one module. Path is its import path, or std; Dir holds its files.
type module struct{ Path, Version, Dir string }

// licenceFile matches the names under which licences, notices and grants of patents are kept.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-._].*)?$`)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

func run(to io.Writer) error {
	modules, err := linked(".")
	if err != nil {
		return err
	}
	return write(to, modules)
}

// linked returns the modules whose packages are in the worker's binary on at least one of the systems, ours left out,
// sorted by path. The checkout is at dir.
func linked(dir string) ([]module, error) {
	toolchain, err := ask(dir, "", "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, root, _ := strings.Cut(strings.TrimSpace(toolchain), "\n")
	found := map[string]module{std: {Path: std, Version: version, Dir: root}}
	for _, system := range systems {
		list, err := ask(dir, system, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/worker")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
				found[fields[0]] = module{Path: fields[0], Version: fields[1], Dir: fields[2]}
			}
		}
	}
	modules := make([]module, 0, len(found))
	for _, m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// ask runs the go command at dir for a system; "" is the one that this runs on.
func ask(dir, system string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	var problem bytes.Buffer
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s (GOOS=%s): %w\n%s", args[0], system, err, problem.Bytes())
	}
	return string(out), nil
}

// files returns the names of a module's licence files.
func files(m module) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, fmt.Errorf("look for the licence of %s: %w", m.Path, err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && licenceFile.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %s has no licence file: it may not be passed on", m.Path, m.Version)
	}
	return names, nil
}

// text is one licence and the modules that bring it word for word.
type text struct {
	content string
	from    []string
}

// write writes each text once, below the names of the modules that it came with.
func write(to io.Writer, modules []module) error {
	var texts []*text
	for _, m := range modules {
		names, err := files(m)
		if err != nil {
			return err
		}
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				return err
			}
			clean := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
			at := slices.IndexFunc(texts, func(t *text) bool { return t.content == clean })
			if at < 0 {
				at = len(texts)
				texts = append(texts, &text{content: clean})
			}
			texts[at].from = append(texts[at].from, fmt.Sprintf("%s %s (%s)", m.Path, m.Version, name))
		}
	}
	rule := strings.Repeat("=", 80)
	_, err := fmt.Fprintln(to, "The worker's binary holds code of the modules below. Each stands above the text it was given under.")
	for _, t := range texts {
		_, failed := fmt.Fprintf(to, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(t.from, "\n"), rule, t.content)
		err = errors.Join(err, failed)
	}
	return err
}
