package devpostgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/process"
)

// Pooler is a PgBouncer in front of a [Server]. It asks for no password and logs in as [Superuser].
type Pooler struct {
	server  *Server
	dir     string
	address string
	process *process.Process
}

// StartPooler starts a PgBouncer and returns once it answers. Mode is session, transaction or statement.
func StartPooler(ctx context.Context, server *Server, mode string) (*Pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			return nil, errors.New("no pgbouncer found in PATH and /usr/sbin: install it (Debian: apt-get install pgbouncer)")
		}
	}
	p := &Pooler{server: server}
	if p.address, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp("", "pgbouncer-"); err != nil {
		return nil, err
	}
	if err := p.launch(ctx, program, mode); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Pooler) launch(ctx context.Context, program, mode string) error {
	if err := errors.Join(p.configure(mode), p.server.give(p.dir)); err != nil {
		return err
	}
	cmd := p.server.command(context.WithoutCancel(ctx), "", p.config())
	cmd.Path, cmd.Args[0], cmd.Dir = program, program, p.dir
	started, err := process.Serve(ctx, cmd, filepath.Join(p.dir, "pgbouncer.log"), false, func(ctx context.Context) bool {
		return p.console(ctx, "SHOW VERSION") == nil
	})
	if err != nil {
		return fmt.Errorf("start PgBouncer on %s: %w", p.address, err)
	}
	p.process = started
	return nil
}

func (p *Pooler) config() string { return filepath.Join(p.dir, "pgbouncer.ini") }

// configure writes the configuration. The password of the server is in it.
func (p *Pooler) configure(mode string) error {
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return err
	}
	serverHost, serverPort, err := net.SplitHostPort(p.server.address)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = %s
listen_port = %s
unix_socket_dir =
auth_type = any
admin_users = %[3]s
pool_mode = %[7]s
`, serverHost, serverPort, Superuser, p.server.password, host, port, mode)
	return errors.Join(os.WriteFile(p.config(), []byte(text), 0o600), p.server.give(p.config()))
}

// SetMode changes the mode of the running PgBouncer.
func (p *Pooler) SetMode(ctx context.Context, mode string) error {
	if err := p.configure(mode); err != nil {
		return err
	}
	return p.console(ctx, "RELOAD")
}

// console gives a command to PgBouncer itself.
func (p *Pooler) console(ctx context.Context, command string) error {
	conn, err := pgx.Connect(ctx, "postgres://"+Superuser+"@"+p.address+"/pgbouncer?sslmode=disable&default_query_exec_mode=simple_protocol")
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, command)
	return errors.Join(err, conn.Close(ctx))
}

// Through returns a URL of the server by way of the pooler.
func (p *Pooler) Through(url string) string {
	return strings.Replace(url, p.server.address, p.address, 1)
}

// Close stops PgBouncer.
func (p *Pooler) Close() error {
	var err error
	if p.process != nil {
		err = p.process.Kill()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
