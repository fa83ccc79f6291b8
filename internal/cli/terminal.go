package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// isTerminal reports whether a reader or a writer is a terminal.
func isTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question and reports whether the answer is yes. It gives up when the command is stopped.
func confirm(c *call, question string) bool {
	fmt.Fprintf(c.ErrOrStderr(), "\n%s Type yes: ", question)
	answer := make(chan string, 1)
	go func() { // it ends with the process if nothing is typed
		line, _ := bufio.NewReader(c.InOrStdin()).ReadString('\n') // an answer may end without a line break
		answer <- strings.TrimSpace(line)
	}()
	select {
	case typed := <-answer:
		return typed == "yes"
	case <-c.Context().Done():
		fmt.Fprintln(c.ErrOrStderr())
		return false
	}
}

// progress shows on a terminal how much of something long is done, and wipes that where there is no what.
func (c *call) progress(done int64, what string) {
	if out := c.ErrOrStderr(); isTerminal(out) {
		line := fmt.Sprintf("%d %s", done, what)
		if what == "" {
			line = ""
		}
		fmt.Fprint(out, "\r\x1b[K"+line)
	}
}
