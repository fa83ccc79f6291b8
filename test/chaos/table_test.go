package chaos

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
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

// add notes what has become of a row when its test is over.
func (r *results) add(t *testing.T, row int, what, faults string, began time.Time) {
	t.Helper()
	l := line{row, what, faults, "held", time.Since(began).Seconds()}
	if t.Failed() {
		l.result = "FAILED"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
}

// print prints the table.
func (r *results) print() {
	if len(r.lines) == 0 {
		return
	}
	slices.SortStableFunc(r.lines, func(a, b line) int { return a.row - b.row })
	fmt.Fprintln(os.Stderr, "\n| row | what | faults that happened | result | seconds |\n|---|---|---|---|---|")
	for _, l := range r.lines {
		fmt.Fprintf(os.Stderr, "| %d | %s | %s | %s | %.0f |\n", l.row, l.what, l.faults, l.result, l.seconds)
	}
}
