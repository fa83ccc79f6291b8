package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func TestAFaultyFileIsRefusedBeforeAnythingStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims.csv")
	check.Must(t, os.WriteFile(path, []byte("claim,answers,end\nCLM-1-1,,SUBMITTED\nCLM-1-2,OK,GONE\n"), 0o600))
	code, out, complaint := call(t, "demo", "--claims", path)
	if code != exitUsage || out != "" {
		t.Errorf("exit %d, output %q", code, out)
	}
	for _, part := range []string{path + " cannot be played", "line 2: answers is empty", `line 3: "GONE" is no end`} {
		if !strings.Contains(complaint, part) {
			t.Errorf("the complaint lacks %q: %s", part, complaint)
		}
	}
}

func TestTheDemoSaysWhatItHasStopped(t *testing.T) {
	for name, c := range map[string]struct {
		broker, worker bool
		store          string // as the caller's settings name it
		want           string
	}{
		"nothing was started":       {false, false, "", ""},
		"the worker did not start":  {true, false, "", "Stopped the broker, removed its data"},
		"the broker and the worker": {true, true, "", "Stopped broker and worker, removed their data, kept the log worker.log"},
		"the caller keeps the store": {
			true, true, "sqlite://kept.db",
			"Stopped broker and worker, removed the broker's data, kept the store of RETRY_DATABASE_URL and the log worker.log",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("RETRY_DATABASE_URL", c.store)
			s := &stage{dir: t.TempDir(), logPath: "worker.log"}
			if c.broker {
				s.broker = devbroker.Attach(devbroker.State{Dir: s.dir, PID: stand(t, s.dir).PID()})
			}
			if c.worker {
				s.worker = stand(t, "worker")
			}
			got, err := s.tearDown(t.Context())
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
			if s.broker != nil && s.broker.Alive() || s.worker != nil && s.worker.Alive() {
				t.Error("something still runs")
			}
			if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
				t.Errorf("the data is still there (%v)", err)
			}
		})
	}
}
