// Package report words what the demo has seen, for people and for machines.
package report

import (
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
	// End is how it ended; empty where it did not.
	End history.End
	// Faults says in what the two differ; nil where they do not.
	Faults []string
}

// OK says that the claim went as the file says.
func (r Result) OK() bool { return len(r.Faults) == 0 }

// Run is what is to be said of a run as a whole.
type Run struct {
	// File is the file with the claims.
	File string
	// Zeebe is the broker's version.
	Zeebe   string
	Results []Result
	// Simulated is the time that passed on the broker's clock, Elapsed the time that passed for us.
	Simulated, Elapsed time.Duration
}

// Failed is the number of claims that did not go as the file says.
func (r Run) Failed() int {
	failed := 0
	for _, result := range r.Results {
		if !result.OK() {
			failed++
		}
	}
	return failed
}

func (r Run) submissions() int {
	n := 0
	for _, result := range r.Results {
		n += len(result.History.Tries)
	}
	return n
}

// ended is the number of claims with this end.
func (r Run) ended(end history.End) int {
	n := 0
	for _, result := range r.Results {
		if result.End == end {
			n++
		}
	}
	return n
}

// recorded is how often the worker was told of this outcome.
func (r Run) recorded(outcome history.Recorded) int {
	n := 0
	for _, result := range r.Results {
		for _, try := range result.History.Tries {
			for _, told := range try.Recorded {
				if told == outcome {
					n++
				}
			}
		}
	}
	return n
}
