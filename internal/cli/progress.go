package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// barOn draws how much of a long work is done on a terminal, and does nothing elsewhere. draw takes the part, 0 to 1, and
// may be called by several goroutines; done takes the bar away.
func barOn(w io.Writer, work string) (draw func(part float64), done func()) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return func(float64) {}, func() {}
	}
	const clearLine, width = "\r\x1b[K", 40
	var mu sync.Mutex
	drawn := -1
	draw = func(part float64) {
		mu.Lock()
		defer mu.Unlock()
		percent := int(100 * min(max(part, 0), 1))
		if percent <= drawn {
			return
		}
		drawn = percent
		full := percent * width / 100
		fmt.Fprintf(w, "%s%s [%s%s] %3d %%", clearLine, work, strings.Repeat("#", full), strings.Repeat(".", width-full), percent)
	}
	return draw, func() { fmt.Fprint(w, clearLine) }
}
