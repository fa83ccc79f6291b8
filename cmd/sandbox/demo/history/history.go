// Package history reads what happened to each claim of the demo, from the broker's own records and nothing else: what
// the worker or the players of the demo believe does not count.
package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
)

// Since is a time since the start of a claim's process instance, on the broker's clock. In JSON it is whole seconds.
type Since time.Duration

// String words it as hours and minutes.
func (s Since) String() string {
	d := time.Duration(s)
	return fmt.Sprintf("%d:%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// MarshalJSON words it as whole seconds.
func (s Since) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(time.Duration(s)/time.Second), 10), nil
}

// Claim is what has happened to one claim so far. Its JSON form is stable: names are added, never changed.
type Claim struct {
	// Instance is the key of its process instance.
	Instance int64 `json:"processInstanceKey"`
	Tries    []Try `json:"tries"`
	// End is empty while the claim is on its way. It is never an incident: whether that is the end is not for the broker to
	// say.
	End string `json:"-"`
	// At is where the claim is now.
	At Place `json:"-"`

	started time.Time
	// outcome is what the next RecordOutcome job says.
	outcome string
}

// Try is one submission and what followed until the next.
type Try struct {
	At Since `json:"at"`
	// Accepted says that the insurer took the claim. Otherwise Error is the text of its error, which may be empty.
	Accepted bool   `json:"accepted"`
	Error    string `json:"error,omitempty"`
	// Incidents come before the decision: analyses that refused their input.
	Incidents []Stop `json:"incidents,omitempty"`
	// Decision is the worker's; nil where there is none (yet).
	Decision *Decision `json:"decision,omitempty"`
	// Notified lists the teams that were told.
	Notified []string `json:"notified,omitempty"`
	// Reviews are what a team decided; more than one where a decision was incomplete.
	Reviews []Review `json:"reviews,omitempty"`
	// Recorded are the outcomes of the claim that the worker was told after this submission: one where it was taken,
	// given up or sent again by hand, none where it was retried.
	Recorded []string `json:"recorded,omitempty"`
}

// Outcomes are what became of the submission so far, in order, as the file of claims words them.
func (t Try) Outcomes() string {
	if t.Accepted {
		return script.Accepted
	}
	all := slices.Repeat([]string{script.Incident}, len(t.Incidents))
	if t.Decision != nil {
		all = append(all, t.Decision.Outcome)
	}
	return strings.Join(all, ", ")
}

// Stop is an incident.
type Stop struct {
	At      Since  `json:"at"`
	Message string `json:"message"`
	// Corrections are the variables that were set while it was open.
	Corrections []Correction `json:"corrections,omitempty"`
	// ResolvedAt is nil while it is open.
	ResolvedAt *Since `json:"resolvedAt,omitempty"`
}

// Correction is a variable that an operator has set, and its new value as JSON.
type Correction struct {
	Variable string `json:"variable"`
	Value    string `json:"value"`
}

// Decision is what the worker answered, as the broker keeps it.
type Decision struct {
	At Since `json:"at"`
	// Outcome is the class of an error that is retried, and the BPMN error that handed the claim to a team.
	Outcome string `json:"outcome"`
	// Class is the errorClassification; Code is the code in the error's text that it rests on, empty for none.
	Class string `json:"errorClassification"`
	Code  string `json:"matchedCode,omitempty"`
	// RetryCount is the number of the retry that was granted, or of the retries that are used up.
	RetryCount int `json:"retryCount"`
	MaxRetries int `json:"maxRetries"`
	// BackoffMinutes is the wait before the next submission, 0 where the worker grants none.
	BackoffMinutes int `json:"backoffMinutes"`
}

// Review is what a person decided in a user task.
type Review struct {
	At            Since  `json:"at"`
	Team          string `json:"team"`
	Decision      string `json:"decision"`
	Justification string `json:"justification,omitempty"`
}

// Place is where a claim is. The zero value is on its way from one element to the next.
type Place struct {
	// Job is the open job, nil where there is none.
	Job *Job
	// UserTask is the open user task, nil where there is none.
	UserTask *UserTask
	// Incident is the open incident, nil where there is none. It goes before Job, which cannot be worked then.
	Incident *OpenIncident
	// Due is when the timer fires, zero where none runs.
	Due time.Time
}

// Job is a job that can be worked.
type Job struct {
	Key     int64
	Type    string
	Element string
}

// UserTask is a task that waits for a person.
type UserTask struct {
	Key     int64
	Element string
	// Team is the team that may do it.
	Team string
}

// OpenIncident is an incident that nobody has resolved.
type OpenIncident struct {
	Key int64
	// JobKey is the job to which it belongs, -1 where it is none.
	JobKey int64
	// Instance is the process instance in which it is: that of the claim or one that it called.
	Instance int64
}
