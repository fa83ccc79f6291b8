package devpostgres

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/devbroker"
)

// Standby starts a second server, in a temporary directory, that takes over all data of this one and every change. Once it
// returns, a commit of this server is not done until the standby has flushed it too. A server has one standby at most.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	b := &Server{bin: s.bin, password: s.password, credential: s.credential}
	var err error
	if b.address, err = devbroker.FreeAddress(); err != nil {
		return nil, err
	}
	if err := b.makeDir(); err != nil {
		return nil, err
	}
	if err := b.copyFrom(ctx, s); err != nil {
		return nil, errors.Join(err, b.removeDir())
	}
	if err := b.launch(ctx); err != nil {
		return nil, errors.Join(err, b.removeDir())
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
func (s *Server) waitForStandby(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	var asked error
	err = s.process.Await(ctx, func(ctx context.Context) (inStep bool) {
		asked = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')").Scan(&inStep)
		return inStep || asked != nil
	})
	return errors.Join(err, asked)
}

// Promote makes a server of its own of a standby, and returns once it takes writes. The server that it copied must be dead.
func (s *Server) Promote(ctx context.Context) (err error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres", Superuser))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	var promoted bool
	if err := conn.QueryRow(ctx, "SELECT pg_promote()").Scan(&promoted); err != nil {
		return err
	}
	if !promoted {
		return errors.New("PostgreSQL was not promoted in time")
	}
	return nil
}
