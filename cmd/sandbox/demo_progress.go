package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
)

// plainEvery is how much time has to pass on the broker's clock for another line where lines cannot be updated.
const plainEvery = 30 * time.Minute

// clearLine takes back the line on which the cursor is.
const clearLine = "\r\x1b[K"

// progress prints how far the demo is: on a terminal in one line that changes, elsewhere in a line now and then.
type progress struct {
	mu  sync.Mutex
	out io.Writer
	// columns is the width of the terminal now, 1 or more; nil where out is none.
	columns func() int
	line    string
	last    demo.Status
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.columns = func() int { return max(1, columns(file)) }
	}
	return p
}

// say prints a line that stays.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	fmt.Fprintln(p.out, line)
}

// show prints how far the play is.
func (p *progress) show(s demo.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("%11s on the broker's clock: %2d of %d claims done, %2d waiting",
		demo.Long(s.Passed), s.Settled, s.Claims, s.Waiting)
	if line == p.line {
		return
	}
	if p.columns != nil {
		p.wipe()
		// A line that is broken cannot be taken back.
		fmt.Fprint(p.out, line[:min(len(line), p.columns()-1)])
		p.line = line
		return
	}
	// Where all wait, nothing moves on its own: the clock jumps next.
	if s.Waiting+s.Settled == s.Claims && (s.Settled == s.Claims || s.Passed >= p.last.Passed+plainEvery) {
		fmt.Fprintln(p.out, line)
		p.line, p.last = line, s
	}
}

// clear takes the changing line back.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *progress) wipe() {
	if p.columns != nil && p.line != "" {
		fmt.Fprint(p.out, clearLine)
		p.line = ""
	}
}
