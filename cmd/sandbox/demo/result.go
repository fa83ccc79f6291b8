package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// Result is what became of one claim. Its JSON form is stable: names are added, never changed.
type Result struct {
	// Claim is what the file says.
	script.Claim
	// End is how it ended; empty if it did not.
	End string `json:"end"`
	// Faults are the differences between what the file says and what the records say; empty if there is none.
	Faults []string `json:"faults"`
	// History is what the engine's records say.
	history.History
}

// Run is the run of a file as a whole. Its JSON form is stable, as that of [Result].
type Run struct {
	// OK says that all claims went as the file says, or for a person's own models that all came to rest.
	OK bool `json:"ok"`
	// File is the file with the claims, Process the process that was started for each.
	File    string `json:"file"`
	Process string `json:"process"`
	// Own says that the models are a person's own.
	Own bool `json:"-"`
	// Simulated is the time that passed on the engine's clock, Elapsed the time that passed for us.
	Simulated history.Since `json:"simulatedSeconds"`
	Elapsed   history.Since `json:"elapsedSeconds"`
	Results   []Result      `json:"claims"`
}

// Failed returns how many claims did not go as the file says.
func (r Run) Failed() (n int) {
	for _, result := range r.Results {
		n += min(1, len(result.Faults))
	}
	return n
}

// Summary returns in a few lines how the run compares with its file.
func (r Run) Summary() string {
	var b strings.Builder
	submissions, ended := 0, map[string]int{}
	for _, result := range r.Results {
		ended[cmp.Or(result.End, "not ended")]++
		submissions += len(result.Tries)
	}
	switch failed := r.Failed(); {
	case failed > 0:
		fmt.Fprintf(&b, "%d of %d claims did not go as %s says", failed, len(r.Results), r.File)
	case r.Own:
		fmt.Fprintf(&b, "All %d claims of %s came to rest in %s", len(r.Results), r.File, r.Process)
	default:
		fmt.Fprintf(&b, "All %d claims went as %s says", len(r.Results), r.File)
	}
	separator := ": "
	for _, end := range slices.Sorted(maps.Keys(ended)) {
		fmt.Fprintf(&b, "%s%d %s", separator, ended[end], end)
		separator = ", "
	}
	b.WriteString(".\n")
	for _, result := range r.Results {
		for _, fault := range result.Faults {
			fmt.Fprintf(&b, "  %s (line %d): %s\n", plain(result.ID), result.Line, fault)
		}
	}
	fmt.Fprintf(&b, "%s: %s on the engine's clock, %d s on yours.\n", term.Count(submissions, "submission"),
		term.About(time.Duration(r.Simulated)), time.Duration(r.Elapsed).Round(time.Second)/time.Second)
	return b.String()
}
