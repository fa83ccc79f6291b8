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

// containerPorts are the ports inside a container; only two of them are published.
var containerPorts = Ports{Gateway: 26500, Command: 26501, Internal: 26502, REST: 8080, Monitoring: 9600}

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
	if err := runQuietly(ctx, exec.CommandContext(ctx, docker, "pull", "--quiet", e.image)); err != nil {
		return nil, fmt.Errorf("docker could not fetch the image %s: %w", e.image, err)
	}
	return e, nil
}

// command runs the container in the foreground: the client passes SIGTERM on and ends when the container does.
func (e dockerEngine) command(i instance) *exec.Cmd {
	args := []string{
		"run", "--rm", "--name", e.container(i),
		// The files in the mounted directory have to belong to the caller; group 0 is what the image grants its rights to.
		"--user", strconv.Itoa(os.Getuid()) + ":0",
		"--publish", fmt.Sprintf("127.0.0.1:%d:%d", i.Ports.Gateway, containerPorts.Gateway),
		"--publish", fmt.Sprintf("127.0.0.1:%d:%d", i.Ports.Monitoring, containerPorts.Monitoring),
		"--volume", i.Dir + ":" + containerHome,
		"--env", "JAVA_OPTS=" + javaOptions,
	}
	for _, setting := range settings(i, containerHome, "0.0.0.0", containerPorts) {
		args = append(args, "--env", setting)
	}
	cmd := exec.Command(e.docker, append(args, e.image)...)
	cmd.Env = inherited()
	return cmd
}

func (e dockerEngine) container(i instance) string {
	return "analyze-retry-" + filepath.Base(i.Dir) + "-" + strconv.Itoa(i.Ports.Gateway)
}

// removeContainer ends a container at once. One that does not exist is fine.
func removeContainer(name string) {
	if docker, err := exec.LookPath("docker"); err == nil {
		_ = exec.Command(docker, "rm", "--force", name).Run()
	}
}
