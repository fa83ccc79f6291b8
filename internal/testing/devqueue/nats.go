package devqueue

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// StartNATS starts a NATS server with JetStream, which flushes every message to the disk, and returns once it answers.
//
// The server is the one that tools/go.mod names. Go builds it, checks it and keeps it in its build cache: there is
// nothing to install, its version is pinned, and unlike a server inside the test process it can be killed.
func StartNATS(ctx context.Context) (*Server, error) {
	program, err := natsProgram(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newServer("NATS", "nats")
	if err != nil {
		return nil, err
	}
	config, err := s.writeConfig("nats.conf", fmt.Sprintf(`
listen: %q
jetstream { store_dir: %q, sync_interval: always }
authorization { user: %q, password: %q }
`, s.address, filepath.Join(s.dir, "data"), user, s.password))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.command = func() *exec.Cmd { return exec.Command(program, "--config", config) }
	s.answers = natsAnswers
	return s.start(ctx)
}

// natsProgram returns the path of the server's program, which Go builds if its cache lacks it.
func natsProgram(ctx context.Context) (string, error) {
	main, err := goOutput(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return goOutput(ctx, "tool", "-modfile="+filepath.Join(filepath.Dir(main), "tools", "go.mod"), "-n", "nats-server")
}

func goOutput(ctx context.Context, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build the NATS server that tools/go.mod names: go %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func natsAnswers(ctx context.Context, url string) bool {
	conn, err := natsclient.Connect(url)
	if err != nil {
		return false
	}
	defer conn.Close()
	stream, err := jetstream.New(conn)
	if err != nil {
		return false
	}
	_, err = stream.AccountInfo(ctx)
	return err == nil
}
