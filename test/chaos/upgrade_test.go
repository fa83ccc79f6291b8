package chaos

import (
	"os"
	"strings"
	"testing"
)

// Row 33. The guard is that a job is known again by what any version made of its inputs (worker.inputsOf), and answered
// with what is stored. Seen to fail without: where the newer one hashes one part more, 100 of 120 jobs are decided twice.
func TestAnOlderAndANewerWorkerGoOnWithEachOthersDecisions(t *testing.T) {
	older := previousWorker(t)
	turns := []string{older, binary} // there is no way back behind the change of the schema
	for _, in := range []string{inSQLite, inPostgres} {
		t.Run(in, func(t *testing.T) {
			r := newRig(t, setup{row: 33, what: "upgrade with active jobs", store: in})
			r.permanent = ofTheDocuments
			repeated := 0
			for i, next := range turns[1:] {
				r.binary = turns[i]
				r.submit(either(60, 600))
				w := r.launch("RETRY_JOB_TIMEOUT=1s", "ANALYZE_RETRY_FAILPOINTS=stored=kill#20", "ANALYZE_RETRY_FAULTS=stored=kill#20") // the older worker knows the second
				r.until("the worker dies with decisions stored and not answered", func() bool { return !w.Alive() })
				r.binary = next
				w = r.start("RETRY_JOB_TIMEOUT=1s")
				r.untilDone()
				found := len(w.lines("decision_repeated"))
				if found == 0 {
					t.Errorf("the worker of turn %d has found none of the decisions of the one before", i+2)
				}
				repeated += found
				w.stops()
			}
			r.binary = binary
			invariants(r)
			r.happened(len(turns)-1, "changes of version")
			r.happened(repeated, "decisions of the other version sent")
			r.happened(len(r.claims), "claims")
		})
	}
}

// Row 33. The guard is the look at the schema's version before anything is read or written. Seen to fail without: the worker
// starts and works, on either store.
func TestAStoreOfANewerVersionIsRefusedWithWordsThatHelp(t *testing.T) {
	older := previousWorker(t)
	for in, present := range map[string]string{inSQLite: "5", inPostgres: "4"} {
		t.Run(in, func(t *testing.T) {
			r := newRig(t, setup{row: 33, what: "downgrade behind a change of the schema", store: in})
			r.permanent = ofTheDocuments
			r.start()
			r.submit(30)
			r.untilDone()
			r.stopAll()
			m := r.meddles()
			m.does("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
			refusals := 0
			refuses := func(by, version string) {
				t.Helper()
				r.binary = by
				w := r.launch()
				r.until("the worker ends", func() bool { return !w.Alive() })
				text, err := os.ReadFile(w.log)
				r.must(err)
				for _, part := range []string{"schema version " + version, "run the newer worker, or restore a backup"} {
					if w.Err() == nil || !strings.Contains(string(text), part) {
						t.Errorf("the worker ended with %v and does not say %q:\n%s", w.Err(), part, text)
					}
				}
				refusals++
			}
			refuses(binary, "99")
			refuses(older, "99")
			m.does("DELETE FROM goose_db_version WHERE version_id = 99")
			refuses(older, present) // which it got with the newer worker
			r.binary = binary
			r.start()
			r.submit(30)
			invariants(r)
			r.happened(refusals, "refusals")
		})
	}
}
