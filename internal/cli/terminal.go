package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// isTerminal reports whether a reader or a writer is a terminal.
func isTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question and reports whether the answer is yes. It gives up when ctx ends.
func confirm(ctx context.Context, in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "\n%s Type yes: ", question)
	answer := make(chan string, 1)
	go func() { // it ends with the process if nothing is typed
		line, _ := bufio.NewReader(in).ReadString('\n') // an answer may end without a line break
		answer <- strings.TrimSpace(line)
	}()
	select {
	case text := <-answer:
		return text == "yes"
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false
	}
}

// progressLine is a line on a terminal that shows how far work is. Where there is no terminal it writes nothing. It is safe for
// concurrent use.
type progressLine struct {
	mu    sync.Mutex
	out   io.Writer // nil for none
	shown string
}

// newProgress shows progress on out, if that is a terminal. The caller ends it with Clear.
func newProgress(out io.Writer) *progressLine {
	if !isTerminal(out) {
		out = nil
	}
	return &progressLine{out: out}
}

const clearLine = "\r\x1b[K"

// Show replaces the line.
func (p *progressLine) Show(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	if text := fmt.Sprintf(format, args...); text != p.shown {
		p.shown = text
		fmt.Fprint(p.out, clearLine+text)
	}
}

// Clear takes the line away.
func (p *progressLine) Clear() {
	if p.out != nil {
		fmt.Fprint(p.out, clearLine)
	}
}
