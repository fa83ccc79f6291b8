package devpostgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/process"
)

// launch starts the server on its data and returns once it answers a query.
func (s *Server) launch(ctx context.Context) error {
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
	started, err := process.Serve(ctx, cmd, s.LogFile(), func(ctx context.Context) bool {
		conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
		return err == nil && conn.Close(ctx) == nil
	})
	if err != nil {
		return fmt.Errorf("start PostgreSQL on %s: %w", s.address, err)
	}
	s.process = started
	return nil
}

// Stop ends the server in order (a fast shutdown: transactions are rolled back, clients are sent away, a checkpoint is
// written), or kills it where that takes too long. The data stay for Restart. A stopped server is not an error.
func (s *Server) Stop() error {
	// SIGTERM would wait for all clients to leave.
	if err := s.process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if s.process.Wait(ctx) == nil {
		return nil
	}
	return s.Kill()
}

// Kill ends all processes of the server at once, as kill -9 does, and returns when they are gone. The data stay for
// Restart, which recovers them. Outside Linux only the postmaster is killed; the others end when they notice.
func (s *Server) Kill() error {
	// The postmaster stands still meanwhile, or it would have new children while we count them.
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	children := process.Children(s.process.PID())
	if !s.process.Alive() {
		children = nil // the numbers may belong to other processes by now
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("kill server process %d: %w", pid, err)
		}
	}
	if err := s.process.Kill(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	// A new server refuses the data directory while one of the old processes holds its shared memory.
	return awaitGone(ctx, children)
}

// Restart starts the server again on the same data and address, after stopping it where it still runs, and returns once
// it answers.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.launch(ctx)
}

// Close ends the server and removes its directory. It kills, because the checkpoint of an orderly end can take a minute.
func (s *Server) Close() error {
	return errors.Join(s.Kill(), os.RemoveAll(s.dir))
}

// awaitGone returns when none of the processes, which need not be our children, runs any more.
func awaitGone(ctx context.Context, pids []int) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for _, pid := range pids {
		for running(pid) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("server process %d still runs: %w", pid, ctx.Err())
			}
		}
	}
	return nil
}

// running reports whether a process runs. One that is dead, but not yet collected by its parent (Z), does not.
func running(pid int) bool {
	stat := process.Stat(pid)
	return len(stat) > 0 && stat[0] != "Z"
}

// Standby starts a second server, in a temporary directory, that takes over all data of this one and every change. Once it
// returns, a commit of this server is not done until the standby has flushed it too. A server has one standby at most.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	b := &Server{bin: s.bin, password: s.password, credential: s.credential}
	if err := b.settle(); err != nil {
		return nil, err
	}
	if err := b.copyFrom(ctx, s); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	if err := b.launch(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	// Only now, or the copy would want a standby of its own.
	if err := s.waitForStandby(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// copyFrom copies the other server's data, with the settings that make a standby of the copy.
func (s *Server) copyFrom(ctx context.Context, other *Server) error {
	host, port, err := net.SplitHostPort(other.address)
	if err != nil {
		return err
	}
	backup := s.command(ctx, "pg_basebackup", "--pgdata", s.data(), "--host", host, "--port", port, "--username", Superuser,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	backup.Env = append(backup.Env, "PGPASSWORD="+s.password)
	if out, err := backup.CombinedOutput(); err != nil {
		return fmt.Errorf("copy a PostgreSQL cluster to %s: %w\n%s", s.dir, err, out)
	}
	return nil
}

// waitForStandby makes commits wait for the standby, and returns when it has caught up.
func (s *Server) waitForStandby(ctx context.Context) error {
	return s.asSuperuser(ctx, func(conn *pgx.Conn) error {
		if err := set(ctx, conn, "synchronous_standby_names", "*"); err != nil {
			return err
		}
		var asked error
		err := s.process.Await(ctx, func(ctx context.Context) (inStep bool) {
			asked = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')").Scan(&inStep)
			return inStep || asked != nil
		})
		return errors.Join(err, asked)
	})
}

// CutOff keeps all further changes from a standby, as a broken network does.
func (s *Server) CutOff(ctx context.Context) error {
	return s.asSuperuser(ctx, func(conn *pgx.Conn) error { return set(ctx, conn, "primary_conninfo", "") })
}

// set makes a setting, of a running server too.
func set(ctx context.Context, conn *pgx.Conn, name, value string) error {
	_, err := conn.Exec(ctx, "ALTER SYSTEM SET "+name+" = '"+value+"'")
	if err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_reload_conf()")
	}
	return err
}

// asSuperuser does something on a connection of its own.
func (s *Server) asSuperuser(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(context.WithoutCancel(ctx)))
}
