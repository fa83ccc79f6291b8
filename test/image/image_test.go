//go:build image

// Package image builds the image from deploy/Dockerfile with buildah, and runs the worker in it on the engine.
package image

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/prometheus/procfs"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/process"
)

const (
	image = "localhost/analyze-retry:test"
	user  = 65532
)

// storage is where buildah keeps its images and containers during a test.
type storage struct {
	*testing.T
	dir string
}

// command returns a command of buildah on this storage.
func (s storage) command(ctx context.Context, args ...string) *exec.Cmd {
	flags := []string{"--root", filepath.Join(s.dir, "root"), "--runroot", filepath.Join(s.dir, "run")}
	return exec.CommandContext(ctx, "buildah", append(flags, args...)...)
}

// buildah runs a command of buildah and returns what it prints.
func (s storage) buildah(args ...string) string {
	s.Helper()
	cmd := s.command(s.Context(), args...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("buildah %q: %v\n%s", args, err, errors.String())
	}
	return strings.TrimSpace(string(out))
}

// build builds the image in a storage of its own, which is removed at the end of the test.
func build(t *testing.T) storage {
	t.Helper()
	s := storage{t, t.TempDir()}
	t.Cleanup(func() {
		// What is still mounted cannot be removed.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the test's own has ended
		defer cancel()
		check.Must(t, s.command(ctx, "umount", "--all").Run(), s.command(ctx, "rm", "--all").Run())
	})
	if out, err := exec.CommandContext(t.Context(), "./build", s.dir).CombinedOutput(); err != nil {
		t.Fatalf("build the image: %v\n%s", err, out)
	}
	return s
}

func TestImageAnswersJobsAndStopsCleanly(t *testing.T) {
	s := build(t)
	// Kubernetes can check runAsNonRoot by a number only.
	check.Same(t, "65532:65532 [/worker] [run] map[/data:{}] [CMD /worker doctor --ready]", s.buildah("inspect", "--type", "image", "--format",
		"{{with .Docker.Config}}{{.User}} {{.Entrypoint}} {{.Cmd}} {{.Volumes}} {{.Healthcheck.Test}}{{end}}", image), "how it is run")

	broker, err := cluster.Start()
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, broker.Stop()) })
	check.Must(t, broker.Deploy(t.Context(), "../e2e/testdata/one-task.bpmn"))
	address, err := process.FreeAddress()
	check.Must(t, err)
	container, data := s.buildah("from", "--pull-never", image), t.TempDir()
	check.Must(t, os.Chown(data, user, user))
	run := s.command(t.Context(),
		"run",
		"--isolation", "chroot",
		"--volume", data+":/data",
		"--env", "ZEEBE_ADDRESS=grpc://"+broker.Address(),
		"--env", "RETRY_HTTP_ADDRESS="+address,
		container, "--",
		"/worker", "run")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	check.Must(t, err)
	defer log.Close()
	run.Stdout, run.Stderr = log, log
	check.Must(t, run.Start())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	ended := make(chan error, 1)
	go func() {
		defer cancel() // a worker that has ended answers no job
		ended <- run.Wait()
	}()

	_, err = broker.CreateProcessInstance(t.Context(), &pb.CreateProcessInstanceRequest{
		BpmnProcessId: "OneTask",
		Version:       -1,
		Variables:     `{"claimId": "CLM-IMAGE-1", "submissionError": "TIMEOUT", "retryCount": 0}`,
	})
	check.Must(t, err)
	if _, err = broker.AwaitRecord(ctx, func(r cluster.Record) bool { return r.Is("JOB", "COMPLETED") }); err != nil {
		t.Fatalf("the job is not answered: %v\n%s", err, process.LogTail(log.Name()))
	}

	worker := find(t, run.Process.Pid)
	check.Same(t, user, worker.UIDs[0], "user of the process")
	check.Same(t, 0, worker.CapEff, "capabilities of the process")
	check.Must(t, syscall.Kill(worker.PID, syscall.SIGTERM))
	if err := <-ended; err != nil {
		t.Errorf("after SIGTERM: %v, want exit code 0\n%s", err, process.LogTail(log.Name()))
	}

	claims := s.buildah(
		"run",
		"--isolation", "chroot",
		"--volume", data+":/data",
		container, "--",
		"/worker", "claims", "--json",
	)
	check.Contains(t, claims, "CLM-IMAGE-1")
	// The root file system may be read-only: nothing is written outside of /data.
	mount := s.buildah("mount", container)
	left, err := os.ReadDir(filepath.Join(mount, "tmp"))
	check.Must(t, err)
	if len(left) > 0 {
		t.Errorf("the worker left %v in /tmp", left)
	}
	binaryIsReproducible(t, filepath.Join(mount, "worker"))
}

// children returns the processes whose parent is pid.
func children(pid int) (below []procfs.Proc) {
	all, _ := procfs.AllProcs()
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.PPID == pid {
			below = append(below, p)
		}
	}
	return below
}

// find returns the process that runs /worker below another one.
func find(t *testing.T, pid int) procfs.ProcStatus {
	t.Helper()
	for below := children(pid); len(below) > 0; below = children(pid) {
		pid = below[0].PID
	}
	found, err := procfs.NewProc(pid)
	check.Must(t, err)
	status, err := found.NewStatus()
	check.Must(t, err)
	check.Same(t, "worker", status.Name, "the process")
	return status
}

// binaryIsReproducible fails the test unless the flags of the image give its binary here, too, byte by byte.
func binaryIsReproducible(t *testing.T, inImage string) {
	t.Helper()
	here := filepath.Join(t.TempDir(), "worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-o", here,
		"-ldflags", "-s -w -X hospital.example/analyze-retry/internal/cli.version=v0.0.0-test", "../../cmd/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the worker: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "cmp", here, inImage).CombinedOutput(); err != nil {
		t.Errorf("the worker of the image differs from the one built here: %v\n%s", err, out)
	}
}
