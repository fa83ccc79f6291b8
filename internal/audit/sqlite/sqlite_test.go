package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

func TestTheStoreKeepsWhatIsPromised(t *testing.T) {
	audittest.Exercise(t, func(t *testing.T) audittest.Database { t.Helper(); return newFile(t) })
}

// file is a database for the suite.
type file struct{ path string }

func newFile(t *testing.T) file {
	t.Helper()
	return file{filepath.Join(t.TempDir(), "audit.db")}
}

func (f file) Open(t *testing.T, secret *audit.Secret) (audit.Store, error) {
	t.Helper()
	s, err := Open(t.Context(), f.path, secret, Options{Worker: "test"})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (f file) Tamper(t *testing.T, statement string) {
	t.Helper()
	for _, trigger := range []string{
		"records_are_never_changed", "records_are_removed_behind_a_tombstone_only", "tombstones_are_never_changed", "tombstones_are_never_removed",
	} {
		statement = "DROP TRIGGER IF EXISTS " + trigger + ";" + statement
	}
	if err := f.exec(t, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// exec executes SQL as whoever has the file.
func (f file) exec(t *testing.T, statement string) error {
	t.Helper()
	db, err := sql.Open("sqlite", source(f.path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), statement)
	return err
}

func (f file) Later(column string) string { return column + " + 1000000" }

func (f file) Bytes(b []byte) string { return fmt.Sprintf("x'%x'", b) }

func newSecret(tb testing.TB) *audit.Secret {
	tb.Helper()
	secret, err := audit.NewSecret()
	if err != nil {
		tb.Fatal(err)
	}
	return secret
}

func openFile(tb testing.TB, path string, secret *audit.Secret) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), path, secret, Options{Worker: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}
