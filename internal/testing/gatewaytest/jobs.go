package gatewaytest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// Job is a job to be put into the queue.
type Job struct {
	// Type is the job type.
	Type string
	// Variables is the JSON object that a worker gets, less what it does not fetch. A text that is no JSON object is
	// delivered as it is.
	Variables string
	// Retries defaults to 3.
	Retries int32
	// ProcessInstanceKey, ProcessID and ElementID are delivered as they are.
	ProcessInstanceKey   int64
	ProcessID, ElementID string
	// Poison names a variable that is nested too deep: a poll that fetches it locks its jobs and is never answered.
	Poison string
}

// State is the state of a job.
type State uint8

// The states of a job.
const (
	Waiting   State = iota + 1 // to be activated
	Locked                     // activated and not answered
	Completed                  // answered by CompleteJob
	Thrown                     // answered by ThrowError
	Incident                   // failed without retries left
)

// Counts holds how many jobs are in each state, and how many locks ran out so far.
type Counts struct {
	Waiting, Locked, Completed, Thrown, Incident int
	Expired                                      int
}

func (c *Counts) add(s State, n int) {
	if s > 0 {
		*[]*int{&c.Waiting, &c.Locked, &c.Completed, &c.Thrown, &c.Incident}[s-1] += n
	}
}

// record is a job in the broker.
type record struct {
	Job
	Key      int64
	names    []string // of the variables; nil where Variables is no JSON object
	state    State
	deadline time.Time // of the lock
	message  string    // of the last failure
}

// Add puts jobs into the queue and returns their keys, which rise on each partition.
func (g *Gateway) Add(jobs ...Job) []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	added := make([]int64, 0, len(jobs))
	for _, j := range jobs {
		if j.Retries == 0 {
			j.Retries = 3
		}
		r := &record{Job: j, Key: g.newKey()}
		if values := object(j.Variables); values != nil {
			r.names = slices.Collect(maps.Keys(values))
		}
		g.jobs[r.Key] = r
		g.setState(r, Waiting)
		added = append(added, r.Key)
	}
	return added
}

// Cure makes a poisoned job one that can be delivered, from the next poll on.
func (g *Gateway) Cure(key int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.jobs[key].Poison = ""
}

// Counts returns how many jobs are in each state.
func (g *Gateway) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireAll()
	return g.counts
}

// Job returns a job's state, the retries it has left and the message of its last failure.
func (g *Gateway) Job(key int64) (state State, retries int32, message string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireAll()
	j := g.jobs[key]
	if j == nil {
		return 0, 0, ""
	}
	return j.state, j.Retries, j.message
}

func (g *Gateway) expireAll() {
	now := time.Now()
	for _, q := range g.queues {
		g.expire(q, now)
	}
}

// activate locks up to limit jobs for a worker. The caller holds the mutex.
func (g *Gateway) activate(q *queue, r *pb.ActivateJobsRequest) []*record {
	limit, timeout := int(r.MaxJobsToActivate), time.Duration(r.Timeout)*time.Millisecond
	now := time.Now()
	g.expire(q, now)
	var taken []*record
	for i := range q.ready {
		ready := &q.ready[(q.turn+i)%len(q.ready)]
		for len(taken) < limit && len(*ready) > 0 {
			j := g.jobs[(*ready)[0]]
			*ready = (*ready)[1:]
			if j.state == Waiting { // and not answered after its lock had run out
				g.lock(q, j, now.Add(timeout))
				taken = append(taken, j)
			}
		}
	}
	q.turn++
	return taken
}

// lock locks a job until a time. The caller holds the mutex.
func (g *Gateway) lock(q *queue, j *record, until time.Time) {
	g.setState(j, Locked)
	j.deadline = until
	q.pushLock(lock{until, j.Key})
}

// deliver returns what a worker gets of a job. The caller holds the mutex.
func (g *Gateway) deliver(j *record, worker string, fetch []string) *pb.ActivatedJob {
	return &pb.ActivatedJob{
		Key:                j.Key,
		Type:               j.Type,
		ProcessInstanceKey: j.ProcessInstanceKey,
		BpmnProcessId:      j.ProcessID,
		ElementId:          j.ElementID,
		CustomHeaders:      "{}",
		Worker:             worker,
		Retries:            j.Retries,
		Deadline:           cmp.Or(g.deadline, j.deadline.Add(g.ahead).UnixMilli()),
		Variables:          j.fetched(fetch),
		TenantId:           cmp.Or(g.assigned, "<default>"),
	}
}

// fetched returns the job's variables of these names, or all if there are no names.
func (j *record) fetched(names []string) string {
	unwanted := func(name string) bool { return !slices.Contains(names, name) }
	if len(names) == 0 || !slices.ContainsFunc(j.names, unwanted) {
		return j.Variables
	}
	values := object(j.Variables)
	maps.DeleteFunc(values, func(name string, _ json.RawMessage) bool { return unwanted(name) })
	text, _ := json.Marshal(values)
	return string(text)
}

// object parses a JSON object; it returns nil if the text is none.
func object(text string) map[string]json.RawMessage {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &values) != nil {
		return nil
	}
	return values
}
