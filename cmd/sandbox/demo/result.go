package demo

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
)

// Result is what became of one claim.
type Result struct {
	// Claim is what the file says.
	Claim script.Claim
	// History is what the broker's records say.
	History history.Claim
	// End is how it ended; empty if it did not.
	End history.End
	// Faults are the differences between the two; nil if there is none.
	Faults []string
}

// OK reports whether the claim went as the file says.
func (r Result) OK() bool { return len(r.Faults) == 0 }

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
func (r Run) Failed() int {
	return r.sum(func(result Result) int {
		if result.OK() {
			return 0
		}
		return 1
	})
}

// sum adds up a figure of all results.
func (r Run) sum(figure func(Result) int) (n int) {
	for _, result := range r.Results {
		n += figure(result)
	}
	return n
}

// ended returns how many claims have this end.
func (r Run) ended(end history.End) int {
	return r.sum(func(result Result) int {
		if result.End == end {
			return 1
		}
		return 0
	})
}

// recorded returns how often the worker recorded this outcome.
func (r Run) recorded(outcome history.Recorded) int {
	return r.sum(func(result Result) (n int) {
		for _, try := range result.History.Tries {
			for _, recorded := range try.Recorded {
				if recorded == outcome {
					n++
				}
			}
		}
		return n
	})
}

// Summary returns in a few lines how the run compares with its file.
func (r Run) Summary() string {
	var b strings.Builder
	if failed := r.Failed(); failed > 0 {
		fmt.Fprintf(&b, "%d of %d claims did not go as %s says:\n", failed, len(r.Results), r.File)
		for _, result := range r.Results {
			for _, fault := range result.Faults {
				fmt.Fprintf(&b, "  %s (line %d): %s\n", plain(result.Claim.ID), result.Claim.Line, fault)
			}
		}
	} else {
		fmt.Fprintf(&b, "All %d claims went as %s says:\n%d submitted, %d abandoned, %d left as an incident.\n",
			len(r.Results), r.File, r.ended(history.Submitted), r.ended(history.Abandoned), r.ended(history.LeftAsIncident))
	}
	fmt.Fprintf(&b, "The worker recorded %d as submitted, %d as resubmitted by hand, %d as abandoned.\n",
		r.recorded(history.RecordedSubmitted), r.recorded(history.RecordedResubmitted), r.recorded(history.RecordedAbandoned))
	fmt.Fprintf(&b, "%d submissions in %s on the broker's clock, %d s on yours.\n"+
		"All that the table says was read from the broker's records.\n",
		r.sum(func(result Result) int { return len(result.History.Tries) }), Long(r.Simulated), r.Elapsed.Round(time.Second)/time.Second)
	return b.String()
}

// Long returns a duration as hours and minutes: 48 min, 5 h 03 min.
func Long(d time.Duration) string {
	minutes := int(d / time.Minute)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
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
	ID          string      `json:"claim"`
	Line        int         `json:"line"`
	Shows       string      `json:"shows,omitempty"`
	End         history.End `json:"end"`
	ExpectedEnd history.End `json:"expectedEnd"`
	Faults      []string    `json:"faults"`
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
