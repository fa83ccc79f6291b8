package app

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/zeebe"
)

// kept is an app that has nothing but an audit trail of three records.
type kept struct {
	*App
	path     string
	registry *prometheus.Registry
	logs     *observer.ObservedLogs
}

func keptTrail(t *testing.T) kept {
	t.Helper()
	secret, err := audit.NewSecret()
	check.Must(t, err)
	k := kept{path: filepath.Join(t.TempDir(), "retry.db"), registry: prometheus.NewRegistry()}
	store := trailOf(t, k.path, secret, 3)
	core, logs := observer.New(zapcore.InfoLevel)
	k.App = &App{
		store: store, secret: secret, log: zap.New(core), numbers: metrics.New(k.registry, policy.BuiltIns().All()),
		trail: &trailState{secret: secret, log: zap.NewNop(), files: []string{filepath.Join(t.TempDir(), "audit.key.state")}},
		clock: zeebe.NewClock(24*time.Hour, time.Now, zap.NewNop()),
	}
	k.logs = logs
	return k
}

// change changes the file past the worker, as somebody does who has it.
func (k kept) change(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", k.path)
	check.Must(t, err)
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	check.Must(t, db.Close())
}

func (k kept) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := k.registry.Gather()
	check.Must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestAChangedAuditTrailIsFoundAndShown(t *testing.T) {
	k := keptTrail(t)
	if v := k.gauge(t, "retry_audit_intact"); v == v { // only NaN is not itself
		t.Errorf("before the first check the trail is shown as %v, want NaN", v)
	}
	known, checked := k.checkTrail(t.Context(), nil)
	if v := k.gauge(t, "retry_audit_intact"); v != 1 || !checked {
		t.Errorf("a trail in order is shown as %v", v)
	}
	k.change(t, "DROP TRIGGER records_are_never_changed", "UPDATE records SET claim_id = 'CLM-001-2' WHERE seq = 2")
	if again, checked := k.checkTrail(t.Context(), known); len(again) != len(known) || !checked {
		t.Errorf("a broken trail has the heads %v, want those that were known", again)
	}
	check.Same(t, 0, k.gauge(t, "retry_audit_intact"), "retry_audit_intact of a changed trail")
	line := k.logs.FilterMessage("audit_trail_broken").All()
	if len(line) != 1 || line[0].ContextMap()["seq"] != int64(2) {
		t.Errorf("logged %v, want the record that was changed", line)
	}
}

func TestAStoreThatIsNotAsTheWorkerMakesItIsShown(t *testing.T) {
	k := keptTrail(t)
	k.change(t, "DROP TRIGGER tombstones_are_never_removed", "DROP INDEX records_at")
	if _, checked := k.checkTrail(t.Context(), nil); !checked || k.gauge(t, "retry_audit_intact") != 0 {
		t.Errorf("checked %v, shown as intact %v", checked, k.gauge(t, "retry_audit_intact"))
	}
	if lines := k.logs.FilterMessage("audit_store_changed").All(); len(lines) != 2 || lines[1].ContextMap()["finding"] != "trigger tombstones_are_never_removed on tombstones is missing" {
		t.Errorf("logged %v, want both", lines)
	}
}

func TestANewStoreWithoutRecordsIsIntact(t *testing.T) {
	k := keptTrail(t)
	k.store = trailOf(t, filepath.Join(t.TempDir(), "new.db"), k.secret, 0)
	if k.checkTrail(t.Context(), nil); k.gauge(t, "retry_audit_intact") != 1 {
		t.Error("a store without records is not intact")
	}
}

func TestTheDailyCheckMissesWhatTheStateFileHas(t *testing.T) {
	k := keptTrail(t)
	heads, err := k.store.Heads(t.Context())
	check.Must(t, err)
	k.cfg.AuditKeyFile = filepath.Join(t.TempDir(), "audit.key")
	check.Must(t, k.secret.SaveState(k.cfg.AuditStates()[0], audit.State{At: time.Now(), Heads: heads}))
	if k.checkTrail(t.Context(), nil); k.gauge(t, "retry_audit_intact") != 1 {
		t.Fatal("the trail has what the state file names")
	}
	k.store = trailOf(t, filepath.Join(t.TempDir(), "emptied.db"), k.secret, 0)
	if k.checkTrail(t.Context(), nil); k.gauge(t, "retry_audit_intact") != 0 {
		t.Error("the missing records that the state file names were not reported")
	}
}

