// Package devqueue starts message queues for tests: RabbitMQ as a process of its own, which a test can kill and which dies with
// the process that started it, and a Kafka in the test process. Both listen on loopback only and keep their data in a temporary
// directory. They never belong to the worker.
package devqueue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
)

// user is the one user of each server.
const user = "test"

// stopGrace is how long an orderly stop may take before the server is killed.
const stopGrace = 30 * time.Second

// Server is one running queue. Its methods are for one goroutine at a time, but for URL and Address.
type Server struct {
	kind     string // for messages
	scheme   string
	dir      string
	address  string
	password string
	process  *process.Process
	// companion is another process that the server needs, or nil; it is not killed with the server.
	companion *process.Process
	command   func() *exec.Cmd
	// answers reports whether the server takes requests.
	answers func(ctx context.Context, url string) bool
}

// newServer makes a directory and picks a port.
func newServer(kind, scheme string) (*Server, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", scheme+"-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for %s: %w", kind, err)
	}
	return &Server{kind: kind, scheme: scheme, dir: dir, address: address, password: rand.Text()}, nil
}

// start starts a new server and removes what it has made where that fails.
func (s *Server) start(ctx context.Context) (*Server, error) {
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// launch starts the server on its data and returns once it answers.
func (s *Server) launch(ctx context.Context) error {
	cmd := s.command()
	cmd.Dir = s.dir
	started, err := process.Serve(ctx, cmd, s.LogFile(), false, func(ctx context.Context) bool { return s.answers(ctx, s.URL()) })
	if err != nil {
		return fmt.Errorf("start %s on %s: %w", s.kind, s.address, err)
	}
	s.process = started
	return nil
}

// URL returns where clients connect, with user and password.
func (s *Server) URL() string {
	u := url.URL{Scheme: s.scheme, User: url.UserPassword(user, s.password), Host: s.address}
	return u.String()
}

// Address returns the host:port that the server listens on; it stays the same after a restart.
func (s *Server) Address() string { return s.address }

// LogFile returns the file that the server's log goes to.
func (s *Server) LogFile() string { return filepath.Join(s.dir, "server.log") }

// PID returns the number of the server's process; it changes with a restart.
func (s *Server) PID() int { return s.process.PID() }

// Kill ends the server at once, as kill -9 does, and returns when it is gone. The data stay for Restart.
func (s *Server) Kill() error { return s.process.Kill() }

// Stop ends the server in order, or kills it where that takes too long. The data stay for Restart. A stopped server is
// not an error.
func (s *Server) Stop() error {
	_, err := s.process.Stop(context.Background(), stopGrace)
	return err
}

// Restart starts the server again on the same data and address, after stopping it where it still runs, and returns once
// it answers.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.launch(ctx)
}

// Close stops the server and removes its data.
func (s *Server) Close() error {
	var err error
	if s.process != nil {
		err = s.Stop()
	}
	if s.companion != nil {
		err = errors.Join(err, s.companion.Kill())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// writeConfig writes a configuration that only we can read, for it holds the password.
func (s *Server) writeConfig(name, text string) (path string, err error) {
	path = filepath.Join(s.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
