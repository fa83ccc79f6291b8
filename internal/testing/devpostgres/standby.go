package devpostgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/jackc/pgx/v5"
)

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

// Promote makes a server of its own of a standby, and returns once it takes writes. The server that it copied must be dead.
func (s *Server) Promote(ctx context.Context) error {
	return s.asSuperuser(ctx, func(conn *pgx.Conn) error {
		var promoted bool
		if err := conn.QueryRow(ctx, "SELECT pg_promote()").Scan(&promoted); err != nil {
			return err
		}
		if !promoted {
			return errors.New("PostgreSQL was not promoted in time")
		}
		return nil
	})
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
