package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// The contract with the models.
const (
	// Process is the process that brings a claim to its insurer.
	Process = "SUB_06"

	SubmitClaim = "submit-claim"
	NotifyTeam  = "notify-team"

	endSubmitted   = "EndEvent_ClaimSubmitted"
	endsOfAbandons = "EndEvent_AbandonedBy"

	// waitBackoff is where a claim waits for its next submission. Other timers bound how long a job may take.
	waitBackoff = "Event_WaitBackoff"
)

// Ledger turns the broker's records into the claims' histories. Feed it all records in their order, each once. It is
// not safe for concurrent use.
type Ledger struct {
	// claims are kept by process instance, also by that of the processes that they called.
	claims map[int64]*Claim
	roots  []*Claim
	// answers are the variables of the command that came last for a job or a user task. The event that follows it need not have
	// them: from 8.10 on a broker leaves them out of JOB COMPLETED.
	answers map[int64]json.RawMessage
	start   time.Time
	now     time.Time
}

// NewLedger returns a ledger of no claims.
func NewLedger() *Ledger {
	return &Ledger{claims: map[int64]*Claim{}, answers: map[int64]json.RawMessage{}}
}

// Claims returns all claims in the order of their start. They change with the next Add.
func (l *Ledger) Claims() []*Claim { return l.roots }

// Claim returns the claim with this process instance, nil where there is none (yet).
func (l *Ledger) Claim(instance int64) *Claim { return l.claims[instance] }

// Passed is the time from the start of the first claim to the last record, on the broker's clock.
func (l *Ledger) Passed() time.Duration {
	if l.start.IsZero() {
		return 0
	}
	return l.now.Sub(l.start)
}

// NextDue is when the next timer fires; ok is false where none runs.
func (l *Ledger) NextDue() (due time.Time, ok bool) {
	for _, c := range l.roots {
		if at := c.At.Due; !at.IsZero() && (!ok || at.Before(due)) {
			due, ok = at, true
		}
	}
	return due, ok
}

// value is what is read of the records' values; which fields are set depends on the type of the record.
type value struct {
	BpmnProcessID            string
	BpmnElementType          string
	ElementID                string
	ProcessInstanceKey       int64
	ParentProcessInstanceKey int64

	Type          string
	CustomHeaders map[string]string
	Variables     json.RawMessage
	// CandidateGroupsList is who may do a user task.
	CandidateGroupsList []string
	ErrorCode           string
	ErrorMessage        string

	JobKey          int64
	DueDate         any // a number of a timer, a text of a user task
	TargetElementID string

	Name  string
	Value string
}

// Add takes the next records over.
func (l *Ledger) Add(records ...devbroker.Record) error {
	for _, r := range records {
		isAnswer := r.RecordType == "COMMAND" && (r.Intent == "COMPLETE" || r.Intent == "THROW_ERROR") &&
			(r.ValueType == "JOB" || r.ValueType == "USER_TASK")
		if r.RecordType != "EVENT" && !isAnswer || !slices.Contains(read, r.ValueType) {
			continue
		}
		var v value
		err := json.Unmarshal(r.Value, &v)
		switch {
		case err == nil && isAnswer:
			l.answers[r.Key] = v.Variables
		case err == nil:
			l.now = time.UnixMilli(r.Timestamp)
			err = l.add(r, v)
		}
		if err != nil {
			return fmt.Errorf("read the %s record at position %d: %w", r.ValueType, r.Position, err)
		}
	}
	return nil
}

// read are the types of the records that add knows.
var read = []string{"PROCESS_INSTANCE", "JOB", "USER_TASK", "TIMER", "INCIDENT", "VARIABLE"}

func (l *Ledger) add(r devbroker.Record, v value) error {
	if r.ValueType == "PROCESS_INSTANCE" && r.Intent == "ELEMENT_ACTIVATING" && v.BpmnElementType == "PROCESS" {
		l.begin(r, v)
		return nil
	}
	c := l.claims[v.ProcessInstanceKey]
	if c == nil {
		return nil // of another process
	}
	switch r.ValueType {
	case "PROCESS_INSTANCE":
		c.element(r, v)
	case "JOB":
		v.Variables = l.answers[r.Key]
		return c.job(r, v)
	case "USER_TASK":
		v.Variables = l.answers[r.Key]
		return c.userTask(r, v)
	case "TIMER":
		c.timer(r, v)
	case "INCIDENT":
		c.incident(r, v)
	case "VARIABLE":
		return c.variable(v)
	}
	return nil
}

// begin notes the start of a claim, or of a process that it calls.
func (l *Ledger) begin(r devbroker.Record, v value) {
	if caller := l.claims[v.ParentProcessInstanceKey]; caller != nil {
		l.claims[v.ProcessInstanceKey] = caller
		return
	}
	if v.BpmnProcessID != Process {
		return
	}
	c := &Claim{Instance: v.ProcessInstanceKey, started: time.UnixMilli(r.Timestamp)}
	l.claims[c.Instance] = c
	l.roots = append(l.roots, c)
	if l.start.IsZero() {
		l.start = c.started
	}
}

func (c *Claim) since(r devbroker.Record) Since {
	return Since(time.UnixMilli(r.Timestamp).Sub(c.started))
}

// last is the submission that is being dealt with.
func (c *Claim) last() *Try {
	if len(c.Tries) == 0 {
		return &Try{}
	}
	return &c.Tries[len(c.Tries)-1]
}

// element notes the end of the claim. The end events of the processes that it calls have names like its own.
func (c *Claim) element(r devbroker.Record, v value) {
	if r.Intent != "ELEMENT_COMPLETED" || v.BpmnElementType != "END_EVENT" || v.ProcessInstanceKey != c.Instance {
		return
	}
	switch {
	case v.ElementID == endSubmitted:
		c.End = script.Submitted
	case strings.HasPrefix(v.ElementID, endsOfAbandons):
		c.End = script.Abandoned
	default:
		c.End = v.ElementID // one that is not known here is shown as it is
	}
}

func (c *Claim) timer(r devbroker.Record, v value) {
	if v.TargetElementID != waitBackoff {
		return
	}
	c.At.Due = time.Time{}
	if r.Intent == "CREATED" {
		millis, _ := v.DueDate.(float64)
		c.At.Due = time.UnixMilli(int64(millis))
	}
}

func (c *Claim) incident(r devbroker.Record, v value) {
	t := c.last()
	switch r.Intent {
	case "CREATED":
		c.At.Incident = &OpenIncident{Key: r.Key, JobKey: v.JobKey, Instance: v.ProcessInstanceKey}
		t.Incidents = append(t.Incidents, Stop{At: c.since(r), Message: v.ErrorMessage})
	case "RESOLVED":
		c.At.Incident = nil
		if n := len(t.Incidents); n > 0 {
			at := c.since(r)
			t.Incidents[n-1].ResolvedAt = &at
		}
	}
}

// variable notes what is set while an incident is open: nothing else moves then, so it is the operator's doing. And it
// notes what the next outcome job has to say.
func (c *Claim) variable(v value) error {
	t := c.last()
	if n := len(t.Incidents); n > 0 && c.At.Incident != nil {
		t.Incidents[n-1].Corrections = append(t.Incidents[n-1].Corrections, Correction{v.Name, v.Value})
	}
	if v.Name == contract.Outcome {
		return json.Unmarshal([]byte(v.Value), &c.outcome)
	}
	return nil
}
