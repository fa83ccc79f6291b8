package chaos

import (
	"strings"
	"testing"
)

// Row 33. The guard is that a job is known again by what any version made of its inputs (worker.inputsOf), and answered
// with what is stored. Seen to fail without: where the newer one hashes one part more, 100 of 120 jobs are decided twice.
func TestNewerWorkerGoesOnWithAnOlderOnesDecisions(t *testing.T) {
	onBothStores(t, setup{row: 33, what: "upgrade with active jobs"}, func(r *rig) {
		r.permanent = ofTheDocuments
		r.binary = r.previousWorker()
		r.submit(either(60, 600))
		w := r.launch("RETRY_JOB_TIMEOUT=1s", "ANALYZE_RETRY_FAULTS=stored=kill#20") // what the older worker calls its failpoints
		r.until("the worker dies with decisions stored and not answered", func() bool { return !w.Alive() })
		r.binary = binary
		w = r.start("RETRY_JOB_TIMEOUT=1s")
		r.untilDone()
		repeated := len(w.lines("decision_repeated"))
		w.stops()
		invariants(r)
		r.happened(1, "changes of version")
		r.happened(repeated, "decisions of the other version sent")
		r.happened(len(r.claims), "claims")
	})
}

// Row 33. The guard is the look at the schema's version before anything is read or written. Seen to fail without: the worker
// starts and works, on either store.
func TestNewerStoreIsRefusedWithHelp(t *testing.T) {
	present := map[string]string{inSQLite: "7", inPostgres: "6"}
	onBothStores(t, setup{row: 33, what: "downgrade behind a change of the schema"}, func(r *rig) {
		r.permanent = ofTheDocuments
		r.warm(30)
		r.stopAll()
		m := r.meddles()
		refusals := 0
		refuses := func(by, version string) {
			r.Helper()
			r.binary = by
			if text := r.isRefused("schema version " + version); !strings.Contains(text, "run the newer worker, or restore a backup") {
				r.Errorf("the refusal does not say what to do:\n%s", text)
			}
			refusals++
		}
		m.does("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
		refuses(binary, "99")
		refuses(r.previousWorker(), "99")
		m.does("DELETE FROM goose_db_version WHERE version_id = 99")
		refuses(r.previousWorker(), present[r.setup.store]) // which it got with the newer worker
		r.binary = binary
		r.start()
		r.submit(30)
		invariants(r)
		r.happened(refusals, "refusals")
	})
}
