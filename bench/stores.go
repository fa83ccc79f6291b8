package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// stores makes the stores of the workers that are measured: in a directory of their own, and on a PostgreSQL server of
// their own, which close removes.
type stores struct {
	dir    string
	secret *audit.Secret
	server *devpostgres.Server
	made   int
}

// storage is where a worker keeps its decisions. The zero value is nowhere.
type storage struct {
	url, keyFile string
	// rows is how many decisions it held before.
	rows int
	// serverCPU is the CPU time so far of the server behind it; nil where there is none.
	serverCPU func() (time.Duration, error)
	// remove removes it; nil where it is kept.
	remove func() error
}

func openStores(ctx context.Context, progress io.Writer) (_ *stores, err error) {
	s := &stores{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "bench-stores-"); err != nil {
		return nil, err
	}
	if s.secret, err = audit.NewSecret(); err != nil {
		return nil, err
	}
	fmt.Fprintln(progress, "starting PostgreSQL")
	// Before this process is pinned to a core, which a server would inherit.
	s.server, err = devpostgres.Start(ctx)
	return s, err
}

func (s *stores) close() error {
	var stopped error
	if s.server != nil {
		stopped = s.server.Close()
	}
	return errors.Join(stopped, os.RemoveAll(s.dir))
}

// sqlite is a new file. The worker makes it.
func (s *stores) sqlite(context.Context) (storage, error) {
	s.made++
	path := filepath.Join(s.dir, fmt.Sprintf("audit%d.db", s.made))
	keyFile, err := s.keyFor(path)
	return storage{url: "sqlite://" + path, keyFile: keyFile, remove: func() error { return removeAll(path) }}, err
}

// keyFor writes the key to a file for one store alone: next to it a worker keeps what it has signed, and refuses a store
// that has less.
func (s *stores) keyFor(store string) (path string, err error) {
	path = store + ".key"
	return path, s.secret.Save(path)
}

// removeAll removes the files whose names begin so, so that no disk runs full.
func removeAll(path string) error {
	files, err := filepath.Glob(path + "*")
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// postgres is a new database for each run, with the tables that this build of the worker makes.
func (s *stores) postgres(program string) func(context.Context) (storage, error) {
	return func(ctx context.Context) (storage, error) { return s.database(ctx, program) }
}

func (s *stores) database(ctx context.Context, program string) (storage, error) {
	url, err := s.server.NewDatabase(ctx)
	if err != nil {
		return storage{}, err
	}
	migrate := exec.CommandContext(ctx, program, "migrate")
	migrate.Env = environment("RETRY_DATABASE_URL=" + url)
	if out, err := migrate.CombinedOutput(); err != nil {
		return storage{}, fmt.Errorf("%s migrate: %w\n%s", program, err, out)
	}
	s.made++
	path := filepath.Join(s.dir, fmt.Sprintf("database%d", s.made))
	keyFile, err := s.keyFor(path)
	return storage{
		url: url, keyFile: keyFile, serverCPU: s.serverCPU,
		remove: func() error {
			name := url[strings.LastIndexByte(url, '/')+1:]
			name, _, _ = strings.Cut(name, "?")
			dropped := s.sql(context.WithoutCancel(ctx), s.server.URL("postgres", devpostgres.Superuser), "DROP DATABASE "+name+" WITH (FORCE)")
			return errors.Join(dropped, removeAll(path))
		},
	}, err
}

func (s *stores) sql(ctx context.Context, url string, statements ...string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err = conn.Exec(ctx, statement); err != nil {
			err = fmt.Errorf("%s: %w", statement, err)
			break
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

// serverCPU is the CPU time of all of the server's processes so far, those that have ended included.
func (s *stores) serverCPU() (time.Duration, error) { return familyCPU(s.server.PID()) }

// environment are the worker's settings for it.
func (s storage) environment() []string {
	if s.url == "" {
		return nil
	}
	return []string{"RETRY_DATABASE_URL=" + s.url, "RETRY_AUDIT_KEY_FILE=" + s.keyFile}
}

// used returns a function that returns how much CPU time the server behind the storage has used since, in microseconds.
func (s storage) used() func() float64 {
	if s.serverCPU == nil {
		return func() float64 { return 0 }
	}
	before, err := s.serverCPU()
	return func() float64 {
		after, errAfter := s.serverCPU()
		if err != nil || errAfter != nil { // the system does not say
			return 0
		}
		return micros(after - before)
	}
}

func (s storage) free() error {
	if s.remove == nil {
		return nil
	}
	return s.remove()
}
