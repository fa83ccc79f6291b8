package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/config/connurl"
)

const (
	// maxConns is enough for the group commit, the relay, an outcome and a question at the same time.
	maxConns = 4
	// connectTimeout bounds one try to connect where the URL names no connect_timeout.
	connectTimeout = 5 * time.Second
	// lockTimeout is that of a session that writes. No other client sets this value, so it also shows that
	// the other settings of the session are in force.
	lockTimeout = "700ms"
)

// session is run on every new connection, and asks what the server is like. synchronous_commit may be
// stricter than "on", never laxer. The timeouts are for a server that waits for a client which is gone or
// stuck; a lock is given up before the second that a try to save may take. row_security off makes row-level
// security an error, where it would otherwise hide records without a word.
//
// Every query of ours has its index, and reads it in its order. A planner that knows nothing yet of a table
// which has grown would read and sort all of it for each page: 300,000 records took 9 s instead of 2.
const session = `SELECT current_setting('fsync'), pg_is_in_recovery(), ARRAY[
	set_config('synchronous_commit', CASE current_setting('synchronous_commit')
		WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
	set_config('search_path', 'analyze_retry, pg_temp', false),
	set_config('row_security', 'off', false),
	set_config('TimeZone', 'UTC', false),
	set_config('default_transaction_isolation', 'read committed', false),
	set_config('enable_seqscan', 'off', false),
	set_config('enable_bitmapscan', 'off', false),
	set_config('jit', 'off', false),
	set_config('tcp_keepalives_idle', '10', false),
	set_config('tcp_keepalives_interval', '5', false),
	set_config('tcp_keepalives_count', '3', false),
	set_config('idle_in_transaction_session_timeout', '5s', false),
	set_config('lock_timeout', $1, false),
	set_config('statement_timeout', $2, false),
	set_config('default_transaction_read_only', $3, false)]`

// parse makes a pool's settings of the URL. Its errors do not repeat the URL: where a password breaks the
// syntax, parts of it stand anywhere in what the parser says.
func parse(url string, readOnly bool) (*pgxpool.Config, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = maxConns
	config.ConnConfig.RuntimeParams["application_name"] = "analyze-retry"
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		limits := []any{"0", "0", "on"} // a person waits for the answer, and can end the wait
		if !readOnly {
			limits = []any{lockTimeout, "30s", "off"}
		}
		var fsync string
		var standby bool
		err := conn.QueryRow(ctx, session, limits...).Scan(&fsync, &standby, nil)
		if err == nil && !readOnly {
			err = unfit(fsync, standby)
		}
		return err
	}
	return config, nil
}

func parseURL(url string) (*pgxpool.Config, error) {
	const expected = "the audit store's address is not of the form " +
		"postgres://user:password@host:port/database " +
		"(in a password, characters such as / @ : # ? % are written as %2F %40 %3A %23 %3F %25)"
	config, err := pgxpool.ParseConfig(url)
	server, query, _ := strings.Cut(url, "?")
	if err == nil && !strings.Contains("&"+query, "&sslmode=") && !onThisMachine(config) {
		config, err = pgxpool.ParseConfig(server + "?sslmode=verify-full&" + query)
	}
	if err != nil || !strings.HasPrefix(url, "postgres") {
		return nil, errors.New(expected) // pgx's own text can hold the password
	}
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol: // without the types of what is sent
		return nil, errors.New("the audit store's address has a default_query_exec_mode in which no record " +
			"can be saved: leave it out")
	}
	return config, nil
}

// onThisMachine reports whether no password and no record leaves the machine.
func onThisMachine(config *pgxpool.Config) bool {
	here := func(host string) bool { return strings.HasPrefix(host, "/") || connurl.IsLoopback(host) }
	away := func(f *pgconn.FallbackConfig) bool { return !here(f.Host) }
	return here(config.ConnConfig.Host) && !slices.ContainsFunc(config.ConnConfig.Fallbacks, away)
}

// unfit refuses a server on which a synced record can be lost or not be written at all.
func unfit(fsync string, standby bool) error {
	switch {
	case fsync != "on":
		return fmt.Errorf("this PostgreSQL runs with fsync=%s, "+
			"so that decisions which were answered can be lost: "+
			"set fsync=on in its postgresql.conf and reload it", fsync)
	case standby:
		return errors.New("this PostgreSQL is a standby and takes no writes: " +
			"name the primary in the address, or name all servers and add target_session_attrs=read-write")
	}
	return nil
}
