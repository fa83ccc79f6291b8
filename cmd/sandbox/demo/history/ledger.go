package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/cluster"
)

// Models is what has to be known of the models.
type Models struct {
	// Process is the process that is started for each claim.
	Process string
	// Submissions are the tasks that can fail, with the code of the BPMN error that is caught there; empty
	// for any.
	Submissions map[Task]string
	// Analyses are the job types of the worker's decisions.
	Analyses []string
}

// Ledger turns the engine's records into the claims' histories. Feed it all records in their order, each
// once. It is not safe for concurrent use.
type Ledger struct {
	models Models
	// claims are kept by process instance, also by that of the processes that they called.
	claims map[int64]*History
	roots  []*History
	// answers are the variables of the command that came last for a job or a user task. The event that
	// follows it need not have them: from 8.10 on a broker leaves them out of JOB COMPLETED.
	answers map[int64]json.RawMessage
	now     time.Time
}

// NewLedger returns a ledger of no claims.
func NewLedger(m Models) *Ledger {
	return &Ledger{models: m, claims: map[int64]*History{}, answers: map[int64]json.RawMessage{}}
}

// Claims returns all claims in the order of their start. They change with the next Add.
func (l *Ledger) Claims() []*History { return l.roots }

// Claim returns the claim with this process instance, or one that it called; nil where there is none (yet).
func (l *Ledger) Claim(instance int64) *History { return l.claims[instance] }

// Now returns the time of the last record.
func (l *Ledger) Now() time.Time { return l.now }

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

	JobKey  int64
	DueDate any // a number of a timer, a text of a user task

	Name  string
	Value string
}

// Add takes the next records over.
func (l *Ledger) Add(records ...cluster.Record) error {
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

func (l *Ledger) add(r cluster.Record, v value) error {
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
		return l.job(c, r, v)
	case "USER_TASK":
		return l.userTask(c, r, v)
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
func (l *Ledger) begin(r cluster.Record, v value) {
	if caller := l.claims[v.ParentProcessInstanceKey]; caller != nil {
		l.claims[v.ProcessInstanceKey] = caller
		return
	}
	if v.BpmnProcessID != l.models.Process {
		return
	}
	c := &History{Instance: v.ProcessInstanceKey, Started: time.UnixMilli(r.Timestamp), At: Place{
		Jobs:      map[int64]Job{},
		UserTasks: map[int64]UserTask{},
		Incidents: map[int64]Incident{},
		Timers:    map[int64]time.Time{},
	}}
	l.claims[c.Instance] = c
	l.roots = append(l.roots, c)
}

func (c *History) since(r cluster.Record) Since {
	return Since(time.UnixMilli(r.Timestamp).Sub(c.Started))
}

// last is the submission that is being dealt with.
func (c *History) last() *Try {
	if len(c.Tries) == 0 {
		return &Try{}
	}
	return &c.Tries[len(c.Tries)-1]
}

// element notes the end of the claim. The processes that it calls end before.
func (c *History) element(r cluster.Record, v value) {
	if v.ProcessInstanceKey != c.Instance {
		return
	}
	switch v.BpmnElementType + " " + r.Intent {
	case "END_EVENT ELEMENT_COMPLETED":
		c.endEvent = v.ElementID
	case "PROCESS ELEMENT_COMPLETED":
		c.End = cmp.Or(c.settled, c.endEvent)
	case "PROCESS ELEMENT_TERMINATED":
		c.End = "TERMINATED"
	}
}

func (c *History) timer(r cluster.Record, v value) {
	delete(c.At.Timers, r.Key)
	if r.Intent == "CREATED" {
		millis, _ := v.DueDate.(float64)
		c.At.Timers[r.Key] = time.UnixMilli(int64(millis))
	}
}

func (c *History) incident(r cluster.Record, v value) {
	t := c.last()
	switch r.Intent {
	case "CREATED":
		c.At.Incidents[r.Key] = Incident{Job: v.JobKey, Instance: v.ProcessInstanceKey}
		t.Incidents = append(t.Incidents, Stop{At: c.since(r), Message: v.ErrorMessage})
	case "RESOLVED":
		delete(c.At.Incidents, r.Key)
		if n := len(t.Incidents); n > 0 {
			at := c.since(r)
			t.Incidents[n-1].ResolvedAt = &at
		}
	}
}

// variable notes what is set while an incident is open: nothing else moves then, so it is the operator's
// doing. And it notes what the next outcome job has to say.
func (c *History) variable(v value) error {
	t := c.last()
	if n := len(t.Incidents); n > 0 && len(c.At.Incidents) > 0 {
		t.Incidents[n-1].Corrections = append(t.Incidents[n-1].Corrections, Correction{v.Name, v.Value})
	}
	if v.Name == contract.Outcome {
		return json.Unmarshal([]byte(v.Value), &c.outcome)
	}
	return nil
}
