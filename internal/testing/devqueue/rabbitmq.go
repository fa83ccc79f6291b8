// Package devqueue starts message queues for tests: RabbitMQ as a process of its own, which a test can kill and which dies with
// the process that started it, and a Kafka in the test process. Both listen on loopback only and keep their data in a temporary
// directory. They never belong to the worker.
package devqueue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/testing/process"
)

// ErrNoRabbitMQ is returned where RabbitMQ is not installed.
var ErrNoRabbitMQ = errors.New("no RabbitMQ found in /usr/lib/rabbitmq/bin and PATH: install it (Debian: apt-get install --no-install-recommends rabbitmq-server)")

// debianRabbitMQ are the server's own scripts. The one on Debian's PATH changes to the user rabbitmq, who cannot read
// our directory.
const debianRabbitMQ = "/usr/lib/rabbitmq/bin"

// user is the one user of a node.
const user = "test"

// stopGrace is how long an orderly stop may take before the server is killed.
const stopGrace = 30 * time.Second

// RabbitMQ is one running node. Its methods are for one goroutine at a time, but for URL and Address.
type RabbitMQ struct {
	program  string
	dir      string
	address  string
	password string
	env      []string
	server   *process.Process
	mapper   *process.Process // of ports; it is not killed with the server
}

// StartRabbitMQ starts a RabbitMQ node of its own, in addition to the system's service where there is one, and returns
// once it answers.
//
// RabbitMQ 3.10 flushes a confirmed message, but not always the declaration of its durable queue: killed moments after
// that, it has been seen to forget the queue with all its messages. A test that kills it declares its queues first and
// then calls [RabbitMQ.Restart] once.
func StartRabbitMQ(ctx context.Context) (*RabbitMQ, error) {
	program, err := findRabbitMQ(debianRabbitMQ)
	if err != nil {
		return nil, err
	}
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rabbitmq-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for RabbitMQ: %w", err)
	}
	r := &RabbitMQ{program: program, dir: dir, address: address, password: rand.Text()}
	if err = r.prepare(); err == nil {
		err = r.launch(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func findRabbitMQ(dir string) (string, error) {
	program := filepath.Join(dir, "rabbitmq-server")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	program, err := exec.LookPath("rabbitmq-server")
	if err != nil {
		return "", ErrNoRabbitMQ
	}
	return program, nil
}

// prepare configures the node and starts the port mapper that it needs.
func (r *RabbitMQ) prepare() error {
	_, port, err := net.SplitHostPort(r.address)
	if err != nil {
		return err
	}
	mapper, err := freePort()
	if err != nil {
		return err
	}
	distribution, err := freePort()
	if err != nil {
		return err
	}
	config := filepath.Join(r.dir, "rabbitmq.conf")
	text := fmt.Sprintf("listeners.tcp.1 = %s\ndefault_user = %s\ndefault_pass = %s\n", r.address, user, r.password)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil { // it holds the password
		return err
	}
	r.env = []string{
		"PATH=" + filepath.Dir(r.program) + ":" + os.Getenv("PATH"),
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
	epmd.Env = r.env
	epmd.Dir = r.dir
	if r.mapper, err = process.Start(epmd); err != nil {
		return fmt.Errorf("start Erlang's port mapper: %w", err)
	}
	return nil
}

// launch starts the server on its data and returns once it answers.
func (r *RabbitMQ) launch(ctx context.Context) (err error) {
	cmd := exec.Command(r.program, "-noinput")
	cmd.Env, cmd.Dir = r.env, r.dir
	r.server, err = process.Serve(ctx, cmd, filepath.Join(r.dir, "server.log"), func(context.Context) bool {
		conn, err := amqp.Dial(r.URL())
		return err == nil && conn.Close() == nil
	})
	if err != nil {
		return fmt.Errorf("start RabbitMQ on %s: %w", r.address, err)
	}
	return nil
}

// URL returns where clients connect, with user and password.
func (r *RabbitMQ) URL() string {
	u := url.URL{Scheme: "amqp", User: url.UserPassword(user, r.password), Host: r.address}
	return u.String()
}

// Address returns the host:port that the server listens on; it stays the same after a restart.
func (r *RabbitMQ) Address() string { return r.address }

// Kill ends the server at once, as kill -9 does, and returns when it is gone. The data stay for Restart.
func (r *RabbitMQ) Kill() error { return r.server.Kill() }

// Restart starts the server again on the same data and address, after stopping it where it still runs, and returns once
// it answers.
func (r *RabbitMQ) Restart(ctx context.Context) error {
	if _, err := r.server.Stop(context.Background(), stopGrace); err != nil {
		return err
	}
	return r.launch(ctx)
}

// Close ends the server and removes its data.
func (r *RabbitMQ) Close() (err error) {
	if r.server != nil {
		_, err = r.server.Stop(context.Background(), stopGrace)
	}
	if r.mapper != nil {
		err = errors.Join(err, r.mapper.Kill())
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

func freePort() (string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	return port, err
}
