package app

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

func stateIn(t *testing.T, k kept, files ...string) (*trailState, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	return &trailState{secret: k.secret, log: zap.New(core), files: files}, logs
}

// noFiles is a directory in which nobody may make a file, root neither: as Kubernetes mounts a secret.
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
