package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheStoreKeepsWhatIsPromised(t *testing.T) {
	audittest.Exercise(t, func(t *testing.T) audittest.Database { t.Helper(); return newFile(t) })
}

// file is a database for the suite.
type file struct{ path string }

// newFile returns a file that has the tables and nothing in them: to make them takes half a second under the race detector.
func newFile(tb testing.TB) file {
	tb.Helper()
	f := noFile(tb)
	tables, err := emptyStore()
	check.Must(tb, err, os.WriteFile(f.path, tables, 0o600))
	return f
}

// noFile returns a file that is not there yet.
func noFile(tb testing.TB) file {
	tb.Helper()
	return file{filepath.Join(tb.TempDir(), "audit.db")}
}

var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "audit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.db")
	if _, err = private(path); err != nil {
		return nil, err
	}
	w, err := openWriter(context.Background(), path, nil)
	if err == nil {
		err = errors.Join(w.makeTables(context.Background()), w.close())
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func (f file) Open(t *testing.T, secret *audit.Secret) (audit.Store, error) {
	t.Helper()
	return Open(t.Context(), f.path, audittest.Key(secret))
}

func (f file) Tamper(t *testing.T, statement string) {
	t.Helper()
	for _, trigger := range []string{"records_are_never_changed", "records_are_removed_behind_a_cut_only"} {
		statement = "DROP TRIGGER IF EXISTS " + trigger + ";" + statement
	}
	if err := f.exec(t, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// exec executes SQL as the owner of the file.
func (f file) exec(t *testing.T, statement string) error {
	t.Helper()
	db, err := sql.Open("sqlite", source(f.path, "rw"))
	check.Must(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	return err
}

func (f file) Purger(_ *testing.T, s audit.Store, _ *audit.Secret) audit.Store { return s }

func (f file) Later(column string) string { return column + " + 1000000" }

func (f file) Bytes(b []byte) string { return fmt.Sprintf("x'%x'", b) }

// newStore returns an open store without records.
func newStore(tb testing.TB) (s *store, f file, secret *audit.Secret) {
	tb.Helper()
	f, secret = newFile(tb), audittest.Secret(tb)
	return openFile(tb, f.path, secret), f, secret
}

func openFile(tb testing.TB, path string, secret *audit.Secret) *store {
	tb.Helper()
	s, err := Open(tb.Context(), path, audittest.Key(secret))
	check.Must(tb, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s.(*store)
}
