// Package history reads what happened to each claim of the demo, from the engine's own records and nothing
// else: what the worker or the players of the demo believe does not count.
package history

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
)

// Since is a time since the start of a claim's process instance, on the engine's clock. In JSON it is whole
// seconds.
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

// History is what has happened to one claim so far. Its JSON form is stable: names are added, never changed.
type History struct {
	// Instance is the key of its process instance.
	Instance int64 `json:"processInstanceKey"`
	Tries    []Try `json:"tries"`
	// End is how it ended: the last outcome that was recorded of it if that is an end, else the id of its end
	// event. It is empty while the claim is on its way.
	End string `json:"-"`
	// At is where the claim is now.
	At Place `json:"-"`
	// Started is when its process instance was created.
	Started time.Time `json:"-"`

	// outcome is what the next outcome job says, settled the last one that was recorded if that is an end.
	outcome, settled string
	endEvent         string
}

// Try is one submission and what followed until the next.
type Try struct {
	At Since `json:"at"`
	// Accepted says that the insurer took the claim. Otherwise Error is the text of its error, which may be
	// empty.
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
	// Recorded are the outcomes of the claim that the worker was told after this submission: one where it was
	// taken, given up or sent again by hand, none where it was retried.
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

// Decision is what the worker answered, as the engine keeps it.
type Decision struct {
	At Since `json:"at"`
	// Outcome is the class of an error that is retried, and the BPMN error with which the worker stopped the
	// claim.
	Outcome string `json:"outcome"`
	// Class is the errorClassification; Code is the code in the error's text that it rests on, empty for
	// none.
	Class string `json:"errorClassification"`
	Code  string `json:"matchedCode,omitempty"`
	// RetryCount is the number of the retry that was granted, or of the retries that are used up.
	RetryCount int `json:"retryCount"`
	// MaxRetries is 0 where the answer does not have it (RN-BIL-004).
	MaxRetries int `json:"maxRetries"`
	// BackoffMinutes is the wait before the next submission, 0 where the worker grants none.
	BackoffMinutes int `json:"backoffMinutes"`
	// Wait is the same wait, also where it is less than a minute.
	Wait time.Duration `json:"-"`
}

// Review is what a person decided in a user task.
type Review struct {
	At            Since  `json:"at"`
	Team          string `json:"team"`
	Decision      string `json:"decision"`
	Justification string `json:"justification,omitempty"`
}

// Place is where a claim is: what is open of it, by key.
type Place struct {
	Jobs      map[int64]Job
	UserTasks map[int64]UserTask
	Incidents map[int64]Incident
	Timers    map[int64]time.Time
}

// Due returns when the next timer fires; ok is false unless the claim waits for nothing but timers. Those
// next to a job bound how long it may take.
func (p Place) Due() (due time.Time, ok bool) {
	if len(p.Jobs)+len(p.UserTasks)+len(p.Incidents) > 0 || len(p.Timers) == 0 {
		return time.Time{}, false
	}
	return slices.MinFunc(slices.Collect(maps.Values(p.Timers)), time.Time.Compare), true
}

// Task is a task of a process.
type Task struct{ Process, Element string }

// Job is an open job.
type Job struct {
	Type string
	Task Task
}

// UserTask is a task that waits for a person of a team.
type UserTask struct{ Element, Team string }

// Incident is an incident that nobody has resolved.
type Incident struct {
	// Job is the job to which it belongs, -1 where it is none.
	Job int64
	// Instance is the process instance in which it is: that of the claim or one that it called.
	Instance int64
}
