package chaos

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// patience bounds every wait for something that is to happen. Most take seconds; a machine may be busy.
const patience = 3 * time.Minute

// setup says what a row needs.
type setup struct {
	row  int
	what string
	// store is sqlite or postgres.
	store string
	// busy is for rows that keep the machine busy: one runs at a time, next to one that mostly waits.
	busy bool
	// brokerFaults are the broker's faults from its start, see gateway.InjectText.
	brokerFaults string
}

// rig is the stage of one row: a broker, a proxy before it, a store, the workers, what was started and what became of it.
type rig struct {
	*testing.T
	setup
	name    string // of the row and its store, part of the claims' IDs
	dir     string
	broker  *broker
	proxy   *proxy.Proxy // the workers' way to the broker
	store   store
	ledger  *ledger
	queue   *queue // nil where the row has none
	workers []*worker
	binary  string       // what is started as a worker; "" is the worker under test
	started atomic.Int64 // process instances

	mu     sync.Mutex
	claims map[string]claim
	// cancelled are the process instances that the row itself has cancelled.
	cancelled map[int64]bool
	// faults says what the row did and how often.
	faults string
	// repeated is how many events the queue has more than once; invariants counts them.
	repeated int
	// mayHang says that handlers hang for ever in this row, so that goroutines are left.
	mayHang bool
	// oddClaims says that the IDs of the claims say nothing in this row.
	oddClaims bool
}

// onBothStores runs a row on SQLite and on PostgreSQL.
func onBothStores(t *testing.T, s setup, row func(*rig)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{inSQLite, inPostgres} {
		t.Run(store, func(t *testing.T) {
			of := s
			of.store = store
			row(newRig(t, of))
		})
	}
}

// each runs a row for each of its cases, by name.
func each[C any](t *testing.T, s setup, cases map[string]C, row func(*rig, C)) {
	t.Helper()
	t.Parallel()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			of := s
			of.what += name
			row(newRig(t, of), c)
		})
	}
}

// newRig sets the stage, once a lane is free. When the test is over its line goes into the table.
func newRig(t *testing.T, s setup) *rig {
	t.Helper()
	lanes.Take(t, s.busy)
	r := &rig{
		T: t, setup: s, name: fmt.Sprintf("%d-%s", s.row, s.store), dir: t.TempDir(),
		claims: map[string]claim{}, cancelled: map[int64]bool{},
	}
	began := time.Now()
	r.broker = startBroker(t, s.brokerFaults)
	t.Cleanup(func() { table.add(t, r.row, r.what+" ("+r.setup.store+")", r.faults, began) })
	var err error
	r.proxy, err = proxy.Start(r.broker.Address(), uint64(s.row))
	r.must(err)
	t.Cleanup(func() { r.check(r.proxy.Close()) })
	r.store = newStore(r)
	r.ledger = newLedger(r.broker)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) check(err error) {
	r.Helper()
	if err != nil {
		r.Error(err)
	}
}

// happened notes that a fault has happened so many times. A fault that did not happen proves nothing.
func (r *rig) happened(n int, what string) {
	r.Helper()
	if n <= 0 {
		r.Errorf("the row proves nothing: %d %s", n, what)
	}
	if r.faults != "" {
		r.faults += ", "
	}
	r.faults += fmt.Sprintf("%d %s", n, what)
}

// until waits for a condition that is to come true within patience, and returns how long it took.
func (r *rig) until(what string, done func() bool) time.Duration {
	r.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			r.Fatalf("%s: the test is over", what)
		}
		if time.Since(began) > patience {
			r.Fatalf("not within %v: %s", patience, what)
		}
	}
	return time.Since(began)
}

// pass lets time go by in which a fault is in place.
func (r *rig) pass(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

// look brings the ledger up to date.
func (r *rig) look() *ledger {
	r.Helper()
	r.must(r.ledger.update())
	return r.ledger
}

// untilDone waits until every claim has become a job and every job has come to an end.
func (r *rig) untilDone() {
	r.Helper()
	defer func() {
		if r.Failed() {
			r.Logf("%d claims, %d jobs, %d open; %d instances started, %d seen, %d unfinished",
				len(r.claims), len(r.ledger.jobs), r.ledger.open(), r.started.Load(), len(r.ledger.instances), r.ledger.unfinished())
		}
	}()
	r.until("all jobs come to an end", func() bool {
		l := r.look()
		return len(l.jobs) >= len(r.claims) && l.open() == 0 && len(l.instances) >= int(r.started.Load()) && l.unfinished() == 0
	})
}

// done is how many jobs have come to an end.
func (r *rig) done() int {
	r.Helper()
	l := r.look()
	return len(l.jobs) - l.open()
}

// records returns all that is in the store. A worker may be writing to it.
func (r *rig) records() (all []audit.Record) {
	r.Helper()
	s := r.store.open(r)
	defer func() { r.check(s.Close()) }()
	r.must(s.Between(r.Context(), time.Unix(0, 0), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), func(record *audit.Record) error {
		all = append(all, *record)
		return nil
	}))
	return all
}

// stopAll stops the workers that still run. Each must end by itself, in time and well.
func (r *rig) stopAll() {
	r.Helper()
	for _, w := range r.workers {
		if w.Alive() {
			w.stops()
		}
	}
}

// killAll ends what is left of the workers when the test is over.
func (r *rig) killAll() {
	var errs []error
	for _, w := range r.workers {
		errs = append(errs, w.Kill())
		if r.Failed() {
			r.Logf("the log of worker %d ends with:\n%s", w.PID(), process.LogTail(w.log))
		}
	}
	r.check(errors.Join(errs...))
}
