package cli

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a reader or a writer is a terminal.
func isTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
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
