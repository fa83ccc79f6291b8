// Package devpostgres starts a real PostgreSQL server for tests and benchmarks: the one that is installed, or else one
// that it fetches once. It listens on loopback only, asks for a password, keeps its data in a directory of its own, and
// dies with the process that started it. It never belongs to the worker.
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

// stopGrace is how long a server may take to end before it is killed.
const stopGrace = 30 * time.Second

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
func Start(ctx context.Context) (s *Server, err error) {
	s = &Server{password: rand.Text()}
	if s.bin, err = Programs(); err != nil {
		return nil, err
	}
	if s.credential, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "postgres-"); err != nil {
		return nil, fmt.Errorf("make a directory for PostgreSQL: %w", err)
	}
	if err = s.initialize(ctx); err == nil {
		err = s.listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// listen starts the server on a free address, and on another one where a program has taken that before it.
func (s *Server) listen(ctx context.Context) (err error) {
	const tries = 3
	for n := 0; n == 0 || n < tries && err != nil && ctx.Err() == nil; n++ {
		if s.address, err = process.FreeAddress(); err != nil {
			return err
		}
		err = s.Restart(ctx)
	}
	return err
}

// unprivileged returns whom the server runs as: nil for ourselves, and nobody where we are root, because PostgreSQL refuses to
// run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: create a user nobody, or run this as another user: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(nobody.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, gidErr)
}

// initialize creates the cluster.
func (s *Server) initialize(ctx context.Context) error {
	// The password goes through a file, because a command line can be read by everybody.
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(secret)
	if s.credential != nil {
		for _, path := range []string{s.dir, secret} {
			if err := os.Chown(path, int(s.credential.Uid), int(s.credential.Gid)); err != nil {
				return err
			}
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

// Restart starts the server on its data and address, after Stop, and returns once it answers a query.
func (s *Server) Restart(ctx context.Context) error {
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	// The server outlives ctx, which is only about its start.
	cmd := s.command(context.WithoutCancel(ctx), "postgres", "-D", s.data(),
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+port,
		"-c", "unix_socket_directories=", // the shared /tmp would be the place
		"-c", "fsync=on", "-c", "synchronous_commit=on",
		"-c", "shared_buffers=64MB", "-c", "max_connections=100",
		// In the data directory, so that a killed server leaves nothing in /dev/shm.
		"-c", "dynamic_shared_memory_type=mmap",
		"-c", "log_line_prefix=%m [%p] %u@%d ")
	started, err := process.Serve(ctx, cmd, filepath.Join(s.dir, "postgres.log"), func(ctx context.Context) bool {
		conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
		return err == nil && conn.Close(ctx) == nil
	})
	if err != nil {
		return fmt.Errorf("start PostgreSQL on %s: %w", s.address, err)
	}
	s.process = started
	return nil
}

// Stop ends the server in order: transactions are rolled back, clients are sent away, a checkpoint is written.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) } // SIGTERM would wait for all clients to leave

// end sends a signal that ends the server, and returns when it is gone. One that has ended is not an error.
func (s *Server) end(how syscall.Signal) error {
	if err := s.process.Signal(how); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if s.process.Wait(ctx) == nil {
		return nil
	}
	return s.process.Kill()
}

// Close ends the server and removes its directory. It kills (SIGQUIT), because the checkpoint of an orderly end can take a minute.
func (s *Server) Close() error { return errors.Join(s.end(syscall.SIGQUIT), os.RemoveAll(s.dir)) }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

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
