package chaos

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/eventstest"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// invariants waits until all jobs have come to an end, stops the workers, and holds what must be true after any fault:
//
//	I1  each job has exactly one end, the right one for its claim; a job that is released keeps its retries
//	I2  one decision for each job, by the worker's clock, and all answers that were sent to it are the same bytes
//	I3  no job was answered without its record, and the trail verifies: the chains, the links and the rows of the claims
//	I4  each record has its event, with an ID of its own: in the queue, or where there is none in the outbox
//	I5  no personal data in the store, the logs, the metrics or the broker's incidents
//	I6  goroutines, files and memory of a worker are bounded: what a fault has taken is given back
func invariants(r *rig) {
	r.Helper()
	r.untilDone()
	check.Await(r, "the queue has all events", func() bool { return r.queue == nil || r.backlog() == 0 })
	for _, w := range r.alive() {
		w.backToFresh()
		w.stops()
	}
	records := r.records()
	byJob := map[int64][]audit.Record{}
	for _, record := range records {
		byJob[record.JobKey] = append(byJob[record.JobKey], record)
		if record.At.Before(r.began) || record.At.After(time.Now()) {
			r.Errorf("I2: job %d was decided at %v, by another clock than the worker's", record.JobKey, record.At)
		}
	}
	r.look()
	if len(r.ledger.jobs) != len(r.claims) {
		r.Errorf("I1: %d claims became %d jobs", len(r.claims), len(r.ledger.jobs))
	}
	for key, job := range r.ledger.jobs {
		r.hasItsEnd(key, job, byJob[key])
	}
	r.read(func(s audit.Store) error {
		v, err := audit.Verify(r.Context(), s, r.secret.Public(), nil)
		if err != nil || v.Records != int64(len(records)) {
			r.Errorf("I3: %d of %d records verified, %v", v.Records, len(records), err)
		}
		return nil
	})
	r.eventsAreKept(records)
	r.nothingPersonal()
}

// decisions are the commands that carry a decision: not those that release a job, or fail it because a handler did.
func decisions(answers []answer) (found []answer) {
	for _, a := range answers {
		if a.intent != "FAIL" || a.value.Retries == 0 {
			found = append(found, a)
		}
	}
	return found
}

// ends are the events in which a job must end, by what was decided.
var ends = map[audit.Kind]string{
	audit.KindRetry: "COMPLETED", audit.KindExhausted: "ERROR_THROWN", audit.KindPermanent: "ERROR_THROWN", audit.KindRejected: "INCIDENT",
}

// hasItsEnd holds I1, I2 and I3 for a job.
func (r *rig) hasItsEnd(key int64, job *life, records []audit.Record) {
	r.Helper()
	sent := decisions(job.answers)
	if len(records) != 1 || len(sent) == 0 {
		r.Errorf("I2, I3: job %d is %q and has %d records and %d answers", key, job.fate, len(records), len(sent))
		return
	}
	stored := records[0]
	if want := r.claims[stored.ClaimID].kind; stored.Kind != want {
		r.Errorf("I1: %s was recorded for claim %q, want %s", stored.Kind, stored.ClaimID, want)
	}
	if want := ends[stored.Kind]; job.fate != want || job.incidents > 1 {
		r.Errorf("I1: job %d was decided as %s, ended as %q and has %d incidents", key, stored.Kind, job.fate, job.incidents)
	}
	for _, a := range job.answers {
		if a.intent == "FAIL" && a.value.Retries != 0 && a.value.Retries != 3 {
			r.Errorf("I1: job %d has %d retries left, because: %s", key, a.value.Retries, a.value.ErrorMessage)
		}
	}
	for _, a := range sent {
		if a.intent != sent[0].intent || a.payload != sent[0].payload {
			r.Errorf("I2: two answers to job %d differ:\n%s %s\n%s %s", key, sent[0].intent, sent[0].payload, a.intent, a.payload)
		}
	}
	if stored.Kind != audit.KindRetry && sent[0].value.ErrorMessage != stored.Message {
		r.Errorf("I2: job %d was answered %q, stored is %q", key, sent[0].value.ErrorMessage, stored.Message)
	}
	if stored.Variables != "" && !sameVariables(sent[0].value.Variables, stored.Variables) {
		r.Errorf("I2: job %d was answered with %s, stored is %s", key, sent[0].value.Variables, stored.Variables)
	}
}

