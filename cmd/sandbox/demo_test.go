package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func TestAFaultyFileIsRefusedBeforeAnythingStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims.csv")
	if err := os.WriteFile(path, []byte("claim,answers,end\nCLM-1-1,,SUBMITTED\nCLM-1-2,OK,GONE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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

func TestAFileThatIsNotThereIsNamed(t *testing.T) {
	code, _, complaint := call(t, "demo", "--claims", "no-such.csv")
	if code != exitFailure || !strings.Contains(complaint, "open no-such.csv") || !strings.Contains(complaint, "--claims") {
		t.Errorf("exit %d, %q", code, complaint)
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
			s := &demoStage{dir: t.TempDir(), logPath: "worker.log"}
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

func TestProgressIsWholeLinesWithoutATerminal(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out)
	p.say("starting")
	for _, s := range []demo.Status{
		{Claims: 4, Passed: 5 * time.Minute, Waiting: 3, Settled: 1},
		{Claims: 4, Passed: 40 * time.Minute, Waiting: 2, Settled: 1}, // one is moving
		{Claims: 4, Passed: 41 * time.Minute, Waiting: 2, Settled: 2},
		{Claims: 4, Passed: 41 * time.Minute, Waiting: 2, Settled: 2},
		{Claims: 4, Passed: 59 * time.Minute, Waiting: 1, Settled: 3},
		{Claims: 4, Passed: 60 * time.Minute, Waiting: 0, Settled: 4},
	} {
		p.show(s)
	}
	p.clear()
	want := `starting
     41 min on the broker's clock:  2 of 4 claims done,  2 waiting
 1 h 00 min on the broker's clock:  4 of 4 claims done,  0 waiting
`
	if out.String() != want {
		t.Errorf("progress:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestProgressOnATerminalIsOneLineThatIsUpdated(t *testing.T) {
	var out strings.Builder
	p := newProgress(&out)
	width := 80
	p.columns = func() int { return width }
	p.show(demo.Status{Claims: 2, Waiting: 2})
	p.show(demo.Status{Claims: 2, Waiting: 2})
	width = 40 // it was made smaller; a line that is broken could not be taken back
	p.show(demo.Status{Claims: 2, Settled: 2})
	p.say("done")
	first, second := "      0 min on the broker's clock:  0 of 2 claims done,  2 waiting",
		"      0 min on the broker's clock:  2 o"
	if want := first + clearLine + second + clearLine + "done\n"; out.String() != want {
		t.Errorf("progress %q, want %q", out.String(), want)
	}
}

func TestAPathIsShownAsSeenFromHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := shortPath(filepath.Join(here, "bin", "x.log")); got != filepath.Join("bin", "x.log") {
		t.Errorf("%s", got)
	}
	if got := shortPath("/x"); got != "/x" {
		t.Errorf("%s, want the shorter way to say it", got)
	}
}
