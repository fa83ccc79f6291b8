// Command thirdparty writes the licence texts of everything that the worker's binary holds besides our own code. They go
// along in the image and in the archives of a release, as these licences ask.
//
//	go run deploy/image/thirdparty/main.go > THIRD_PARTY_LICENSES
//
// from the top of a checkout. It needs nothing but Go, so that the image's build stage can run it.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those that the worker is built for. What only one of them links is listed for all, so there is one text.
var systems = []string{"linux", "darwin", "windows"}

// std is the name of Go's runtime and standard library, which are in every binary.
const std = "std"

// module is what is linked of one module. Path is its import path, or std; Dir holds its files.
type module struct{ Path, Version, Dir string }

// licenceFile matches the names under which licences, notices and grants of patents are kept.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-._].*)?$`)

func main() {
	modules, err := linked(".")
	if err == nil {
		err = write(os.Stdout, modules)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

// linked returns the modules whose packages are in the worker's binary on at least one of the systems, ours left out,
// sorted by path. The checkout is at dir.
func linked(dir string) ([]module, error) {
	toolchain, err := goOutput(dir, "", "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, root, _ := strings.Cut(strings.TrimSpace(toolchain), "\n")
	found := map[string]module{std: {Path: std, Version: version, Dir: root}}
	for _, system := range systems {
		list, err := goOutput(dir, system, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/worker")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
				found[fields[0]] = module{Path: fields[0], Version: fields[1], Dir: fields[2]}
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return strings.Compare(a.Path, b.Path) }), nil
}

// goOutput runs the go command at dir for a system; "" is the one that this runs on.
func goOutput(dir, system string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s (GOOS=%s): %w", args[0], system, err)
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

// write writes each text once, below the names of the modules that it came with.
func write(to io.Writer, modules []module) error {
	var texts []string // in the order in which they are found
	from := map[string][]string{}
	for _, m := range modules {
		names, err := files(m)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := read(m, name)
			if err != nil {
				return err
			}
			if from[text] == nil {
				texts = append(texts, text)
			}
			from[text] = append(from[text], fmt.Sprintf("%s %s (%s)", m.Path, m.Version, name))
		}
	}
	rule := strings.Repeat("=", 80)
	_, err := fmt.Fprintln(to, "The worker's binary holds code of the modules below. Each stands above the text it was given under.")
	for _, text := range texts {
		_, failed := fmt.Fprintf(to, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(from[text], "\n"), rule, text)
		err = errors.Join(err, failed)
	}
	return err
}

// read returns the text of a module's licence file, without the differences that an editor makes.
func read(m module, name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(m.Dir, name))
	return strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n")), err
}
