package chaos

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// The guards: a decision is synced to the store before it is answered, and a job that comes again gets what is stored. Seen
// to fail without: where the new decision is answered instead of the stored one, jobs are answered with what the store does
// not hold; where a job is not known again, it is decided two to four times.
func TestKilledWorkerLosesNothingAndDecidesNothingTwice(t *testing.T) {
	for name, in := range map[string]func(*rig){"SQLite": func(*rig) {}, "PostgreSQL": (*rig).isInPostgreSQL} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			in(r)
			r.broker.SetPace(4 * time.Millisecond) // as one that syncs each command: so locks run out
			r.start().stops()                      // it has made the store
			undecided, unanswered := 0, 0
			for range 5 {
				undecided += r.killsBeforeTheCommit()
				unanswered += r.killsBeforeTheAnswer()
			}
			r.start("RETRY_JOB_TIMEOUT=2s")
			invariants(r)
			r.happened(undecided, "active jobs whose decision was not stored")
			r.happened(unanswered, "decisions stored and not answered")
			r.happened(r.logged("answer_repeated"), "stored decisions answered later")
		})
	}
}

// isInPostgreSQL moves the store there before a worker is started.
func (r *rig) isInPostgreSQL() { r.url = devpostgres.Database(r.T) }

// killsBeforeTheCommit kills a worker with jobs that have no decision in the store, and returns how many.
func (r *rig) killsBeforeTheCommit() (undecided int) {
	r.Helper()
	w := r.launch("RETRY_JOB_TIMEOUT=2s")
	r.untilAtWork(2 * chunk)
	commit := r.holdsCommits()
	r.submit(chunk) // or there may be none left
	check.Await(r, "jobs wait for their commit", func() bool {
		undecided = r.unrecorded()
		return undecided > 0
	})
	w.kills()
	commit()
	return undecided
}

// killsBeforeTheAnswer kills a worker whose answers to decided jobs are held up, and returns how many.
func (r *rig) killsBeforeTheAnswer() (unanswered int) {
	r.Helper()
	w := r.launch("RETRY_JOB_TIMEOUT=2s")
	for unanswered == 0 { // where all were answered already: once more
		r.untilAtWork(2 * chunk)
		r.proxy.Set(proxy.Faults{Hole: [2]bool{proxy.ToServer: true}})
		r.pass(time.Second)
		if unanswered = len(r.records()) - r.done(); unanswered > 0 {
			w.kills()
		}
		r.proxy.ResetAll()
		r.proxy.Set(proxy.Faults{})
	}
	return unanswered
}

// unrecorded is how many jobs are active and have no decision in the store.
func (r *rig) unrecorded() (n int) {
	r.Helper()
	recorded := map[int64]bool{}
	for _, record := range r.records() {
		recorded[record.JobKey] = true
	}
	for key, job := range r.look().jobs {
		if job.active && !recorded[key] {
			n++
		}
	}
	return n
}

// holdsCommits lets no worker commit until commit is called.
func (r *rig) holdsCommits() (commit func()) {
	r.Helper()
	if path, is := strings.CutPrefix(r.url, "sqlite://"); is {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
		check.Must(r, err)
		tx, err := db.BeginTx(context.Background(), nil)
		check.Must(r, err)
		return func() {
			check.Must(r, tx.Rollback())
			check.Must(r, db.Close())
		}
	}
	conn, err := pgx.Connect(r.Context(), r.url)
	check.Must(r, err)
	_, err = conn.Exec(r.Context(), "BEGIN; LOCK TABLE analyze_retry.records IN EXCLUSIVE MODE")
	check.Must(r, err)
	return func() { check.Must(r, conn.Close(context.Background())) }
}
