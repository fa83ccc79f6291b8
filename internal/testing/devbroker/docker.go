package devbroker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// dockerInfoTimeout bounds the question whether an engine answers: a client can hang on one that is wedged.
const dockerInfoTimeout = 15 * time.Second

// containerHome is where the instance's directory appears inside the container.
const containerHome = "/devbroker"

// dockerEngine runs the broker's image of the same version.
type dockerEngine struct {
	docker, image string
}

func prepareDocker(ctx context.Context, r release, progress Progress) (engine, error) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return nil, fmt.Errorf("%w: docker is not on the PATH", errUnavailable)
	}
	bounded, cancel := context.WithTimeout(ctx, dockerInfoTimeout)
	defer cancel()
	if err := runQuietly(bounded, exec.CommandContext(bounded, docker, "info")); err != nil {
		return nil, fmt.Errorf("%w: no Docker engine answers: %w", errUnavailable, err)
	}
	e := dockerEngine{docker: docker, image: "camunda/zeebe:" + r.version}
	if exec.CommandContext(ctx, docker, "image", "inspect", e.image).Run() == nil {
		return e, nil
	}
	progress.say("fetching the image %s (once) ...", e.image)
	pull := exec.CommandContext(ctx, docker, "pull", "--quiet", e.image)
	if err := progress.while("fetching", func() error { return runQuietly(ctx, pull) }); err != nil {
		return nil, fmt.Errorf("docker could not fetch the image %s: %w", e.image, err)
	}
	return e, nil
}

// ports are free ones of this machine for those that are published; the others stay inside the container.
func (dockerEngine) ports(gateway, monitoring, rest int) (Ports, error) {
	p, err := pickPorts(gateway, monitoring, rest)
	p.Command, p.Internal = 26501, 26502
	return p, err
}

// command runs the container in the foreground: the client passes SIGTERM on and ends when the container does.
// A client that is killed, with us or without, leaves its container running.
func (e dockerEngine) command(i State) *exec.Cmd {
	args := []string{
		"run", "--rm", "--name", e.container(i),
		// The files in the mounted directory have to belong to the caller; group 0 is what the image grants its rights to.
		"--user", strconv.Itoa(os.Getuid()) + ":0",
		"--publish", publish(i.Ports.Gateway),
		"--publish", publish(i.Ports.Monitoring),
		"--publish", publish(i.Ports.REST),
		"--volume", i.Dir + ":" + containerHome,
		"--env", "JAVA_OPTS=" + javaOptions,
	}
	for _, setting := range settings(i, containerHome, "0.0.0.0") {
		args = append(args, "--env", setting)
	}
	cmd := exec.Command(e.docker, append(args, e.image)...)
	cmd.Env = inherited()
	return cmd
}

// publish gives a port of the container the same number on this machine, on loopback only.
func publish(port int) string {
	return fmt.Sprintf("127.0.0.1:%d:%d", port, port)
}

func (e dockerEngine) container(i State) string {
	return "analyze-retry-" + filepath.Base(i.Dir) + "-" + strconv.Itoa(i.Ports.Gateway)
}

// removeContainer ends the broker's container at once, if it runs in one. A container that does not exist is fine.
func (b *Broker) removeContainer() {
	if docker, err := exec.LookPath("docker"); err == nil && b.at.Container != "" {
		_ = exec.Command(docker, "rm", "--force", b.at.Container).Run()
	}
}
