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
	value   cluster.Value
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
		l.take(&records[l.seen])
	}
	return nil
}

func (l *ledger) take(r *cluster.Record) {
	job := l.jobs[r.Key]
	switch {
	case r.Is("JOB", "CREATED") && r.Type == "analyze-retry":
		l.jobs[r.Key] = &life{}
	case r.Is("JOB_BATCH", "ACTIVATED"):
		for _, key := range r.JobKeys {
			if j := l.jobs[key]; j != nil {
				l.activated++
				j.active = true
			}
		}
	case r.Is("INCIDENT", "CREATED"):
		l.texts = append(l.texts, r.ErrorMessage)
		if j := l.jobs[r.JobKey]; j != nil {
			j.incidents++
			j.fate = "INCIDENT"
		}
	case r.ValueType == "JOB" && job != nil:
		l.takeJob(job, r)
	}
}

func (l *ledger) takeJob(j *life, r *cluster.Record) {
	switch r.RecordType + " " + r.Intent {
	case "COMMAND COMPLETE", "COMMAND THROW_ERROR", "COMMAND FAIL":
		payload, _ := json.Marshal(r.Value) // it has just been read
		j.answers = append(j.answers, answer{r.Intent, string(payload), r.Value})
		l.texts = append(l.texts, r.ErrorMessage)
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