func TestTheHeadsAreLoggedAtTheStartAndAtTheStop(t *testing.T) {
	k := keptTrail(t)
	k.cfg.AuditRetention = 60
	ctx, stop := context.WithCancel(t.Context())
	stop()
	k.keep(ctx)
	// The context has ended before the start's line, whose question to the store fails; the one of the stop is certain.
	check.Same(t, 1, k.logs.FilterMessage("audit_head").Len(), "heads logged by a worker that stopped at once")
	ctx, stop = context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() { defer close(kept); k.keep(ctx) }()
	check.Await(t, "a head at the start", func() bool { return k.logs.FilterMessage("audit_head").Len() >= 2 })
	stop()
	<-kept
	lines := k.logs.FilterMessage("audit_head").All()
	if len(lines) != 3 {
		t.Fatalf("with the start and the stop, they were logged %d times, want 3", len(lines))
	}
	if fields := lines[0].ContextMap(); fields["seq"] != int64(3) || len(fields["hash"].(string)) != 64 || fields["signature"] == nil {
		t.Errorf("logged %v", fields)
	}
}

func TestTheEventOfTheHeadsHasTheSignedOnes(t *testing.T) {
	k := keptTrail(t)
	k.cfg.ClusterName = "zeebe"
	event, err := k.headsEvent(t.Context())
	check.Must(t, err)
	heads, err := events.Heads(event.JSON, k.secret.Public().ID())
	if err != nil || len(heads) != 1 || heads[0].Seq != 3 || !k.secret.Public().CheckHead(heads[0]) {
		t.Errorf("%+v, %v", heads, err)
	}
	k.change(t, "DELETE FROM heads")
	if event, err := k.headsEvent(t.Context()); err != nil || event.ID != "" {
		t.Errorf("a head that is gone: %s, %v", event.JSON, err)
	}
}

// A store that was put back is in order by itself.
func TestATrailPutBackToAnEarlierStateIsFound(t *testing.T) {
	k := keptTrail(t)
	known, _ := k.checkTrail(t.Context(), nil)
	k.store = trailOf(t, filepath.Join(t.TempDir(), "backup.db"), k.secret, 1)
	if k.checkTrail(t.Context(), nil); k.gauge(t, "retry_audit_intact") != 1 {
		t.Fatal("the trail that was put back is not in order by itself")
	}
	if k.checkTrail(t.Context(), known); k.gauge(t, "retry_audit_intact") != 0 {
		t.Error("the missing records of before were not reported")
	}
}

func TestATrailThatCannotBeReadIsNeitherIntactNorBroken(t *testing.T) {
	k := keptTrail(t)
	check.Must(t, k.store.Close())
	if _, checked := k.checkTrail(t.Context(), nil); checked {
		t.Error("a check of a store that is closed came to an end")
	}
	if v := k.gauge(t, "retry_audit_intact"); v == v {
		t.Errorf("the trail is shown as %v, want NaN", v)
	}
}

// trailOf is a store with so many records.
func trailOf(t *testing.T, path string, secret *audit.Secret, records int64) audit.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, secret, sqlite.Options{})
	check.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	for key := range records {
		record := audit.Record{Kind: audit.KindRetry, At: time.Now(), Key: audit.Key{Cluster: "test", JobKey: key}, ClaimID: "CLM-001-1"}
		if _, err := store.Append(t.Context(), []audit.Record{record}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// Seen to fail without the bound: the test ends in a deadlock. A test in the package, because no disk of a test hangs
// for good.
func TestAStopEndsWhereAStepOfItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		var done []string
		a := &App{}
		step := func(what string, err error) {
			a.later(what, func() error { done = append(done, what); return err })
		}
		step("first", errors.New("broken"))
		a.later("close the audit store", func() error { <-hangs; return nil })
		step("last", nil)
		err := a.close()
		check.Fails(t, err, "close the audit store: not done after 7s", "first: broken")
		check.Same(t, "last, first", strings.Join(done, ", "), "cleanups in order")
		close(hangs)
	})
}

// A worker that has not heard of the broker goes by the newest head: not at its start, and not while the store is idle.
func TestWithoutABrokerTheNewestHeadShowsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret, err := audit.NewSecret()
		check.Must(t, err)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), secret, sqlite.Options{})
		check.Must(t, err)
		var answered []int64
		add := func(job int64, at time.Time) {
			t.Helper()
			results, err := store.Append(t.Context(), []audit.Record{{
				Kind: audit.KindRetry, At: at.UTC(), Key: audit.Key{Cluster: "test", JobKey: job}, ClaimID: "CLM-old-1",
			}}, answered)
			check.Must(t, err)
			answered = []int64{results[0].Record.ID}
		}
		add(1, time.Now().AddDate(-6, 0, 0))
		add(2, time.Now())

		core, logs := observer.New(zapcore.InfoLevel)
		a := &App{
			cfg: config.Config{AuditRetention: 60}, log: zap.New(core), store: store, secret: secret,
			trail: &trailState{secret: secret, log: zap.NewNop(), files: []string{filepath.Join(t.TempDir(), "audit.key.state")}},
			clock: zeebe.NewClock(24*time.Hour, time.Now, zap.NewNop()), numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All()),
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { a.keep(ctx); close(done) }()
		began := time.Now()
		at := func(since time.Duration, announced, held, removed int) {
			t.Helper()
			<-time.After(time.Until(began.Add(since))) // on the bubble's clock
			synctest.Wait()
			for event, want := range map[string]int{
				"audit_records_to_be_removed": announced, "audit_retention_held": held, "audit_records_removed": removed,
			} {
				check.Same(t, want, logs.FilterMessage(event).Len(), "after %v, lines %s", since, event)
			}
		}
		at(59*time.Minute, 0, 0, 0)
		at(61*time.Minute, 1, 0, 0)
		at(25*time.Hour+time.Minute, 1, 1, 0) // the head is more than a day old
		at(30*time.Hour+30*time.Minute, 1, 1, 0)
		add(3, time.Now())
		at(31*time.Hour+time.Minute, 1, 1, 1)
		check.Same(t, 1, logs.FilterMessage("audit_retention_resumed").Len(), "audit_retention_resumed logged")
		stop()
		<-done
		check.Must(t, store.Close())
	})
}

