package report

import (
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// Document is a run as JSON. Names are added, never changed.
type Document struct {
	OK               bool    `json:"ok"`
	File             string  `json:"file"`
	Zeebe            string  `json:"zeebe"`
	SimulatedSeconds int     `json:"simulatedSeconds"`
	ElapsedSeconds   float64 `json:"elapsedSeconds"`
	Claims           []claim `json:"claims"`
}

// claim is one result. Its times are seconds since its start, on the broker's clock.
type claim struct {
	ID          string      `json:"claim"`
	Line        int         `json:"line"`
	Shows       string      `json:"shows,omitempty"`
	End         history.End `json:"end"`
	ExpectedEnd history.End `json:"expectedEnd"`
	Faults      []string    `json:"faults"`
	history.Claim
}

// Document words the run for machines.
func (r Run) Document() Document {
	d := Document{
		OK: r.Failed() == 0, File: r.File, Zeebe: r.Zeebe,
		SimulatedSeconds: int(r.Simulated / time.Second), ElapsedSeconds: r.Elapsed.Round(time.Millisecond).Seconds(),
		Claims: []claim{},
	}
	for _, result := range r.Results {
		c := claim{
			ID: result.Claim.ID, Line: result.Claim.Line, Shows: result.Claim.Shows,
			End: result.End, ExpectedEnd: result.Claim.End, Faults: result.Faults, Claim: result.History,
		}
		if c.Faults == nil {
			c.Faults = []string{} // in JSON a list, even where it is empty
		}
		d.Claims = append(d.Claims, c)
	}
	return d
}
