// Package devpostgres starts a real PostgreSQL server for tests and benchmarks, from the server's programs on this
// machine. It listens on loopback only, asks for a password, keeps its data in a directory of its own, and dies with the
// process that started it. It never belongs to the worker.
package devpostgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

// Superuser is the role that owns the server; [Server.NewDatabase] returns its URLs.
const Superuser = "postgres"

const (
	// stopGrace is how long a fast shutdown may take before the server is killed.
	stopGrace = 30 * time.Second
	// pollInterval is how often a condition is looked at while waiting for it.
	pollInterval = 20 * time.Millisecond
)

// Options say where a server lives. The zero value is a good one.
type Options struct {
	// Dir holds the data and the log; it is created where it is missing, and kept. Where we are root, the user postgres
	// (or nobody) must be able to reach it, which it cannot in a t.TempDir. Empty: a new temporary directory, which
	// [Server.Close] removes.
	Dir string
	// Port on 127.0.0.1; 0 picks a free one.
	Port int
}

// Server is one PostgreSQL server. Its methods are for one goroutine at a time, but for NewDatabase and URL.
type Server struct {
	bin, dir   string
	temporary  bool
	address    string
	password   string
	credential *syscall.Credential
	process    *process.Process
	databases  atomic.Int64
}

// Start creates a server with an empty data directory and returns once it answers. Every write is flushed to the disk
// (fsync and synchronous_commit are on), as in production.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := &Server{password: rand.Text(), dir: o.Dir}
	var err error
	if s.bin, err = findBinaries(elsewhere); err != nil {
		return nil, err
	}
	if s.credential, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.address, err = address(o.Port); err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	if err := s.initialize(ctx); err != nil {
		return nil, errors.Join(err, s.removeDir())
	}
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, s.removeDir())
	}
	return s, nil
}

func address(port int) (string, error) {
	if port != 0 {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
	}
	return devbroker.FreeAddress()
}

// makeDir makes the directory and gives it to the server's user.
func (s *Server) makeDir() (err error) {
	if s.dir == "" {
		s.temporary = true
		s.dir, err = os.MkdirTemp("", "postgres-")
	} else {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil && s.credential != nil {
		err = os.Chown(s.dir, int(s.credential.Uid), int(s.credential.Gid))
	}
	if err != nil {
		return fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	return nil
}

func (s *Server) removeDir() error {
	if !s.temporary {
		return nil
	}
	return os.RemoveAll(s.dir)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// LogFile is the file that the server's log goes to.
func (s *Server) LogFile() string { return filepath.Join(s.dir, "postgres.log") }

// Password is that of [Superuser]. A role that a test creates needs it too in order to be reached by [Server.URL].
func (s *Server) Password() string { return s.password }

// Address is the host:port that the server listens on; it stays the same after a restart.
func (s *Server) Address() string { return s.address }

// PID is that of the postmaster, the parent of all server processes; it changes with a restart.
func (s *Server) PID() int { return s.process.PID() }

// URL is the address of a database for a user, with the server's password.
func (s *Server) URL(database, user string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, s.password),
		Host: s.address, Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// NewDatabase creates an empty database and returns its URL for [Superuser].
func (s *Server) NewDatabase(ctx context.Context) (string, error) {
	name := fmt.Sprintf("db%d", s.databases.Add(1))
	conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
	if err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return "", fmt.Errorf("create database %s: %w", name, err)
	}
	return s.URL(name, Superuser), nil
}

// command is one of the server's programs, run as the server's user.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	// Nothing of the caller's environment: PGHOST, PGDATA and the like would lead the server astray.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + s.dir}
	if s.credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential}
	}
	return cmd
}

func (s *Server) initialize(ctx context.Context) error {
	// The password goes through a file, because a command line can be read by everybody.
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(secret)
	if s.credential != nil {
		if err := os.Chown(secret, int(s.credential.Uid), int(s.credential.Gid)); err != nil {
			return err
		}
	}
	// --no-sync is about the files of the empty cluster only: what the server writes later is flushed.
	initdb := s.command(ctx, "initdb", "--pgdata", s.data(), "--username", Superuser, "--pwfile", secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("create a PostgreSQL cluster in %s: %w\n%s", s.dir, err, out)
	}
	return nil
}
