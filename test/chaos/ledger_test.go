package chaos

import (
	"encoding/json"

	"hospital.example/analyze-retry/internal/testing/cluster"
)

// ledger is what happened to the jobs of a test, by the broker's own records. It also holds what the broker refused: a
// second answer to a job that is gone must be the same as the first.
type ledger struct {
	broker *cluster.Cluster
	seen   int
	jobs   map[int64]*life
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
	// fate is the event that ended the job, or INCIDENT; "" while it is open.
	fate      string
	incidents int
}

// answer is one command about a job that the broker was sent, taken or not.
type answer struct {
	intent  string // COMPLETE, THROW_ERROR, FAIL
	payload string // all that the command carried
	value   jobValue
}

// jobValue is what the command about a job carries.
type jobValue struct {
	Retries                 int32
	ErrorMessage, ErrorCode string
	Variables               json.RawMessage
}

func newLedger(b *cluster.Cluster) *ledger {
	return &ledger{broker: b, jobs: map[int64]*life{}}
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
	case "JOB", "JOB_BATCH", "INCIDENT":
	default:
		return nil
	}
	var v struct {
		jobValue
		Type    string
		JobKey  int64
		JobKeys []int64
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return err
	}
	job := l.jobs[r.Key]
	switch what := r.ValueType + " " + r.RecordType + " " + r.Intent; {
	case what == "JOB EVENT CREATED" && v.Type == "analyze-retry":
		l.jobs[r.Key] = &life{}
	case what == "JOB_BATCH EVENT ACTIVATED":
		for _, key := range v.JobKeys {
			if j := l.jobs[key]; j != nil {
				l.activated++
				j.active = true
			}
		}
	case what == "INCIDENT EVENT CREATED":
		l.texts = append(l.texts, v.ErrorMessage)
		if j := l.jobs[v.JobKey]; j != nil {
			j.incidents++
			j.fate = "INCIDENT"
		}
	case r.ValueType == "JOB" && job != nil:
		l.takeJob(job, r, v.jobValue)
	}
	return nil
}

func (l *ledger) takeJob(j *life, r *cluster.Record, v jobValue) {
	switch r.RecordType + " " + r.Intent {
	case "COMMAND COMPLETE", "COMMAND THROW_ERROR", "COMMAND FAIL":
		payload, _ := json.Marshal(v) // it has just been read
		j.answers = append(j.answers, answer{r.Intent, string(payload), v})
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
