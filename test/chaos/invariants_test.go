package chaos

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// maxRSS is the most memory that a worker may hold, in bytes (I6).
const maxRSS = 128 << 20

// invariants waits until all jobs have come to an end, stops the workers, and holds what must be true after any fault:
//
//	I1  each started instance came to its end or has an incident, and each job exactly one end, the right one; no answer
//	    is recorded as not delivered, unless the row has cancelled the instance or a lock of the job has run out
//	I2  one decision for each job, and all answers that were sent to it are the same bytes
//	I3  no job was answered without its record; the chain of records verifies. That the record was there first, and synced,
//	    shows where the process dies in between: rows 1, 14 and 16
//	I4  each record has its event, with an ID of its own; the queue has it, or where there is none the outbox
//	I5  no personal data in the store, the logs, the metrics or the broker's incidents
//	I6  goroutines, files and series of metrics are back where they were, and the memory is bounded
//
// It returns the records by the key of their job.
func invariants(r *rig) map[int64][]audit.Record {
	r.Helper()
	r.untilDone()
	spent := r.resources()
	if last := r.workers[len(r.workers)-1]; r.queue != nil && last.Alive() {
		r.queue.drains(last)
	}
	r.stopAll()
	records := r.records()
	byJob := map[int64][]audit.Record{}
	for _, record := range records {
		byJob[record.JobKey] = append(byJob[record.JobKey], record)
	}
	r.look()
	r.eachJobHasItsEnd(byJob)
	r.eachClaimIsDecidedOnce(records)
	r.chainHolds(len(records))
	r.eventsAreKept(records)
	r.backToBaseline(spent) // its worker adds no record
	r.nothingPersonal(records)
	return byJob
}

// decisions are those of the commands that carry a decision: no job that was released, and none that
// failed because a handler did.
func decisions(answers []answer) (found []answer) {
	for _, a := range answers {
		if a.intent != "FAIL" || a.value.Retries == 0 && !isFault(a.value.ErrorMessage) {
			found = append(found, a)
		}
	}
	return found
}

// isFault reports whether a failed job's message speaks of the worker rather than of its input.
func isFault(message string) bool {
	return strings.HasPrefix(message, "the worker's ") || strings.HasPrefix(message, "released: ") ||
		strings.Contains(message, "nested too deep")
}

// ends are the events in which a job must end, by what was decided.
var ends = map[audit.Kind]string{
	audit.KindRetry: "COMPLETED", audit.KindExhausted: "ERROR_THROWN", audit.KindPermanent: "ERROR_THROWN", audit.KindRejected: "INCIDENT",
}

// eachJobHasItsEnd holds I1, I2 and I3 job by job.
func (r *rig) eachJobHasItsEnd(records map[int64][]audit.Record) {
	r.Helper()
	if len(r.ledger.jobs) != len(r.claims) || int64(len(r.ledger.instances)) != r.started.Load() {
		r.Errorf("I1: %d claims became %d jobs, %d instances were started and %d are there",
			len(r.claims), len(r.ledger.jobs), r.started.Load(), len(r.ledger.instances))
	}
	for key, instance := range r.ledger.instances {
		if !instance.ended && instance.incidents != 1 {
			r.Errorf("I1: instance %d did not end and has %d incidents", key, instance.incidents)
		}
	}
	for key, job := range r.ledger.jobs {
		var decided []audit.Record
		for _, record := range records[key] {
			if record.Kind != audit.KindUndelivered {
				decided = append(decided, record)
			} else if !r.cancelled[job.instance] && job.timedOut == 0 {
				// Where a lock ran out while an answer was on its way, the job is given out again, and a second answer may find
				// that the first has come through after all, although its worker has given it up or died. Whose it was is not known.
				r.Errorf("I1: job %d is %s, and its answer is recorded as not delivered", key, job.fate)
			}
		}
		sent := decisions(job.answers)
		switch {
		case len(decided) > 1:
			r.Errorf("I2: job %d was decided %d times", key, len(decided))
		case len(decided) == 1:
			r.sentAsStored(key, job, sent, &decided[0])
		case len(sent) > 0 || job.fate == "COMPLETED" || job.fate == "ERROR_THROWN":
			r.Errorf("I3: job %d is %s, %d answers were sent, and no decision is stored", key, job.fate, len(sent))
		}
	}
}

