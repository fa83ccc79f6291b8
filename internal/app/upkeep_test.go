package app

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
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
	core, logs := observer.New(zapcore.InfoLevel)
	k := kept{path: filepath.Join(t.TempDir(), "retry.db"), registry: prometheus.NewRegistry(), logs: logs}
	k.App = &App{
		store: trailOf(t, k.path, secret, 3), secret: secret, log: zap.New(core), numbers: metrics.New(k.registry, policy.BuiltIns().All()),
	}
	return k
}

// change changes the file past the worker, as somebody does who has it.
func (k kept) change(t *testing.T, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", k.path)
	check.Must(t, err)
	_, err = db.ExecContext(t.Context(), statements)
	check.Must(t, err, db.Close())
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

func TestAChangedOrShortenedAuditTrailIsFoundAndShown(t *testing.T) {
	k := keptTrail(t)
	if v := k.gauge(t, "retry_audit_intact"); v == v { // only NaN is not itself
		t.Errorf("before the first check the trail is shown as %v, want NaN", v)
	}
	known, _ := k.checkTrail(t.Context(), nil)
	check.Same(t, 1, k.gauge(t, "retry_audit_intact"), "retry_audit_intact of a trail in order")
	store := k.store
	k.store = trailOf(t, filepath.Join(t.TempDir(), "backup.db"), k.secret, 1) // put back, and in order by itself
	k.checkTrail(t.Context(), known)
	check.Same(t, 0, k.gauge(t, "retry_audit_intact"), "retry_audit_intact of a trail without the known records")
	k.logs.TakeAll()
	k.store = store
	k.change(t, "DROP TRIGGER records_are_never_changed; UPDATE records SET claim_id = 'CLM-001-2' WHERE seq = 2")
	same, checked := k.checkTrail(t.Context(), known)
	check.Same(t, known, same, "heads of a broken trail")
	check.Same(t, true, checked, "it was checked")
	check.Same(t, 0, k.gauge(t, "retry_audit_intact"), "retry_audit_intact of a changed trail")
	line := k.logs.FilterMessage("audit_trail_broken").All()
	if len(line) != 1 || line[0].ContextMap()["seq"] != int64(2) {
		t.Errorf("logged %v, want the record that was changed", line)
	}
}

func TestTheHeadsAreLoggedAtTheStartAndAtTheStop(t *testing.T) {
	k := keptTrail(t)
	audittest.Append(t, k.store, audit.Record{
		Kind: audit.KindRetry, At: time.Now().Add(72 * time.Hour), Key: audit.Key{Cluster: "test", JobKey: 4}, ClaimID: "CLM-001-1",
	})
	ctx, stop := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() { defer close(kept); k.keep(ctx) }()
	check.Await(t, "a head at the start", func() bool { return k.logs.FilterMessage("audit_head").Len() >= 1 })
	stop()
	<-kept
	lines := k.logs.FilterMessage("audit_head").All()
	if len(lines) != 2 {
		t.Fatalf("with the start and the stop, they were logged %d times, want 2", len(lines))
	}
	if fields := lines[0].ContextMap(); fields["seq"] != int64(4) || len(fields["hash"].(string)) != 64 || fields["signature"] == nil {
		t.Errorf("logged %v", fields)
	}
	check.Same(t, 2, k.logs.FilterMessage("clock_behind_trail").Len(), "lines about a clock that is behind")
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

// unread is a store that cannot be walked through at first.
type unread struct {
	audit.Store

	times int64
	walks atomic.Int64
}

func (u *unread) Walk(context.Context, audit.Walker) error {
	if u.walks.Add(1) <= u.times {
		return errors.New("away")
	}
	return nil
}

func (u *unread) Heads(context.Context) ([]audit.Head, []audit.Head, error) { return nil, nil, nil }

func TestTheTrailIsCheckedOnceADayAndAgainAfterACheckThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret, err := audit.NewSecret()
		check.Must(t, err)
		store := &unread{times: 2}
		numbers := metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All())
		a := &App{store: store, secret: secret, log: zap.NewNop(), numbers: numbers}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go a.keep(ctx)
		for _, at := range []struct {
			after time.Duration
			walks int64
		}{
			{4 * time.Minute, 0},
			{2 * time.Minute, 1}, // away
			{time.Hour, 2},       // away still
			{time.Hour, 3},
			{22 * time.Hour, 3},
			{3 * time.Hour, 4},
		} {
			<-time.After(at.after)
			synctest.Wait()
			check.Same(t, at.walks, store.walks.Load(), "checks")
		}
	})
}

// away is a store that answers nothing.
type away struct{ audit.Store }

func (away) Append(context.Context, []audit.Entry) ([]audit.Stored, error) {
	return nil, errors.New("away")
}

func (away) Open(context.Context, func(string, *audit.State) error) error { return errors.New("away") }

// Seen with a line a minute besides.
func TestAStoreThatIsAwayAnHourIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.InfoLevel)
		a := &App{store: away{}, log: zap.New(core), numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All())}
		a.recorder = audit.NewRecorder(a.store, a.log, func() {})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go a.recorder.Run(ctx)
		<-time.After(20 * time.Second)
		go a.count(ctx)
		<-time.After(time.Hour)
		check.Same(t, 1, logs.Len(), "lines of %v", logs.All())
	})
}

// trailOf is a store with so many records.
func trailOf(t *testing.T, path string, secret *audit.Secret, records int64) audit.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, audittest.Key(secret))
	check.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	for key := range records {
		record := audit.Record{Kind: audit.KindRetry, At: time.Now(), Key: audit.Key{Cluster: "test", JobKey: key}, ClaimID: "CLM-001-1"}
		audittest.Append(t, store, record)
	}
	return store
}

// Seen to fail without the bound: the test ends in a deadlock. A test in the package, because no disk of a test
// hangs for good.
func TestAStopEndsWhereAStepOfItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		var done []string
		step := func(what string) func() error {
			return func() error { done = append(done, what); return errors.New(what + " broke") }
		}
		a := &App{cleanups: []func() error{step("first"), step("last")}}
		check.Fails(t, within(a.close), "last broke\nfirst broke")
		check.Same(t, "last, first", strings.Join(done, ", "), "steps in order")
		a.cleanups = append(a.cleanups, func() error { <-hangs; return nil })
		check.Fails(t, within(a.close), "not stopped after 10s", "disk hang?")
		close(hangs)
	})
}
