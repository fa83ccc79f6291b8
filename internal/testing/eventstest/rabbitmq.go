package eventstest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
)

// debianRabbitMQ is the server's own script. The one on Debian's PATH changes to the user rabbitmq, who cannot read
// our directory.
const debianRabbitMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// stopGrace is how long an orderly stop may take before the server is killed.
const stopGrace = 30 * time.Second

// RabbitMQ is a node of its own, in addition to the system's service where there is one. It listens on loopback only, keeps its data
// in the test's directory, and dies with this process.
type RabbitMQ struct {
	// Address is the host:port that it listens on, URL where clients connect, with user and password. They stay the same after
	// a restart.
	Address, URL string

	program, dir string
	env          []string
	server       *process.Process
}

// StartRabbitMQ starts a node that ends with the test, and returns once it answers.
func StartRabbitMQ(t *testing.T) *RabbitMQ {
	t.Helper()
	program := debianRabbitMQ
	if _, err := os.Stat(program); err != nil {
		program, err = exec.LookPath("rabbitmq-server")
		check.Must(t, err)
	}
	r := &RabbitMQ{program: program, dir: t.TempDir()}
	port, mapper, distribution, password := freePort(t), freePort(t), freePort(t), rand.Text()
	r.Address = net.JoinHostPort("127.0.0.1", port)
	r.URL = "amqp://test:" + password + "@" + r.Address
	config := filepath.Join(r.dir, "rabbitmq.conf")
	text := fmt.Sprintf("listeners.tcp.1 = %s\ndefault_user = test\ndefault_pass = %s\n", r.Address, password)
	check.Must(t, os.WriteFile(config, []byte(text), 0o600)) // it holds the password
	r.env = []string{
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"),
		"HOME=" + r.dir, // Erlang's cookie lies there
		"ERL_EPMD_PORT=" + mapper, "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_NODENAME=test" + port + "@localhost",
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + port, "RABBITMQ_DIST_PORT=" + distribution,
		"RABBITMQ_CONFIG_FILE=" + config, "RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(r.dir, "data"), "RABBITMQ_LOG_BASE=" + filepath.Join(r.dir, "log"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(r.dir, "plugins"),
		"RABBITMQ_LOGS=-",
		// The script becomes the server instead of its parent, so that it is the server that is signalled and that
		// dies with us.
		"RABBITMQ_ALLOW_INPUT=true",
		// The distribution listens on loopback, too; idle schedulers sleep instead of spinning.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none",
	}
	// Left to itself, the server would start a port mapper that outlives everything.
	epmd := exec.Command("epmd", "-port", mapper, "-address", "127.0.0.1")
	epmd.Env, epmd.Dir = r.env, r.dir
	mapping, err := process.Start(epmd)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, mapping.Kill()) })
	check.Must(t, r.Restart(t.Context()))
	t.Cleanup(func() { check.Must(t, r.server.Stop(stopGrace)) })
	return r
}

// Restart starts the server on its data, at first or after a Kill, and returns once it answers.
func (r *RabbitMQ) Restart(ctx context.Context) error {
	cmd := exec.Command(r.program, "-noinput")
	cmd.Env, cmd.Dir = r.env, r.dir
	started, err := process.Serve(ctx, cmd, filepath.Join(r.dir, "server.log"), func(context.Context) bool {
		conn, err := amqp.Dial(r.URL)
		return err == nil && conn.Close() == nil
	})
	if err != nil {
		return fmt.Errorf("start RabbitMQ on %s: %w", r.Address, err)
	}
	r.server = started
	return nil
}

// Kill ends the server at once, as kill -9 does, and returns when it is gone. The data stay for Restart.
func (r *RabbitMQ) Kill() error { return r.server.Kill() }

func freePort(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	check.Must(t, err)
	_, port, err := net.SplitHostPort(address)
	check.Must(t, err)
	return port
}
