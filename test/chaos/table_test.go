package chaos

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// line is one line of the table: a row of the matrix, on one store.
type line struct {
	row     int
	what    string
	faults  string
	result  string
	seconds float64
}

// results is the table of all rows that were run.
type results struct {
	mu    sync.Mutex
	lines []line
}

var table results

func (r *results) add(l line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
}

// write prints the table, and adds it as Markdown to the file that CHAOS_TABLE names.
func (r *results) write() error {
	if len(r.lines) == 0 {
		return nil
	}
	slices.SortStableFunc(r.lines, func(a, b line) int { return a.row - b.row })
	var text strings.Builder
	fmt.Fprintf(&text, "| row | what | faults that happened | result | seconds |\n|---|---|---|---|---|\n")
	for _, l := range r.lines {
		fmt.Fprintf(&text, "| %d | %s | %s | %s | %.0f |\n", l.row, l.what, l.faults, l.result, l.seconds)
	}
	fmt.Fprint(os.Stderr, "\n", text.String())
	if name := os.Getenv("CHAOS_TABLE"); name != "" {
		// Two processes write to it, one after the other.
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = file.WriteString(text.String() + "\n")
		return errors.Join(err, file.Close())
	}
	return nil
}
