package report

import "fmt"

// Health is the state of something that the doctor looked at.
type Health string

// The states. Unknown is neither good nor bad: it cannot be seen from here.
const (
	OK      Health = "ok"
	Unknown Health = "unknown"
	Warning Health = "warning"
	Fault   Health = "fault"
)

// Diagnosis is what the doctor found out about one thing. Its JSON form is stable.
type Diagnosis struct {
	// Check is what was looked at, such as gateway.
	Check  string `json:"check"`
	Health Health `json:"health"`
	// Finding is what was seen, Advice what to do about it; empty where nothing is to be done.
	Finding string `json:"finding"`
	Advice  string `json:"advice,omitempty"`
}

// Diagnoses are all of them, in the order in which they were made.
type Diagnoses []Diagnosis

// Faults returns how many faults there are.
func (d Diagnoses) Faults() (n int) {
	for _, one := range d {
		if one.Health == Fault {
			n++
		}
	}
	return n
}

// DiagnosisText is one line for a person, and a second one with the advice if there is any.
func DiagnosisText(d Diagnosis) string {
	text := fmt.Sprintf("%-*s  %-*s  %s\n", len(Unknown), d.Health, len("authentication"), d.Check, d.Finding)
	if d.Advice != "" {
		text += fmt.Sprintf("%*s-> %s\n", len(Unknown)+2, "", d.Advice)
	}
	return text
}
