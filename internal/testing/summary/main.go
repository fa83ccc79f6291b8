// Command summary runs go test in one module after the other:
//
//	summary DIRECTORY ARGUMENT... [-- DIRECTORY ARGUMENT...]...
//
// It prints a line for each package, all that a failed test printed, and at the end how many tests passed and failed. A
// test and its subtests count each. It exits with 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	s := newSummary(os.Stdout)
	for group := range strings.SplitSeq(strings.Join(os.Args[1:], "\x00"), "\x00--\x00") {
		args := strings.Split(group, "\x00")
		if err := s.run(args[0], args[1:]...); err != nil {
			s.fail("go test in %s: %v", args[0], err)
		}
	}
	fmt.Fprintf(os.Stdout, "%d passed, %d failed\n", s.passed, s.failed)
	if s.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
}

// summary reads the events of go test -json and writes their short form.
type summary struct {
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

func (s *summary) fail(format string, args ...any) {
	s.failed++
	fmt.Fprintf(s.out, format+"\n", args...)
}

// run runs go test in a directory. Its error is about what is no test's failure.
func (s *summary) run(dir string, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	before := s.failed
	err = s.read(events)
	if ended := cmd.Wait(); err == nil && s.failed == before {
		err = ended
	}
	return err
}

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(s.out, "%s", line)
			continue
		}
		s.take(e)
	}
}

func (s *summary) take(e event) {
	if e.Package == "" { // of the compiler
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
