package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

// tearDownTimeout bounds the time it takes to stop everything.
const tearDownTimeout = time.Minute

// demoStage is the broker and the worker of one demo.
type demoStage struct {
	// keep leaves them running, if the play comes to its end (completed).
	keep, completed bool
	say             func(line string)

	dir     string
	broker  *devbroker.Broker
	state   workerState
	worker  *process.Process
	logPath string
}

// setUp starts a broker with data of its own, puts the models on it and starts the worker. Whatever it returns, tearDown
// has to be called.
func (s *demoStage) setUp(ctx context.Context, version string) (err error) {
	if s.dir, err = s.makeDir(); err != nil {
		return err
	}
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		s.broker, err = devbroker.Start(both, devbroker.Options{
			Version: version, Dir: filepath.Join(s.dir, "zeebe"), Records: true, Detach: s.keep, Progress: s.say,
		})
		return err
	})
	group.Go(func() (err error) {
		s.say("building the worker ...")
		s.state.Binary, err = buildWorker(both)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := deployModels(ctx, s.state.Binary, s.broker.Address()); err != nil {
		return err
	}
	return s.startWorker(ctx)
}

// makeDir makes the directory for the broker's data. What is kept has the place where the next demo that is kept finds
// it, so that they do not pile up.
func (s *demoStage) makeDir() (string, error) {
	if !s.keep {
		return os.MkdirTemp("", "analyze-retry-demo-")
	}
	running, err := load()
	if err != nil {
		return "", err
	}
	if devbroker.Attach(running.Broker).Alive() || running.Worker.process().Alive() {
		return "", errors.New("--keep: a broker or a worker is running already, stop it first with `make down`")
	}
	base, err := home()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "demo")
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("forget the last demo: %w", err)
	}
	return dir, os.MkdirAll(dir, 0o755)
}

func (s *demoStage) startWorker(ctx context.Context) (err error) {
	s.logPath = shortPath(filepath.Join(filepath.Dir(s.state.Binary), "demo-worker.log"))
	if err := os.Remove(s.logPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the last demo's log: %w", err)
	}
	if s.state.HTTPAddress, err = devbroker.FreeAddress(); err != nil {
		return err
	}
	if s.worker, err = runWorker(ctx, s.state, s.broker, s.logPath, s.keep); err != nil {
		return err
	}
	s.state.PID = s.worker.PID()
	s.say(fmt.Sprintf("the worker runs as process %d, its log is %s", s.state.PID, s.logPath))
	return nil
}

// shortPath is the path as seen from here, where that is shorter.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && len(short) < len(path) {
		return short
	}
	return path
}

// play plays the claims and returns how each went and how much time passed on the broker's clock.
func (s *demoStage) play(ctx context.Context, claims []script.Claim, progress func(demo.Status)) ([]demo.Result, time.Duration, error) {
	conn, err := grpc.NewClient(s.broker.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	p := demo.Play{Broker: s.broker, Gateway: pb.NewGatewayClient(conn), Check: s.check, Progress: progress}
	results, err := p.Run(ctx, claims)
	return results, p.Passed(), err
}

// check reports whether the broker and the worker are still there.
func (s *demoStage) check() error {
	switch {
	case !s.worker.Alive():
		return errors.New("the worker has ended")
	case !s.broker.Alive():
		return errors.New("the broker has ended")
	default:
		return nil
	}
}

// tearDown stops what runs and removes the broker's data, or keeps both, and returns what there is to say about it.
func (s *demoStage) tearDown(ctx context.Context) (summary string, err error) {
	if s.keep && s.completed {
		kept := sandbox{Broker: s.broker.State(), Worker: s.state}
		if err := kept.save(); err != nil {
			return "", errors.Join(err, s.stop(ctx))
		}
		return fmt.Sprintf("Left running: the broker (%s) and the worker (http://%s/metrics).\nStop both with `make down`.",
			s.broker.Address(), s.state.HTTPAddress), nil
	}
	if err := s.stop(ctx); err != nil || s.broker == nil {
		return "", err
	}
	switch {
	case s.worker == nil:
		return "Stopped the broker, removed its data", nil
	case callerKeepsStore():
		return "Stopped broker and worker, removed the broker's data, kept the store of RETRY_DATABASE_URL and the log " + s.logPath, nil
	default:
		return "Stopped broker and worker, removed their data, kept the log " + s.logPath, nil
	}
}

func (s *demoStage) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tearDownTimeout)
	defer cancel()
	var failed error
	if s.worker != nil {
		_, err := s.worker.Stop(ctx, workerStopGrace)
		failed = errors.Join(failed, err)
	}
	if s.broker != nil {
		failed = errors.Join(failed, s.broker.Stop(ctx))
	}
	return errors.Join(failed, os.RemoveAll(s.dir))
}
