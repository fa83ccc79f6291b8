package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// stopGrace is how long a worker may take to end after SIGTERM. It has limits of its own, and ends with exit code 1 when it
// keeps to one of them.
const stopGrace = 50 * time.Second

// worker is one process of the worker under test.
type worker struct {
	*process.Process
	rig  *rig
	log  string // the file with all that it has printed
	http string // host:port, known once it has started
	// fresh is what it held of the machine when it was ready first; series are its metrics when they were read last.
	fresh  usage
	series string
}

// launch starts a worker without waiting for it. The settings given win over the rig's.
func (r *rig) launch(settings ...string) *worker {
	r.Helper()
	w := &worker{rig: r, log: filepath.Join(r.dir, fmt.Sprintf("worker-%d.log", len(r.workers)+1))}
	log, err := os.Create(w.log)
	r.must(err)
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), binary, "run") // it is ended by the rig
	cmd.Dir = r.dir
	cmd.Env = append([]string{
		"ZEEBE_ADDRESS=" + r.proxy.Address(), "ZEEBE_INSECURE_CONNECTION=true", "RETRY_HTTP_ADDRESS=127.0.0.1:0",
		"RETRY_DATABASE_URL=" + r.url, "RETRY_AUDIT_KEY_FILE=" + r.keyFile, "RETRY_JOB_TIMEOUT=5s",
	}, settings...)
	cmd.Stdout, cmd.Stderr = log, log
	w.Process, err = process.Start(cmd)
	r.must(err)
	r.Cleanup(func() {
		r.check(w.Kill())
		if r.Failed() {
			r.Logf("the log of worker %d ends with:\n%s", w.PID(), process.LogTail(w.log))
		}
	})
	r.workers = append(r.workers, w)
	return w
}

var httpAddress = regexp.MustCompile(`"event":"worker_started".*"httpAddress":"([^"]+)"`)

// start starts a worker and waits until it is ready.
func (r *rig) start(settings ...string) *worker {
	r.Helper()
	w := r.launch(settings...)
	w.serves()
	w.answersStatus("/readyz", http.StatusOK)
	w.fresh = w.usage()
	return w
}

// serves waits until the worker has opened its store and serves its metrics.
func (w *worker) serves() {
	r := w.rig
	r.Helper()
	r.until("the worker starts", func() bool {
		if !w.Alive() {
			r.Fatalf("the worker ended: %v\n%s", w.Err(), process.LogTail(w.log))
		}
		if found := httpAddress.FindStringSubmatch(w.printed()); found != nil {
			w.http = found[1]
		}
		return w.http != ""
	})
}

// warm starts a worker and has it do some claims.
func (r *rig) warm(settings ...string) *worker {
	r.Helper()
	w := r.start(settings...)
	r.submit(chunk)
	r.untilDone()
	return w
}

// printed returns all that the worker has printed.
func (w *worker) printed() string {
	w.rig.Helper()
	text, err := os.ReadFile(w.log)
	w.rig.must(err)
	return string(text)
}

// logged is how often the workers have logged an event.
func (r *rig) logged(event string) (n int) {
	r.Helper()
	for _, w := range r.workers {
		n += strings.Count(w.printed(), `"event":"`+event+`"`)
	}
	return n
}

// get asks the worker's HTTP server once; the status is 0 where it does not answer.
func (w *worker) get(path string) (status int, text string) {
	w.rig.Helper()
	ctx, cancel := context.WithTimeout(w.rig.Context(), 10*time.Second)
	defer cancel()
	return suite.Get(ctx, w.http, path)
}

// answersStatus waits until the worker answers a request with this status, and returns what it says.
func (w *worker) answersStatus(path string, want int) (text string) {
	w.rig.Helper()
	w.rig.until(fmt.Sprintf("%s of worker %d answers %d", path, w.PID(), want), func() bool {
		var got int
		got, text = w.get(path)
		return got == want
	})
	return text
}

// stops sends SIGTERM. The worker must end by itself, with exit code 0.
func (w *worker) stops() {
	w.rig.Helper()
	ctx, cancel := suite.AfterTest()
	defer cancel()
	byItself, err := w.Stop(ctx, stopGrace)
	if err != nil || !byItself || w.Err() != nil {
		w.rig.Errorf("worker %d ended after SIGTERM, by itself: %v, with %v, %v", w.PID(), byItself, w.Err(), err)
	}
}

// kills ends the worker as kill -9 does.
func (w *worker) kills() {
	w.rig.Helper()
	w.rig.must(w.Kill())
}

// command runs one of the worker's commands on the rig's store, and returns its exit code and what it has printed.
func (r *rig) command(args ...string) (code int, stdout string) {
	r.Helper()
	command := exec.CommandContext(r.Context(), binary, args...)
	command.Dir = r.dir
	command.Env = []string{"RETRY_DATABASE_URL=" + r.url, "RETRY_AUDIT_KEY_FILE=" + r.keyFile, "ZEEBE_ADDRESS=127.0.0.1:1"}
	out, err := command.Output()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode(), string(out)
	}
	r.must(err)
	return 0, string(out)
}
