package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

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

// progress shows on a terminal how far long work is, and nothing elsewhere: done of what is written as text. The line is
// replaced by the next one, and taken away with an empty text.
func progress(out io.Writer, text string, done int64) {
	const clearLine = "\r\x1b[K"
	switch {
	case !isTerminal(out):
	case text == "":
		fmt.Fprint(out, clearLine)
	default:
		fmt.Fprintf(out, clearLine+"%d %s", done, text)
	}
}