func stateIn(t *testing.T, k kept, files ...string) (*trailState, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	return &trailState{secret: k.secret, log: zap.New(core), files: files}, logs
}

// noFiles is a directory in which no file can be made, not even by root, as Kubernetes mounts a secret.
const noFiles = "/sys/kernel"

func TestTheStateIsKeptNextToTheStoreWhereTheKeyIsReadOnly(t *testing.T) {
	k := keptTrail(t)
	s, logs := stateIn(t, k, noFiles+"/audit.key.state", k.path+".state")
	s.save(t.Context(), k.store)
	st, err := audit.LoadState(k.path+".state", k.secret.Public())
	if err != nil || len(st.Heads) != 1 || st.Heads[0].Seq != 3 || logs.Len() > 0 {
		t.Errorf("read %+v, %v; logged %v", st, err, logs.All())
	}
}

func TestAStateThatCannotBeKeptIsLoggedOnce(t *testing.T) {
	k := keptTrail(t)
	s, logs := stateIn(t, k, noFiles+"/audit.key.state")
	for range 3 {
		s.save(t.Context(), k.store)
	}
	if all := logs.All(); len(all) != 1 || all[0].Message != "audit_state_not_kept" || all[0].Level != zapcore.InfoLevel {
		t.Errorf("logged %v, want one line", all)
	}
}

func TestAStateThatCouldNotBeSavedIsSavedLater(t *testing.T) {
	k := keptTrail(t)
	dir := filepath.Join(t.TempDir(), "later")
	s, logs := stateIn(t, k, filepath.Join(dir, "audit.key.state"))
	s.save(t.Context(), k.store)
	check.Must(t, os.Mkdir(dir, 0o700))
	s.save(t.Context(), k.store)
	if st, err := audit.LoadState(s.files[0], k.secret.Public()); err != nil || len(st.Heads) != 1 || st.Heads[0].Seq != 3 {
		t.Errorf("the state has %+v, %v", st, err)
	}
	check.Same(t, 1, logs.FilterMessage("audit_state_not_saved").Len(), "lines logged")
}

// Without the rule, a store that was put back under the worker is what the next start compares with.
func TestAStateIsNotSavedOverOneThatHasMore(t *testing.T) {
	k := keptTrail(t)
	file := filepath.Join(t.TempDir(), "audit.key.state")
	s, logs := stateIn(t, k, file)
	s.save(t.Context(), k.store)
	for range 3 {
		s.save(t.Context(), trailOf(t, filepath.Join(t.TempDir(), "backup.db"), k.secret, 1))
	}
	if st, err := audit.LoadState(file, k.secret.Public()); err != nil || st.Heads[0].Seq != 3 {
		t.Errorf("the state has %+v, %v", st, err)
	}
	check.Same(t, 1, logs.FilterMessage("audit_records_missing").Len(), "lines logged")
}

// Where no directory takes the state, what memory knows is all that shows it.
func TestEachLossOfRecordsIsLoggedOnce(t *testing.T) {
	k := keptTrail(t)
	for name, file := range map[string]string{"kept": filepath.Join(t.TempDir(), "audit.key.state"), "not kept": noFiles + "/audit.key.state"} {
		s, logs := stateIn(t, k, file)
		s.save(t.Context(), k.store)
		backup := trailOf(t, filepath.Join(t.TempDir(), "backup.db"), k.secret, 1)
		for range 2 { // put back, and mended
			s.save(t.Context(), backup)
			s.save(t.Context(), backup)
			s.save(t.Context(), k.store)
		}
		check.Same(t, 2, logs.FilterMessage("audit_records_missing").Len(), "%s: lines about two losses", name)
	}
}
