// Package devpostgres starts a real PostgreSQL server for tests and benchmarks: the one that is installed, or else one
// that it fetches once. It listens on loopback only, asks for a password, keeps its data in a directory of its own, and
// dies with the process that started it. It never belongs to the worker.
package devpostgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/process"
)

// Superuser is the role that owns the server; [Server.NewDatabase] returns its URLs.
const Superuser = "postgres"

const (
	// stopGrace is how long a fast shutdown may take before the server is killed.
	stopGrace = 30 * time.Second
	// pollInterval is how often a condition is looked at while waiting for it.
	pollInterval = 20 * time.Millisecond
)

// Server is one PostgreSQL server. Its methods are for one goroutine at a time, but for NewDatabase and URL.
type Server struct {
	bin, dir   string
	address    string
	password   string
	credential *syscall.Credential
	process    *process.Process
	databases  atomic.Int64
}

// Start creates a server in a temporary directory and returns once it answers. Every write is flushed to the disk (fsync
// and synchronous_commit are on), as in production.
func Start(ctx context.Context) (*Server, error) {
	bin, err := Programs(ctx)
	if err != nil {
		return nil, err
	}
	return startFrom(ctx, bin)
}

// startFrom starts a server from the programs in a directory.
func startFrom(ctx context.Context, bin string) (*Server, error) {
	credential, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, credential: credential, password: rand.Text()}
	if err := s.settle(); err != nil {
		return nil, err
	}
	if err := s.initialize(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// settle picks a port and makes a directory that belongs to the server's user.
func (s *Server) settle() (err error) {
	if s.address, err = process.FreeAddress(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "postgres-"); err != nil {
		return fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	return s.give(s.dir)
}

// give makes the server's user the owner of a file.
func (s *Server) give(path string) error {
	if s.credential == nil {
		return nil
	}
	return os.Chown(path, int(s.credential.Uid), int(s.credential.Gid))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// LogFile returns the file that the server's log goes to.
func (s *Server) LogFile() string { return filepath.Join(s.dir, "postgres.log") }

// Password returns that of [Superuser]. A role that a test creates needs it too in order to be reached by [Server.URL].
func (s *Server) Password() string { return s.password }

// Address returns the host:port that the server listens on; it stays the same after a restart.
func (s *Server) Address() string { return s.address }

// PID returns that of the postmaster, the parent of all server processes; it changes with a restart.
func (s *Server) PID() int { return s.process.PID() }

// URL returns the address of a database for a role, with the server's password.
func (s *Server) URL(database, role string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(role, s.password),
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

// command returns one of the server's programs, run as the server's user.
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
	if err := s.give(secret); err != nil {
		return err
	}
	// --no-sync is about the files of the empty cluster only: what the server writes later is flushed.
	initdb := s.command(ctx, "initdb", "--pgdata", s.data(), "--username", Superuser, "--pwfile", secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("create a PostgreSQL cluster in %s: %w\n%s", s.dir, err, out)
	}
	return nil
}

// unprivileged returns whom the server runs as: nil for ourselves, and another user where we are root, because
// PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("group of user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: create one, or run this as another user")
}
