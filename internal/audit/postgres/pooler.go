package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

var errSharedSession = errors.New("the connection goes through a pooler that gives one session of PostgreSQL to several clients (PgBouncer in transaction or statement mode), where settings, locks and prepared statements get lost: use session pooling for this database (PgBouncer: pool_mode = session), or connect to PostgreSQL itself")

// ownSession returns an error where a pooler does not keep a session of PostgreSQL for this connection alone: it is served
// by several, or its own serves another connection too. All that is set on a connection, synchronous_commit above all, and
// the advisory lock of the lead would otherwise hold for the next client, and not for us.
//
// A pooler in between is known by the process ID that it has invented. Without one, nothing more is asked.
func ownSession(ctx context.Context, conn *pgx.Conn) error {
	own, err := backend(ctx, conn)
	if err != nil || own == conn.PgConn().PID() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	other, err := pgx.ConnectConfig(ctx, conn.Config())
	if err != nil {
		return fmt.Errorf("open a second connection through the pooler, to see whether it keeps sessions apart (does its pool have five for each worker?): %w", err)
	}
	defer closeConn(other)
	// Several times, because a pooler with other clients may happen to give out two sessions.
	for range 5 {
		others, err := backend(ctx, other)
		if err != nil {
			return err
		}
		now, err := backend(ctx, conn)
		if err != nil {
			return err
		}
		if now != own || others == own {
			return errSharedSession
		}
	}
	return nil
}

// backend is the process ID of the server that answers. It prepares no statement, which could be on another one.
func backend(ctx context.Context, conn *pgx.Conn) (pid uint32, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}
