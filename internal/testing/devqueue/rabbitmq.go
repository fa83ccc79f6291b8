package devqueue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/testing/process"
)

// ErrNoRabbitMQ is returned where RabbitMQ is not installed.
var ErrNoRabbitMQ = errors.New("no RabbitMQ found in /usr/lib/rabbitmq/bin and PATH: install it (Debian: apt-get install --no-install-recommends rabbitmq-server)")

// debianRabbitMQ are the server's own scripts. The one on Debian's PATH changes to the user rabbitmq, who cannot read
// our directory.
const debianRabbitMQ = "/usr/lib/rabbitmq/bin"

// StartRabbitMQ starts a RabbitMQ node of its own, in addition to the system's service where there is one, and returns
// once it answers.
//
// RabbitMQ 3.10 flushes a confirmed message, but not always the declaration of its durable queue: killed moments after
// that, it has been seen to forget the queue with all its messages. A test that kills it declares its queues first and
// then calls [Server.Restart] once.
func StartRabbitMQ(ctx context.Context) (*Server, error) {
	program, err := findRabbitMQ(debianRabbitMQ)
	if err != nil {
		return nil, err
	}
	s, err := newServer("RabbitMQ", "amqp")
	if err != nil {
		return nil, err
	}
	if s.command, err = s.rabbitMQ(program); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.answers = func(_ context.Context, url string) bool {
		conn, err := amqp.Dial(url)
		return err == nil && conn.Close() == nil
	}
	return s.start(ctx)
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

// rabbitMQ prepares a node, starts the port mapper that it needs, and returns the command that starts it.
func (s *Server) rabbitMQ(program string) (func() *exec.Cmd, error) {
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil, err
	}
	mapper, err := freePort()
	if err != nil {
		return nil, err
	}
	distribution, err := freePort()
	if err != nil {
		return nil, err
	}
	config, err := s.writeConfig("rabbitmq.conf",
		fmt.Sprintf("listeners.tcp.1 = %s\ndefault_user = %s\ndefault_pass = %s\n", s.address, user, s.password))
	if err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"),
		"HOME=" + s.dir, // Erlang's cookie lies there
		"ERL_EPMD_PORT=" + mapper, "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_NODENAME=test" + port + "@localhost",
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + port, "RABBITMQ_DIST_PORT=" + distribution,
		"RABBITMQ_CONFIG_FILE=" + config, "RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(s.dir, "data"), "RABBITMQ_LOG_BASE=" + filepath.Join(s.dir, "log"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(s.dir, "plugins"),
		"RABBITMQ_LOGS=-",
		// The script becomes the server instead of its parent, so that it is the server that is signalled and that
		// dies with us.
		"RABBITMQ_ALLOW_INPUT=true",
		// The distribution listens on loopback, too; idle schedulers sleep instead of spinning.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none",
	}
	// Left to itself, the server would start a port mapper that outlives everything.
	epmd := exec.Command("epmd", "-port", mapper, "-address", "127.0.0.1")
	epmd.Env = env
	epmd.Dir = s.dir
	if s.companion, err = process.Start(epmd, false); err != nil {
		return nil, fmt.Errorf("start Erlang's port mapper: %w", err)
	}
	return func() *exec.Cmd {
		cmd := exec.Command(program, "-noinput")
		cmd.Env = env
		return cmd
	}, nil
}

func freePort() (string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	return port, err
}
