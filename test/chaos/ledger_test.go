package chaos

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/testing/cluster"
)

const jobType = "analyze-retry"

// ledger is what happened to the jobs of a row, by the broker's own records. It also holds what the broker refused: a
// second answer to a job that is gone must be the same as the first.
type ledger struct {
	broker    *broker
	seen      int
	jobs      map[int64]*life
	instances map[int64]*instance
	// texts are all messages that ended up at the broker, for people to see.
	texts []string
}

// life is what happened to one job.
type life struct {
	instance int64
	// created, timedOut: on the broker's clock, in milliseconds; how many locks ran out.
	created  int64
	timedOut int
	// lookedAt says that it was given out last without its variables, by the search for jobs that cannot be delivered;
	// lockedUntil is when that lock ends, on the broker's clock.
	lookedAt    bool
	lockedUntil int64
	answers     []answer
	// fate is the event that ended the job, or INCIDENT; "" while it is open. ended is when, on the broker's clock.
	fate      string
	ended     int64
	incidents int
	message   string // of the last incident
}

// answer is one command about a job that the broker was sent, taken or not.
type answer struct {
	intent  string // COMPLETE, THROW_ERROR, FAIL
	payload string // all that the command carried
	value   jobValue
	// late: it was sent after a lock of the job had run out, and not by a look under a lock that it had just got.
	late bool
}

// instance is what happened to one process instance.
type instance struct {
	ended     bool
	incidents int
}

// jobValue is the value of a record about a job.
type jobValue struct {
	Type               string          `json:"type"`
	ProcessInstanceKey int64           `json:"processInstanceKey"`
	Retries            int32           `json:"retries"`
	ErrorMessage       string          `json:"errorMessage"`
	ErrorCode          string          `json:"errorCode"`
	Variables          json.RawMessage `json:"variables"`
}

func newLedger(b *broker) *ledger {
	return &ledger{broker: b, jobs: map[int64]*life{}, instances: map[int64]*instance{}}
}

// update reads what the broker has exported since the last time.
func (l *ledger) update() error {
	records, err := l.broker.Records()
	if err != nil {
		return err
	}
	for ; l.seen < len(records); l.seen++ {
		if err := l.take(&records[l.seen]); err != nil {
			return err
		}
	}
	return nil
}

// fields are the parts of a record's value that the ledger reads; which ones are set depends on the type of value.
type fields struct {
	jobValue
	BpmnElementType string
	JobKey          int64
	JobKeys         []int64
	Timeout         int64
	Jobs            []struct{ Variables map[string]json.RawMessage }
}

func (l *ledger) take(r *cluster.Record) error {
	switch r.ValueType {
	case "JOB", "JOB_BATCH", "INCIDENT", "PROCESS_INSTANCE":
	default:
		return nil
	}
	var v fields
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return err
	}
	switch what := r.ValueType + " " + r.RecordType + " " + r.Intent; what {
	case "JOB EVENT CREATED":
		if v.Type == jobType {
			l.jobs[r.Key] = &life{instance: v.ProcessInstanceKey, created: r.Timestamp}
		}
	case "JOB_BATCH EVENT ACTIVATED":
		for i, key := range v.JobKeys {
			if j := l.jobs[key]; j != nil {
				j.lookedAt, j.lockedUntil = len(v.Jobs[i].Variables) == 0, r.Timestamp+v.Timeout
			}
		}
	case "INCIDENT EVENT CREATED":
		l.takeIncident(r, &v)
	default:
		if j := l.jobs[r.Key]; r.ValueType == "JOB" && j != nil {
			return l.takeJob(j, r, &v)
		}
		if r.ValueType == "PROCESS_INSTANCE" && v.BpmnElementType == "PROCESS" {
			l.takeInstance(r)
		}
	}
	return nil
}

func (l *ledger) takeJob(j *life, r *cluster.Record, v *fields) error {
	switch r.RecordType + " " + r.Intent {
	case "COMMAND COMPLETE", "COMMAND THROW_ERROR", "COMMAND FAIL":
		payload, err := json.Marshal(struct {
			Retries                 int32
			ErrorMessage, ErrorCode string
			Variables               json.RawMessage
		}{v.Retries, v.ErrorMessage, v.ErrorCode, v.Variables})
		if err != nil {
			return err
		}
		looked := j.lookedAt && r.Timestamp <= j.lockedUntil
		j.answers = append(j.answers, answer{r.Intent, string(payload), v.jobValue, j.timedOut > 0 && !looked})
		if v.ErrorMessage != "" {
			l.texts = append(l.texts, v.ErrorMessage)
		}
	case "EVENT TIMED_OUT":
		j.timedOut++
	case "EVENT COMPLETED", "EVENT ERROR_THROWN", "EVENT CANCELED":
		j.fate, j.ended = r.Intent, r.Timestamp
	}
	return nil
}

func (l *ledger) takeIncident(r *cluster.Record, v *fields) {
	if i := l.instances[v.ProcessInstanceKey]; i != nil {
		i.incidents++
		l.texts = append(l.texts, v.ErrorMessage)
	}
	if j := l.jobs[v.JobKey]; j != nil {
		j.incidents++
		j.message = v.ErrorMessage
		if j.fate == "" {
			j.fate, j.ended = "INCIDENT", r.Timestamp
		}
	}
}

func (l *ledger) takeInstance(r *cluster.Record) {
	switch i := l.instances[r.Key]; {
	case r.RecordType != "EVENT":
	case r.Intent == "ELEMENT_ACTIVATED":
		l.instances[r.Key] = &instance{}
	case i != nil && (r.Intent == "ELEMENT_COMPLETED" || r.Intent == "ELEMENT_TERMINATED"):
		i.ended = true
	}
}

// open is how many jobs have come to no end yet.
func (l *ledger) open() (n int) {
	for _, j := range l.jobs {
		if j.fate == "" {
			n++
		}
	}
	return n
}

// unfinished is how many process instances have neither ended nor an incident.
func (l *ledger) unfinished() (n int) {
	for _, i := range l.instances {
		if !i.ended && i.incidents == 0 {
			n++
		}
	}
	return n
}

// timedOut is how many locks ran out.
func (l *ledger) timedOut() (n int) {
	for _, j := range l.jobs {
		n += j.timedOut
	}
	return n
}

// again is how many answers were sent a second time or later.
func (l *ledger) again() (n int) {
	for _, j := range l.jobs {
		n += max(0, len(decisions(j.answers))-1)
	}
	return n
}