// sameVariables compares what was sent with what is stored, which is all but the insurer's own text.
func sameVariables(sent json.RawMessage, stored string) bool {
	var a, b map[string]any
	if json.Unmarshal(sent, &a) != nil || json.Unmarshal([]byte(stored), &b) != nil {
		return false
	}
	delete(a, "originalError")
	return reflect.DeepEqual(a, b)
}

// eventsAreKept holds I4. An event in the queue that is of no record is a head.
func (r *rig) eventsAreKept(records []audit.Record) {
	r.Helper()
	if r.queue == nil {
		r.leads()
		check.Same(r, int64(len(records)), r.backlog(), "I4: events in the outbox")
		return
	}
	eventstest.Complete(r.T, records, slices.DeleteFunc(r.queue.Received(r.T, "chaos"), func(e events.Event) bool {
		return strings.Contains(string(e.JSON), events.TypeAuditHead)
	}))
}

// clock is what a running clock leaves in a record: the fraction of a second, and the microseconds of a decision's steps.
// At 19.940812 s, or after 196 and 30,713 us, that is somebody's birth date, once in some hundred thousand records.
var clock = regexp.MustCompile(`(T\d\d:\d\d:\d\d\.\d+)|(afterMicros\W{1,4}\[[0-9,]*)`)

// nothingPersonal holds I5. What the process variables hold is the process's own, and is not looked at.
func (r *rig) nothingPersonal() {
	r.Helper()
	blobs := map[string][]byte{"texts at the broker": []byte(strings.Join(r.ledger.texts, "\n"))}
	files, err := filepath.Glob(filepath.Join(r.dir, "*")) // the store, the logs, the events of the queue
	check.Must(r, err)
	for _, file := range files {
		blobs[file], err = os.ReadFile(file)
		check.Must(r, err)
	}
	for _, w := range r.workers {
		blobs["metrics of "+w.Log] = []byte(w.series)
	}
	for _, record := range r.records() {
		blobs["records"] = append(blobs["records"], record.ClaimID+"\n"+record.Message+"\n"+record.Variables+"\n"+record.Detail+"\n"...)
	}
	finder := redacttest.NewFinder(canaries...)
	for name, blob := range blobs {
		if found := finder.Find(clock.ReplaceAll(blob, nil)); len(found) > 0 {
			r.Errorf("I5: %d pieces of personal data in %s, such as %v", len(found), name, found[0])
		}
	}
}

// usage is what a worker holds of the machine.
type usage struct{ goroutines, files, memory float64 }

// A pool keeps some connections to the store, the gateway and the queue open. maxMemory is in bytes.
const (
	spareGoroutines = 30
	spareFiles      = 20
	maxMemory       = 128 << 20
)

func (w *worker) usage() usage {
	w.rig.Helper()
	_, w.series = w.Get(w.rig.Context(), "/metrics")
	of := func(name string) (value float64) {
		if _, rest, is := strings.Cut(w.series, "\n"+name+" "); is {
			line, _, _ := strings.Cut(rest, "\n")
			value, _ = strconv.ParseFloat(line, 64)
		}
		if value == 0 {
			w.rig.Fatalf("%s is not among the metrics:\n%s", name, w.series)
		}
		return value
	}
	return usage{of("go_goroutines"), of("process_open_fds"), of("process_resident_memory_bytes")}
}

// backToFresh holds I6. What was held in the fault may take some seconds to go.
func (w *worker) backToFresh() {
	w.rig.Helper()
	var now usage
	defer func() {
		if w.rig.Failed() {
			w.rig.Logf("I6: worker %d holds %+v, when it was fresh %+v", w.PID(), now, w.fresh)
		}
	}()
	check.Await(w.rig, "a worker gives back what it has taken (I6)", func() bool {
		now = w.usage()
		return now.goroutines <= w.fresh.goroutines+spareGoroutines && now.files <= w.fresh.files+spareFiles && now.memory < maxMemory
	})
}
