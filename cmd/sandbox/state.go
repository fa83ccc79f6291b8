package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

// errDown is returned where a command needs a running sandbox.
var errDown = errors.New("nothing is running: start it with `make up`")

// sandbox is what `up` has started, as it is kept for the commands that come later.
type sandbox struct {
	Broker devbroker.State `json:"broker"`
	Worker workerState     `json:"worker"`
}

// workerState is what is needed to find a running worker again.
type workerState struct {
	PID         int    `json:"pid"`
	Binary      string `json:"binary"`
	HTTPAddress string `json:"httpAddress"`
}

// process refers to the worker, which may have ended.
func (w workerState) process() *process.Process {
	return process.Attach(w.PID, w.Binary)
}

// home is the directory of the sandbox: its state, its logs and the broker's data.
func home() (string, error) {
	cache, err := devbroker.CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "sandbox"), nil
}

func statePath() (string, error) {
	dir, err := home()
	return filepath.Join(dir, "state.json"), err
}

// load returns the sandbox that was started last; the zero value where there is none.
func load() (sandbox, error) {
	path, err := statePath()
	if err != nil {
		return sandbox{}, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sandbox{}, nil
	}
	if err != nil {
		return sandbox{}, fmt.Errorf("read what is running: %w", err)
	}
	var s sandbox
	if err := json.Unmarshal(raw, &s); err != nil {
		return sandbox{}, fmt.Errorf("read what is running from %s (remove the file if it is broken): %w", path, err)
	}
	return s, nil
}

// save keeps the sandbox; the zero value removes what was kept.
func (s sandbox) save() error {
	path, err := statePath()
	if err != nil {
		return err
	}
	if s == (sandbox{}) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what was running: %w", err)
		}
		return nil
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, raw, 0o644)); err != nil {
		return fmt.Errorf("keep what is running: %w", err)
	}
	return nil
}

// runningBroker returns the sandbox's broker, or errDown.
func runningBroker() (*devbroker.Broker, error) {
	s, err := load()
	if err != nil {
		return nil, err
	}
	broker := devbroker.Attach(s.Broker)
	if !broker.Alive() {
		return nil, errDown
	}
	return broker, nil
}
