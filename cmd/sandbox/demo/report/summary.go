package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// Summary says in a few lines how the run compares with its file.
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
		r.submissions(), Long(r.Simulated), r.Elapsed.Round(time.Second)/time.Second)
	return b.String()
}

// Long words a duration as hours and minutes: 48 min, 5 h 03 min.
func Long(d time.Duration) string {
	minutes := int(d / time.Minute)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}
