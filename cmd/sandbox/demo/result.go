package demo

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// Result is what became of one claim.
type Result struct {
	// Claim is what the file says.
	Claim script.Claim
	// History is what the broker's records say.
	History history.Claim
	// End is how it ended; empty if it did not.
	End string
	// Faults are the differences between the two; nil if there is none.
	Faults []string
}

// Run is the run of a file as a whole.
type Run struct {
	// File is the file with the claims.
	File string
	// Zeebe is the broker's version.
	Zeebe   string
	Results []Result
	// Simulated is the time that passed on the broker's clock, Elapsed the time that passed for us.
	Simulated, Elapsed time.Duration
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
	submissions, ended, recorded := 0, map[string]int{}, map[string]int{}
	if failed := r.Failed(); failed > 0 {
		fmt.Fprintf(&b, "%d of %d claims did not go as %s says:\n", failed, len(r.Results), r.File)
	}
	for _, result := range r.Results {
		for _, fault := range result.Faults {
			fmt.Fprintf(&b, "  %s (line %d): %s\n", plain(result.Claim.ID), result.Claim.Line, fault)
		}
		ended[result.End]++
		submissions += len(result.History.Tries)
		for _, try := range result.History.Tries {
			for _, outcome := range try.Recorded {
				recorded[outcome]++
			}
		}
	}
	if r.Failed() == 0 {
		fmt.Fprintf(&b, "All %d claims went as %s says:\n%d submitted, %d abandoned, %d left as an incident.\n",
			len(r.Results), r.File, ended[script.Submitted], ended[script.Abandoned], ended[script.Incident])
	}
	fmt.Fprintf(&b, "The worker recorded %d as submitted, %d as resubmitted by hand, %d as abandoned.\n",
		recorded[script.Submitted], recorded[resubmitted], recorded[script.Abandoned])
	fmt.Fprintf(&b, "%d submissions in %s on the broker's clock, %d s on yours.\n"+
		"All that the table says was read from the broker's records.\n",
		submissions, term.About(r.Simulated), r.Elapsed.Round(time.Second)/time.Second)
	return b.String()
}

// Document is a run as JSON. Names are added, never changed.
type Document struct {
	OK               bool            `json:"ok"`
	File             string          `json:"file"`
	Zeebe            string          `json:"zeebe"`
	SimulatedSeconds int             `json:"simulatedSeconds"`
	ElapsedSeconds   float64         `json:"elapsedSeconds"`
	Claims           []claimDocument `json:"claims"`
}

// claimDocument is one result. Its times are seconds since its start, on the broker's clock.
type claimDocument struct {
	ID          string   `json:"claim"`
	Line        int      `json:"line"`
	Shows       string   `json:"shows,omitempty"`
	End         string   `json:"end"`
	ExpectedEnd string   `json:"expectedEnd"`
	Faults      []string `json:"faults"`
	history.Claim
}

// Document returns the run for machines.
func (r Run) Document() Document {
	d := Document{
		OK: r.Failed() == 0, File: r.File, Zeebe: r.Zeebe, Claims: []claimDocument{},
		SimulatedSeconds: int(r.Simulated / time.Second), ElapsedSeconds: r.Elapsed.Round(time.Millisecond).Seconds(),
	}
	for _, result := range r.Results {
		d.Claims = append(d.Claims, claimDocument{
			ID: result.Claim.ID, Line: result.Claim.Line, Shows: result.Claim.Shows,
			End: result.End, ExpectedEnd: result.Claim.End, Claim: result.History,
			Faults: append([]string{}, result.Faults...), // in JSON a list, also if it is empty
		})
	}
	return d
}
