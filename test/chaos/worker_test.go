package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	log  string // the file with all it has printed
	http string // host:port, known once it has started
	// scraped is what its metrics were when they were read last.
	scraped string
}

// launch starts a worker without waiting for it. Flags come first, settings last; they win.
func (r *rig) launch(settings ...string) *worker {
	r.Helper()
	w := &worker{rig: r, log: filepath.Join(r.dir, fmt.Sprintf("worker-%d.log", len(r.workers)+1))}
	log, err := os.Create(w.log)
	r.must(err)
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), cmp.Or(r.binary, binary), "run") // it is ended by the rig
	for len(settings) > 0 && strings.HasPrefix(settings[0], "--") {
		cmd.Args, settings = append(cmd.Args, settings[0]), settings[1:]
	}
	cmd.Dir = r.dir
	cmd.Env = append([]string{
		"ZEEBE_ADDRESS=" + r.proxy.Address(), "ZEEBE_INSECURE_CONNECTION=true", "RETRY_HTTP_ADDRESS=127.0.0.1:0",
		"RETRY_WORKER_NAME=" + fmt.Sprintf("chaos-%d", len(r.workers)+1),
		"RETRY_DATABASE_URL=" + r.store.url, "RETRY_AUDIT_KEY_FILE=" + r.store.keyFile,
	}, settings...)
	cmd.Stdout, cmd.Stderr = log, log
	w.Process, err = process.Start(cmd, false)
	r.must(err)
	if len(r.workers) == 0 {
		r.Cleanup(r.killAll)
	}
	r.workers = append(r.workers, w)
	return w
}

// start starts a worker and waits until it has opened its store and serves its metrics.
func (r *rig) start(settings ...string) *worker {
	r.Helper()
	w := r.launch(settings...)
	r.until("the worker starts", func() bool {
		if !w.Alive() {
			r.Fatalf("the worker ended: %v\n%s", w.Err(), process.LogTail(w.log))
		}
		for _, line := range w.lines("worker_started") {
			w.http, _ = line["httpAddress"].(string)
		}
		return w.http != ""
	})
	return w
}

// warm starts a worker and has it do so many claims.
func (r *rig) warm(claims int, settings ...string) *worker {
	r.Helper()
	w := r.start(settings...)
	r.submit(claims)
	r.untilDone()
	return w
}

// isRefused starts a worker that must end by itself with exit code 1 and say this, and returns all that it says.
func (r *rig) isRefused(says string, settings ...string) (text string) {
	r.Helper()
	w := r.launch(settings...)
	r.until("the start is refused", func() bool { return !w.Alive() })
	text = w.printed()
	exit, _ := errors.AsType[*exec.ExitError](w.Err())
	if exit == nil || exit.ExitCode() != 1 || !strings.Contains(text, says) {
		r.Errorf("the start ended with %v, want it refused with %q:\n%s", w.Err(), says, text)
	}
	r.workers = r.workers[:len(r.workers)-1] // it has worked nothing
	r.must(os.Rename(w.log, w.log+".refused"))
	return text
}

// printed returns all that the worker has printed.
func (w *worker) printed() string {
	w.rig.Helper()
	text, err := os.ReadFile(w.log)
	w.rig.must(err)
	return string(text)
}

// lines returns what the worker has logged of an event.
func (w *worker) lines(event string) (found []map[string]any) {
	w.rig.Helper()
	for text := range strings.Lines(w.printed()) {
		var line map[string]any
		if !strings.Contains(text, `"event":"`+event+`"`) {
			continue
		}
		if json.Unmarshal([]byte(text), &line) == nil { // a worker that was killed leaves half a line
			found = append(found, line)
		}
	}
	return found
}

// logged is how often the workers of the row have logged an event.
func (r *rig) logged(event string) (n int) {
	r.Helper()
	for _, w := range r.workers {
		n += len(w.lines(event))
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

// metric adds up the samples of a metric that carry all the labels, such as `result="not_found"`.
func (w *worker) metric(name string, labels ...string) (sum float64) {
	w.rig.Helper()
	status, text := w.get("/metrics")
	if status != http.StatusOK {
		w.rig.Fatalf("/metrics of worker %d: %d %s", w.PID(), status, text)
	}
	w.scraped = text
	return sample(text, name, labels...)
}

// sample reads a metric out of the text of a scrape.
func sample(text, name string, labels ...string) (sum float64) {
lines:
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(line, name)
		if !is || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		if err == nil {
			sum += value
		}
	}
	return sum
}

// stops sends SIGTERM. The worker must end by itself, with exit code 0.
func (w *worker) stops() (took time.Duration) {
	w.rig.Helper()
	began := time.Now()
	ctx, cancel := suite.AfterTest()
	defer cancel()
	byItself, err := w.Stop(ctx, stopGrace)
	took = time.Since(began)
	if err != nil || !byItself || w.Err() != nil {
		w.rig.Errorf("worker %d ended %v after SIGTERM, by itself: %v, with %v, %v", w.PID(), took, byItself, w.Err(), err)
	}
	return took
}

// kills ends the worker as kill -9 does.
func (w *worker) kills() {
	w.rig.Helper()
	w.rig.must(w.Kill())
}
