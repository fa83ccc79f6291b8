package chaos

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/test/suite"
)

// ledger is what happened to the jobs of a test, by the broker's own records. It also holds what the broker refused: a
// second answer to a job that is gone must be the same as the first.
type ledger struct {
	broker    *suite.Broker
	seen      int
	jobs      map[int64]*life
	instances map[int64]*instance
	// activated is how often a job was given out.
	activated int
	// texts are all messages that ended up at the broker, for people to see.
	texts []string
}

// life is what happened to one job.
type life struct {
	answers []answer
	// active says that a worker has it, by the broker's records; timedOut is how many of its locks ran out.
	active   bool
	timedOut int
	// lookedAt says that it was given out last without its variables, by the search for jobs that cannot be delivered;
	// lockedUntil is when that lock ends, on the broker's clock.
	lookedAt    bool
	lockedUntil int64
	// fate is the event that ended the job, or INCIDENT; "" while it is open.
	fate      string
	incidents int
}

// answer is one command about a job that the broker was sent, taken or not.
type answer struct {
	intent  string // COMPLETE, THROW_ERROR, FAIL
	payload string // all that the command carried
	value   jobValue
	// late: it was sent after a lock of the job had run out, and not under a lock that the search has just got.
	late bool
}

// instance is what happened to one process instance.
type instance struct {
	ended     bool
	incidents int
}

// jobValue is what the command about a job carries.
type jobValue struct {
	Retries                 int32
	ErrorMessage, ErrorCode string
	Variables               json.RawMessage
}

func newLedger(b *suite.Broker) *ledger {
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

func (l *ledger) take(r *cluster.Record) error {
	switch r.ValueType {
	case "JOB", "JOB_BATCH", "INCIDENT", "PROCESS_INSTANCE":
	default:
		return nil
	}
	var v struct {
		jobValue
		Type, BpmnElementType               string
		ProcessInstanceKey, JobKey, Timeout int64
		JobKeys                             []int64
		Jobs                                []struct{ Variables map[string]json.RawMessage }
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return err
	}
	job := l.jobs[r.Key]
	switch what := r.ValueType + " " + r.RecordType + " " + r.Intent; {
	case what == "JOB EVENT CREATED" && v.Type == "analyze-retry":
		l.jobs[r.Key] = &life{}
	case what == "JOB_BATCH EVENT ACTIVATED":
		for i, key := range v.JobKeys {
			if j := l.jobs[key]; j != nil {
				l.activated++
				j.active = true
				j.lookedAt, j.lockedUntil = len(v.Jobs[i].Variables) == 0, r.Timestamp+v.Timeout
			}
		}
	case what == "INCIDENT EVENT CREATED":
		l.texts = append(l.texts, v.ErrorMessage)
		if i := l.instances[v.ProcessInstanceKey]; i != nil {
			i.incidents++
		}
		if j := l.jobs[v.JobKey]; j != nil {
			j.incidents++
			j.fate = "INCIDENT"
		}
	case r.ValueType == "JOB" && job != nil:
		l.takeJob(job, r, v.jobValue)
	case v.BpmnElementType == "PROCESS" && r.RecordType == "EVENT" && r.Intent == "ELEMENT_ACTIVATED":
		l.instances[r.Key] = &instance{}
	case v.BpmnElementType == "PROCESS" && r.RecordType == "EVENT" && r.Intent == "ELEMENT_COMPLETED":
		l.instances[r.Key].ended = true
	}
	return nil
}

func (l *ledger) takeJob(j *life, r *cluster.Record, v jobValue) {
	switch r.RecordType + " " + r.Intent {
	case "COMMAND COMPLETE", "COMMAND THROW_ERROR", "COMMAND FAIL":
		payload, _ := json.Marshal(v) // it has just been read
		looked := j.lookedAt && r.Timestamp <= j.lockedUntil
		j.answers = append(j.answers, answer{r.Intent, string(payload), v, j.timedOut > 0 && !looked})
		l.texts = append(l.texts, v.ErrorMessage)
	case "EVENT TIMED_OUT":
		j.active = false
		j.timedOut++
	case "EVENT COMPLETED", "EVENT ERROR_THROWN", "EVENT CANCELED":
		j.active, j.fate = false, r.Intent
	}
}

// count adds up a figure of all jobs.
func (l *ledger) count(of func(*life) int) (n int) {
	for _, j := range l.jobs {
		n += of(j)
	}
	return n
}

// open is how many jobs have come to no end yet.
func (l *ledger) open() int {
	return l.count(func(j *life) int {
		if j.fate == "" {
			return 1
		}
		return 0
	})
}

// timedOut is how many locks ran out.
func (l *ledger) timedOut() int { return l.count(func(j *life) int { return j.timedOut }) }

// again is how many answers were sent a second time or later.
func (l *ledger) again() int {
	return l.count(func(j *life) int { return max(0, len(decisions(j.answers))-1) })
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
