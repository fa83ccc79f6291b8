package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// most are the canaries of row 26: as many texts as there are claims, so that none is like another. PostgreSQL gets some
// of them.
var most = redacttest.Take(26, either(600, 100_000))

// Row 26. The guards are redact.Text before anything is stored, messages that name rules and shapes instead of values,
// and logs that know neither variables nor the gateway's texts. Seen to fail without: where the stored error is not
// redacted, patients are found in the database, its exports and histories, the events and the queue.
func TestNoPersonalDataLeavesTheProcessVariables(t *testing.T) {
	onBothStores(t, setup{row: 26, busy: true, what: "personal data through every path"}, func(r *rig) {
		patients := most
		if r.setup.store == inPostgres {
			patients = most[:either(300, 20_000)]
		}
		r.oddClaims = true
		q := r.startsKafka().topic(r, "patients")
		settings := []string{"RETRY_JOB_TIMEOUT=5s", "RETRY_LOG_LEVEL=debug", "RETRY_EVENTS_URL=" + q.url}
		w := r.start(append(settings, "ANALYZE_RETRY_FAILPOINTS=decided=panic@CLM-26-panic", "ANALYZE_RETRY_FAILPOINT_TEXT="+patients[0].Text)...)
		r.must(r.broker.Deploy(r.Context(), "testdata/uncaught.bpmn"))
		finder := redacttest.NewFinder(patients...)
		began := r.ledger.seen
		paths := r.submitsFor(patients)
		r.until("all jobs come to an end", func() bool { return r.look().open() == 0 && len(r.ledger.jobs) >= len(r.claims) })
		w.metric("go_goroutines")
		// Jobs that are gone when they are answered.
		paths["undelivered"] = r.undelivered(settings)
		w = r.workers[len(r.workers)-1]
		q.drains(w)
		w.metric("go_goroutines")

		if found := finder.Find(r.variables(began)); len(found) < len(patients) {
			r.Fatalf("the finder is blind: %d secrets of %d texts in the process variables", len(found), len(patients))
		}
		r.stopAll()
		outputs := r.outputs(q)
		searched(r.T, finder, outputs)
		invariants(r)
		for _, path := range []string{"retry", "permanent", "exhausted", "invalid", "uncaught", "panic", "undelivered"} {
			r.happened(paths[path], path)
		}
		r.happened(r.logged("handler_failed_on_job"), "panics with a patient in their value")
		r.happened(len(outputs), "outputs searched")
	})
}

// submitsFor starts an instance for each text, by all ways that a job can take, and returns how many there are by way.
func (r *rig) submitsFor(patients []redacttest.Canary) map[string]int {
	r.Helper()
	paths := map[string]int{}
	var batch []claim
	flush := func() {
		if len(batch) > 0 {
			r.must(r.create(manyTasks, map[string]any{"claims": batch}))
			batch = nil
			r.until("the worker keeps up", func() bool { return r.open() < 5_000 })
		}
	}
	for i, patient := range patients {
		path := "retry"
		switch {
		case i%10 == 0:
			path = []string{"permanent", "exhausted", "invalid", "uncaught", "panic"}[i/10%5]
		case policy.BuiltIn("tiss").Classify(patient.Text).Class == retry.Permanent:
			path = "permanent"
		}
		paths[path]++
		c := claim{ID: fmt.Sprintf("CLM-26-%s-%d", path, i), Error: patient.Text}
		variables, process := map[string]any{"claimId": c.ID, "submissionError": c.Error}, oneTask
		switch path {
		case "permanent":
			variables["submissionError"] = "INSURANCE_EXPIRED " + c.Error
		case "exhausted":
			variables["retryCount"] = 5
		case "uncaught":
			variables["retryCount"], process = 5, "UncaughtError"
		case "invalid":
			// Personal data where none belongs: in the place of the claim, of the count and of the time.
			variables = map[string]any{"claimId": c.Error, "submissionError": []string{c.Error}, "retryCount": c.Error, "lastSubmissionTime": c.Error}
		}
		r.mu.Lock()
		r.claims[c.ID] = c
		r.mu.Unlock()
		if path != "retry" {
			r.must(r.create(process, variables))
			continue
		}
		if batch = append(batch, c); len(batch) == 100 {
			flush()
		}
	}
	flush()
	return paths
}

// undelivered has some claims decided whose instances are gone before the answer is sent.
func (r *rig) undelivered(settings []string) (n int) {
	r.Helper()
	r.stopAll()
	slow := r.start(append(slices.Clone(settings), "ANALYZE_RETRY_FAILPOINTS=stored=300ms@CLM-26-gone")...)
	for i := range 5 {
		c := claim{ID: fmt.Sprintf("CLM-26-gone-%d", i), Error: most[i].Text}
		key := r.submitOne(c, nil)
		r.until("the claim is stored", func() bool { return strings.Contains(slow.printed(), "fault: 300ms at stored of "+c.ID) })
		r.cancels(key)
	}
	r.until("it is recorded that the answers did not arrive", func() bool {
		n = 0
		for _, record := range r.records() {
			if record.Kind == audit.KindUndelivered {
				n++
			}
		}
		return n == 5
	})
	return n
}

// variables are the process variables, as the broker has recorded them since then.
func (r *rig) variables(since int) []byte {
	r.Helper()
	records, err := r.broker.Records()
	r.must(err)
	var all bytes.Buffer
	for _, record := range records[since:] {
		if record.ValueType == "VARIABLE" && record.RecordType == "EVENT" {
			var v struct{ Name, Value string }
			r.must(json.Unmarshal(record.Value, &v))
			fmt.Fprintln(&all, v.Name, v.Value)
		}
	}
	return all.Bytes()
}

// outputs is everything that leaves the worker, by name.
func (r *rig) outputs(q *queue) map[string][]byte {
	r.Helper()
	all := r.written()
	all["the queue's messages"] = bytes.Join(q.read(), []byte("\n"))
	all["incidents, errors and failures at the broker"] = []byte(strings.Join(r.ledger.texts, "\n"))
	run := func(command *exec.Cmd) {
		out, err := command.CombinedOutput()
		if err != nil {
			r.Fatalf("%v: %v: %s", command.Args, err, out)
		}
		all[strings.Join(command.Args[1:], " ")] = out
	}
	run(r.command("events", "tail", "--all"))
	run(r.command("claims", "--json"))
	run(r.command("kpi"))
	run(r.command("audit", "verify"))
	for _, c := range []string{"CLM-26-permanent-0", "CLM-26-exhausted-10", "CLM-26-uncaught-30", "CLM-26-gone-1"} {
		run(r.command("history", c))
		run(r.command("history", c, "--json"))
		run(r.command("audit", "export", c))
	}
	if r.setup.store == inPostgres {
		dump := exec.CommandContext(r.Context(), "pg_dump", r.store.url)
		run(dump)
		log, err := os.ReadFile(devpostgres.Shared(r.T).LogFile())
		r.must(err)
		all["PostgreSQL's log"] = log
	}
	return all
}