// sentAsStored holds what was sent about a job against its record.
func (r *rig) sentAsStored(key int64, job *life, sent []answer, stored *audit.Record) {
	r.Helper()
	if want := ends[stored.Kind]; job.fate != want && !r.cancelled[job.instance] {
		r.Errorf("I1: job %d was decided as %s and ended as %q", key, stored.Kind, job.fate)
	}
	if job.incidents > 1 {
		r.Errorf("I1: job %d has %d incidents", key, job.incidents)
	}
	for _, a := range sent {
		if a.intent != sent[0].intent || a.payload != sent[0].payload {
			r.Errorf("I2: two answers to job %d differ:\n%s %s\n%s %s", key, sent[0].intent, sent[0].payload, a.intent, a.payload)
		}
	}
	if len(sent) == 0 {
		if !r.cancelled[job.instance] {
			r.Errorf("I3: job %d is %s, and no answer to it was seen", key, job.fate)
		}
		return
	}
	if stored.Kind == audit.KindRejected || stored.Kind == audit.KindExhausted || stored.Kind == audit.KindPermanent {
		if sent[0].value.ErrorMessage != stored.Message {
			r.Errorf("I2: job %d was answered %q, stored is %q", key, sent[0].value.ErrorMessage, stored.Message)
		}
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

// eachClaimIsDecidedOnce finds, by the claims' own IDs, what was lost, decided twice or decided wrongly.
func (r *rig) eachClaimIsDecidedOnce(records []audit.Record) {
	r.Helper()
	if r.oddClaims {
		return
	}
	times := map[string]int{}
	for _, record := range records {
		if record.Kind == audit.KindUndelivered {
			continue
		}
		c, known := r.claims[record.ClaimID]
		if times[record.ClaimID]++; !known || c.kind != record.Kind && c.kind != 0 {
			r.Errorf("I1: %s was recorded for claim %q, want %s", record.Kind, record.ClaimID, c.kind)
		}
	}
	for id, c := range r.claims {
		if times[id] > 1 || times[id] < 1 && c.kind != 0 && !r.cancelled[c.instance] {
			r.Errorf("I2: claim %s has %d decisions", id, times[id])
		}
	}
}

func (r *rig) chainHolds(records int) {
	r.Helper()
	s := r.store.open(r)
	defer func() { r.check(s.Close()) }()
	v, err := audit.Verify(r.Context(), s, r.store.secret.Public(), nil, nil)
	if err != nil || v.Records != int64(records) {
		r.Errorf("I3: %d of %d records verified, %v", v.Records, records, err)
	}
}

// eventsAreKept holds I4: each record makes one event, no two share an ID, and all of them are where they must be.
func (r *rig) eventsAreKept(records []audit.Record) {
	r.Helper()
	ids := map[string]int64{}
	for i := range records {
		e, err := events.FromRecord(&records[i])
		if err != nil {
			r.Errorf("I4: %v", err)
			continue
		}
		if other, taken := ids[e.ID]; taken {
			r.Errorf("I4: records %d and %d have the same event", other, records[i].ID)
		}
		ids[e.ID] = records[i].ID
	}
	waiting, want := r.backlog(), len(records)
	if r.queue != nil {
		want, r.repeated = 0, r.queue.hasAll(ids)
	}
	if waiting != want {
		r.Errorf("I4: %d events are in the outbox, want %d", waiting, want)
	}
}

// backlog is how many events no queue has acknowledged.
func (r *rig) backlog() int {
	r.Helper()
	s := r.store.open(r)
	defer func() { r.check(s.Close()) }()
	waiting, _, err := s.Backlog(r.Context())
	r.must(err)
	return int(waiting)
}

// fraction is a time of the running clock, to the fraction of a second; steps is how many microseconds the steps of a
// decision took.
var (
	fraction = regexp.MustCompile(`(T\d\d:\d\d):\d\d\.\d+`)
	steps    = regexp.MustCompile(`(afterMicros\W{1,4}\[)[0-9,]*`)
)

// withoutClock takes what a running clock has left in a record: at 19.940812 s, or after 196 and 30,713 us, it is somebody's
// birth date, once in some hundred thousand records.
func withoutClock(blob []byte) []byte {
	return steps.ReplaceAll(fraction.ReplaceAll(blob, []byte("$1")), []byte("$1"))
}

// nothingPersonal holds I5. What the process variables hold is the process's own, and is not looked at.
func (r *rig) nothingPersonal(records []audit.Record) {
	r.Helper()
	blobs := r.written()
	blobs["texts at the broker"] = []byte(strings.Join(r.ledger.texts, "\n"))
	var stored bytes.Buffer
	for _, record := range records {
		stored.WriteString(record.ClaimID + "\n" + record.Message + "\n" + record.Variables + "\n" + record.Detail + "\n")
	}
	blobs["records"] = stored.Bytes()
	searched(r.T, redacttest.NewFinder(canaries...), blobs)
}

// written is what the row has left in files and in the metrics, by name.
func (r *rig) written() map[string][]byte {
	r.Helper()
	blobs := map[string][]byte{}
	files := r.store.files()
	for _, w := range r.workers {
		files = append(files, w.log)
		blobs["metrics of "+w.log] = []byte(w.scraped)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		r.must(err)
		blobs[file] = text
	}
	return blobs
}

// searched fails the test where somebody's data is in what is searched, by name.
func searched(t *testing.T, finder *redacttest.Finder, blobs map[string][]byte) {
	t.Helper()
	for name, blob := range blobs {
		if found := finder.Find(withoutClock(blob)); len(found) > 0 {
			t.Errorf("I5: %d pieces of personal data in %s, such as %v", len(found), name, found[0])
		}
	}
}

// usage is what a worker holds of the machine.
type usage struct{ goroutines, files, memory, series float64 }

// A pool keeps some connections to the store and to the gateway open. Some series begin with what they count first, and a policy
// has 23 of open claims.
const spareGoroutines, spareFiles, spareSeries = 20, 20, 50

// usual is what the fresh worker of an earlier row held (usage), by store. Each row is judged by its own.
var usual sync.Map

func (w *worker) usage() usage {
	w.rig.Helper()
	w.metric("go_goroutines")
	u := usage{
		goroutines: sample(w.scraped, "go_goroutines"), files: sample(w.scraped, "process_open_fds"),
		memory: sample(w.scraped, "process_resident_memory_bytes"),
	}
	for line := range strings.Lines(w.scraped) {
		if line[0] != '#' {
			u.series++
		}
	}
	return u
}

// resources is the most that any worker holds now that there is nothing to do. Each is given some seconds to let go.
func (r *rig) resources() (most usage) {
	r.Helper()
	for _, w := range r.workers {
		if !w.Alive() {
			continue
		}
		least := w.usage()
		for range 20 {
			known, _ := usual.Load(r.setup.store)
			if u, _ := known.(usage); least.goroutines <= u.goroutines+spareGoroutines/2 && least.files <= u.files+spareFiles/2 {
				break // hardly more than a fresh one held in another row: there is nothing to wait for
			}
			r.pass(100 * time.Millisecond)
			now := w.usage()
			least = usage{min(least.goroutines, now.goroutines), min(least.files, now.files), max(least.memory, now.memory), now.series}
		}
		most = usage{
			max(most.goroutines, least.goroutines), max(most.files, least.files), max(most.memory, least.memory), max(most.series, least.series),
		}
	}
	return most
}

// backToBaseline holds I6: what a worker has kept after the fault is not more than a fresh one on the same store has. The
// fresh one proves, too, that the store can be opened again.
func (r *rig) backToBaseline(spent usage) {
	r.Helper()
	fresh := r.start()
	r.until("the fresh worker polls and has counted the claims", func() bool {
		return fresh.metric("retry_gateway_up") == 1 && strings.Contains(fresh.scraped, "\nretry_claims{")
	})
	baseline := fresh.usage()
	usual.Store(r.setup.store, baseline)
	fresh.kills() // it has done nothing, and an orderly end takes as long as a poll
	if spent.memory > maxRSS {
		r.Errorf("I6: a worker holds %.0f MiB", spent.memory/(1<<20))
	}
	if !r.mayHang && spent.goroutines > baseline.goroutines+spareGoroutines || spent.files > baseline.files+spareFiles {
		r.Errorf("I6: a worker holds %.0f goroutines and %.0f files, a fresh one %.0f and %.0f",
			spent.goroutines, spent.files, baseline.goroutines, baseline.files)
	}
	if spent.series > baseline.series+spareSeries {
		r.Errorf("I6: a worker has %.0f series of metrics, a fresh one %.0f", spent.series, baseline.series)
	}
}
