// Package history tells what happened to each claim of the demo, from the broker's own records and nothing else: what
// the worker or the players of the demo believe does not come in.
package history

// Outcome is what became of one submission.
type Outcome string

// The outcomes.
const (
	// OK: the insurer took the claim.
	OK Outcome = "OK"
	// Transient and Unknown: submitted again after a wait; the names are the classes of the error.
	Transient Outcome = "TRANSIENT"
	Unknown   Outcome = "UNKNOWN"
	// PermanentError and MaxRetriesExceeded: the BPMN error that handed the claim to a team.
	PermanentError     Outcome = "PERMANENT_ERROR"
	MaxRetriesExceeded Outcome = "MAX_RETRIES_EXCEEDED"
	// Incident: the analysis refused its input and waits for an operator.
	Incident Outcome = "INCIDENT"
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OK, Transient, Unknown, PermanentError, MaxRetriesExceeded, Incident}
}

// End is how a claim ended, or where it was left.
type End string

// The ends. The zero value stands for a claim that is still on its way.
const (
	Submitted End = "SUBMITTED"
	Abandoned End = "ABANDONED"
	// LeftAsIncident is the end of a claim whose incident nobody is to resolve.
	LeftAsIncident End = "INCIDENT"
)

// Ends lists all ends.
func Ends() []End { return []End{Submitted, Abandoned, LeftAsIncident} }

// Recorded is what the worker is told of a claim's end.
type Recorded string

// What the models have recorded.
const (
	RecordedSubmitted   Recorded = "SUBMITTED"
	RecordedResubmitted Recorded = "RESUBMITTED"
	RecordedAbandoned   Recorded = "ABANDONED"
)
