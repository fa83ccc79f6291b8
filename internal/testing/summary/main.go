// Command summary runs go test in some modules at once:
//
//	summary DIRECTORY ARGUMENT... [-- DIRECTORY ARGUMENT...]...
//
// It prints a line for each package, all that a failed test printed, and at the end how many tests passed and failed. A
// test and its subtests count each. It exits with 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

func main() {
	s := newSummary(os.Stdout)
	var all sync.WaitGroup
	for group := range strings.SplitSeq(strings.Join(os.Args[1:], "\x00"), "\x00--\x00") {
		args := strings.Split(group, "\x00")
		all.Go(func() { s.run(args[0], args[1:]...) })
	}
	all.Wait()
	fmt.Fprintf(os.Stdout, "%d passed, %d failed\n", s.passed, s.failed)
	if s.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
}

// summary reads the events of go test -json and writes their short form.
type summary struct {
	mu             sync.Mutex
	out            io.Writer
	passed, failed int
	packages       map[string]*tests
}

// tests is what is known of a package whose tests run.
type tests struct {
	passed, failed int
	output         []event
	done           map[string]bool // tests that passed: nobody reads what they printed
}

// event is what a line of go test -json says.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

func newSummary(out io.Writer) *summary { return &summary{out: out, packages: map[string]*tests{}} }

// run runs go test in a directory.
func (s *summary) run(dir string, args ...string) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		var failed int
		failed, err = s.read(events)
		if ended := cmd.Wait(); failed == 0 { // or the failures say why it ended so
			err = errors.Join(err, ended)
		}
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed++
		fmt.Fprintf(s.out, "go test in %s: %v\n", dir, err)
	}
}

// read takes all events, and returns how many tests and packages failed.
func (s *summary) read(events io.Reader) (failed int, err error) {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return failed, nil
		}
		if err != nil {
			return failed, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			e = event{Output: string(line)}
		}
		if e.Action == "fail" {
			failed++
		}
		s.take(e)
	}
}

func (s *summary) take(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Package == "" { // of the compiler, or no event
		fmt.Fprint(s.out, e.Output)
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &tests{done: map[string]bool{}}
		s.packages[e.Package] = p
	}
	switch {
	case e.Action == "output":
		p.output = append(p.output, e)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		s.end(e, p)
	case e.Action == "pass":
		p.passed++
		p.done[e.Test] = true
	case e.Action == "fail", e.Action == "skip": // a test that is skipped tests nothing
		p.failed++
	}
}

// end writes what became of a package.
func (s *summary) end(e event, p *tests) {
	delete(s.packages, e.Package)
	if e.Action == "fail" {
		p.failed = max(p.failed, 1) // it does not compile, say
	}
	s.passed, s.failed = s.passed+p.passed, s.failed+p.failed
	_, name, _ := strings.Cut(e.Package, "/")
	switch {
	case p.failed > 0:
		for _, o := range p.output {
			if !p.done[o.Test] {
				fmt.Fprint(s.out, o.Output)
			}
		}
		fmt.Fprintf(s.out, "FAIL  %s: %d passed, %d failed (%.1f s)\n", name, p.passed, p.failed, e.Elapsed)
	case p.passed > 0:
		fmt.Fprintf(s.out, "ok    %s: %d passed (%.1f s)\n", name, p.passed, e.Elapsed)
	}
}
