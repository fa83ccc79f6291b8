package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// ownPostgres moves the row's store to a server of its own, behind a proxy. The rig looks at the store past the proxy.
func (r *rig) ownPostgres() (server *devpostgres.Server, p *proxy.Proxy, setting string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	server, err := devpostgres.Start(ctx)
	r.must(err)
	r.Cleanup(func() { r.check(server.Close()) })
	r.store.url, err = server.NewDatabase(ctx)
	r.must(err)
	p, err = proxy.Start(server.Address(), 18)
	r.must(err)
	r.Cleanup(func() { r.check(p.Close()) })
	return server, p, "RETRY_DATABASE_URL=" + strings.Replace(r.store.url, server.Address(), p.Address(), 1)
}

// Row 18, and: a store outage of any length makes no incident. The guards are those of row 16,
// and that the probe takes the locks that an append takes. Seen to fail without: behind a lock on the records the worker
// calls itself ready, and takes 105 jobs in eight seconds.
func TestNothingIsAnsweredWhilePostgreSQLIsAway(t *testing.T) {
	r := newRig(t, setup{row: 18, what: "PostgreSQL stopped, killed, behind a lock", store: inPostgres})
	server, _, setting := r.ownPostgres()
	w := r.warm(200, outageLock, setting)

	for _, c := range []struct {
		name  string
		away  func() error
		lasts time.Duration
	}{
		{"stopped", server.Stop, time.Duration(either(3, 600)) * time.Second},
		{"killed", server.Kill, time.Duration(either(3, 30)) * time.Second},
	} {
		o := w.loses(500, func() { r.must(c.away()) })
		o.lasts(c.lasts)
		r.must(server.Restart(t.Context()))
		took := o.over()
		r.untilDone()
		r.happened(1, fmt.Sprintf("time %s (%.0f s, back after %.1f s)", c.name, time.Since(o.began).Seconds(), took.Seconds()))
	}

	// Somebody's lock holds up every write for longer than a handler may take.
	var unlock func()
	o := w.loses(500, func() { unlock = r.locks("records") })
	o.lasts(time.Duration(either(6, 60)) * time.Second)
	unlock()
	took := o.over()
	r.untilDone()
	r.noRetryIsUsed()
	invariants(r)
	r.happened(1, fmt.Sprintf("lock (%.0f s, back after %.1f s)", time.Since(o.began).Seconds(), took.Seconds()))
}

// Row 18: failover. The standby is cut off before the server dies, so that commits are on one of the two only. The guard is
// the operator's to set: a commit waits until the standby has it too (synchronous_standby_names). For the worker a failover
// is then what a restart is. Seen to fail without: where it is not set, 35 jobs are completed whose decisions the promoted
// server does not hold.
func TestPromotedStandbyHasAllThatWasAnswered(t *testing.T) {
	r := newRig(t, setup{row: 18, what: "PostgreSQL killed, its standby promoted", store: inPostgres})
	server, p, setting := r.ownPostgres()
	w := r.start(outageLock, setting)
	failovers, slowest := either(1, 5), time.Duration(0)
	for range failovers {
		standby, err := server.Standby(t.Context())
		r.must(err)
		r.Cleanup(func() { r.check(standby.Close()) })
		o := w.loses(300, func() {
			r.must(standby.CutOff(t.Context()))
			r.until("a commit waits for the standby", func() bool { return r.waits("wait_event = 'SyncRep'") })
			r.must(server.Kill())
		})
		r.must(standby.Promote(t.Context()))
		r.store.url = strings.Replace(r.store.url, server.Address(), standby.Address(), 1)
		p.Retarget(standby.Address())
		slowest = max(slowest, o.over())
		r.untilDone()
		server = standby
	}
	r.noRetryIsUsed()
	invariants(r)
	r.happened(failovers, "failovers, ready within "+slowest.Round(100*time.Millisecond).String())
	r.happened(len(r.claims), "jobs")
}

// locks takes a table of the store for a session that does not end by itself, and returns what ends it.
func (r *rig) locks(table string) (unlock func()) {
	r.Helper()
	conn, err := pgx.Connect(r.Context(), r.store.url)
	r.must(err)
	_, err = conn.Exec(r.Context(), "BEGIN; LOCK TABLE analyze_retry."+table)
	r.must(err)
	return func() { r.must(conn.Close(context.Background())) }
}

