package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/process"
)

// stateFile is in the directory of the sandbox.
const stateFile = "state.json"

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

// broker refers to the broker, which may have ended.
func (s sandbox) broker() *devbroker.Broker { return devbroker.Attach(s.Broker) }

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

// load returns the sandbox that was started last; the zero value where there is none.
func load() (sandbox, error) {
	dir, err := home()
	if err != nil {
		return sandbox{}, err
	}
	path := filepath.Join(dir, stateFile)
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

// save keeps the sandbox for the commands that come later.
func (s sandbox) save() error {
	dir, err := home()
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, stateFile), raw, 0o644)); err != nil {
		return fmt.Errorf("keep what is running: %w", err)
	}
	return nil
}
