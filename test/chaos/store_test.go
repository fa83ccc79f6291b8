package chaos

import (
	"path/filepath"
	"strings"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// The stores that a row is run on.
const (
	inSQLite   = "sqlite"
	inPostgres = "postgres"
)

// store is where the workers of a row keep their records.
type store struct {
	url, keyFile string
	secret       *audit.Secret
}

func newStore(r *rig) store {
	r.Helper()
	secret, err := audit.NewSecret()
	r.must(err)
	s := store{keyFile: filepath.Join(r.dir, "audit.key"), secret: secret}
	r.must(secret.Save(s.keyFile))
	if r.setup.store == inPostgres {
		s.url = devpostgres.Database(r.T)
	} else {
		s.url = "sqlite://" + filepath.Join(r.dir, "analyze-retry.db")
	}
	return s
}

// path is the file of a SQLite store.
func (s store) path() string { return strings.TrimPrefix(s.url, "sqlite://") }

// open opens the store for reading.
func (s store) open(r *rig) (opened audit.Store) {
	r.Helper()
	var err error
	if path, is := strings.CutPrefix(s.url, "sqlite://"); is {
		opened, err = sqlite.OpenReadOnly(r.Context(), path, "")
	} else {
		opened, err = postgres.OpenReadOnly(r.Context(), s.url, "")
	}
	r.must(err)
	return opened
}

// files are those that hold what is stored; none where the store is a server.
func (s store) files() []string {
	path, is := strings.CutPrefix(s.url, "sqlite://")
	if !is {
		return nil
	}
	found, _ := filepath.Glob(path + "*") // the pattern is sound
	return found
}