// Row 18. Workers that are restarted again and again while the store holds them up make no incident, although each time they
// had active jobs. The guard is that jobs are released with the retries they had. Seen to fail without: jobs have two retries
// left, then one.
func TestRestartsWhileTheStoreIsLockedMakeNoIncident(t *testing.T) {
	r := newRig(t, setup{row: 18, what: "workers restarted behind a lock", store: inPostgres})
	_, _, setting := r.ownPostgres()
	w := r.warm(100, outageLock, setting)
	unlock := r.locks("records")
	r.submit(1) // each worker has it active
	restarts := 0
	for range either(5, 20) {
		w.answersStatus("/readyz", http.StatusServiceUnavailable)
		w.stops()
		restarts++
		w = r.start(outageLock, setting)
	}
	unlock()
	r.untilDone()
	r.noRetryIsUsed()
	invariants(r)
	r.happened(restarts, "restarts")
}

// Row 18: the outcome of a COMMIT is unknown. The guard is the look for what is stored before anything is appended
// (postgres.Append) by a key that is the same each time. Seen to fail without: where it is another one each
// time, no decision is found stored.
func TestCommitWhoseAnswerIsLostIsReadBack(t *testing.T) {
	r := newRig(t, setup{row: 18, what: "connections cut around COMMIT", store: inPostgres})
	_, p, setting := r.ownPostgres()
	w := r.start(outageLock, setting)
	random := rand.New(rand.NewPCG(18, 1))
	cuts := func() int64 { c := p.Counts(); return c.Cut[proxy.ToClient] + c.Cut[proxy.ToServer] }
	want := int64(either(20, 1000))
	for n := 0; cuts()+p.Counts().Reset < want; n++ {
		w.answersStatus("/readyz", http.StatusOK)
		if n%2 == 0 {
			// A lock holds up the round trip with the COMMIT until the way back is broken. On a new connection it would hold up
			// the preparation of the statements, long before the COMMIT.
			r.submit(1)
			r.untilDone()
			unlock := r.locks("outbox IN SHARE MODE")
			r.submit(20 + chunkSingle)
			held := false
			r.until("an append waits for the lock", func() bool {
				held = r.waits("wait_event_type = 'Lock' AND query LIKE '%INSERT INTO records%'")
				status, _ := w.get("/readyz")
				return held || status != http.StatusOK
			})
			if !held { // a connection that was cut before was found only now, and a store that is lost is not written to
				unlock()
				continue
			}
			r.losesReplies(p, unlock)
		} else {
			r.submit(20 + chunkSingle)
			before, faults := cuts(), proxy.Faults{}
			faults.CutAfter[proxy.Direction(random.IntN(2))] = 2000 + random.Int64N(20_000)
			p.Set(faults)
			r.until("a connection is cut", func() bool { return cuts() > before || r.done() == len(r.claims) })
		}
		p.Set(proxy.Faults{})
	}
	w.answersStatus("/readyz", http.StatusOK)
	r.untilDone()
	r.noRetryIsUsed()
	repeated := int(w.metric("retry_redelivered_total"))
	invariants(r)
	c := p.Counts()
	r.happened(int(cuts()+c.Reset), "connections cut")
	r.happened(int(c.Swallowed[proxy.ToClient]), "bytes of answers lost")
	r.happened(repeated, "decisions found stored")
}

// Row 18. Connections that are dead without saying so, and then a slow network. The guard is that no question to the store
// waits longer than the recorder lets it (appendTimeout, probeTimeout). Seen to fail without: the worker does not work again
// when new connections pass, and 450 of 700 jobs stay open.
func TestHalfOpenConnectionsToPostgreSQLAreGivenUp(t *testing.T) {
	r := newRig(t, setup{row: 18, what: "connections to PostgreSQL half-open, then 0 to 100 ms each way", store: inPostgres})
	server, p, setting := r.ownPostgres()
	hole, err := proxy.Start(server.Address(), 18)
	r.must(err)
	r.Cleanup(func() { r.check(hole.Close()) })
	p.Retarget(hole.Address())
	w := r.warm(200, outageLock, setting)
	o := w.loses(500, func() { hole.Set(proxy.Faults{BlackHole: [2]bool{true, true}}) })
	o.lasts(time.Duration(either(2, 60)) * time.Second)
	p.Retarget(server.Address()) // new connections pass, and the old ones stay dead
	took := o.over()
	r.untilDone()
	r.happened(int(hole.Counts().BlackHoled[proxy.ToServer]), fmt.Sprintf("connections half-open (back after %.1f s)", took.Seconds()))

	p.Set(proxy.Faults{Jitter: 100 * time.Millisecond})
	r.submit(either(400, 4000))
	r.untilDone()
	r.noRetryIsUsed()
	invariants(r)
	r.happened(int(p.Counts().Delayed), "pieces of data delayed")
}

// waits reports whether a session of the store waits for something.
func (r *rig) waits(what string) (is bool) {
	r.Helper()
	conn, err := pgx.Connect(r.Context(), r.store.url)
	r.must(err)
	defer func() { r.check(conn.Close(context.Background())) }()
	r.must(conn.QueryRow(r.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND "+what+")").Scan(&is))
	return is
}
