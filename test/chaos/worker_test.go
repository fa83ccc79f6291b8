package chaos

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// worker is one process of the worker under test.
type worker struct {
	*suite.Worker
	rig *rig
	// fresh is what it held of the machine when it was ready first; series are its metrics when they were read last.
	fresh  usage
	series string
}

// launch starts a worker, which need not be ready. The settings given win over the rig's.
func (r *rig) launch(settings ...string) *worker {
	r.Helper()
	program := suite.NewProgram(
		binary,
		r.proxy.Address(),
		"RETRY_DATABASE_URL="+r.url,
		"RETRY_AUDIT_KEY_FILE="+r.keyFile,
		"RETRY_JOB_TIMEOUT=5s",
	)
	started, err := program.Start(r.Context(), filepath.Join(r.dir, fmt.Sprintf("worker-%d.log", len(r.workers)+1)), settings...)
	check.Must(r, err)
	w := &worker{Worker: started, rig: r}
	r.Cleanup(func() {
		check.Must(r, w.Kill())
		if r.Failed() {
			r.Logf("the log of worker %d ends with:\n%s", w.PID(), process.LogTail(w.Log))
		}
	})
	r.workers = append(r.workers, w)
	return w
}

// start starts a worker and waits until it is ready.
func (r *rig) start(settings ...string) *worker {
	r.Helper()
	w := r.launch(settings...)
	w.is(http.StatusOK)
	w.fresh = w.usage()
	return w
}

// warm starts a worker and has it do some claims.
func (r *rig) warm(settings ...string) *worker {
	r.Helper()
	w := r.start(settings...)
	r.submit(chunk)
	r.untilDone()
	return w
}

// logged is how often the workers have logged an event.
func (r *rig) logged(event string) (n int) {
	r.Helper()
	for _, w := range r.workers {
		text, err := os.ReadFile(w.Log)
		check.Must(r, err)
		n += strings.Count(string(text), `"event":"`+event+`"`)
	}
	return n
}

// is waits until the worker is ready, 200, or knows that it is not, 503. It must live in both.
func (w *worker) is(want int) {
	w.rig.Helper()
	check.Await(w.rig, fmt.Sprintf("/readyz of worker %d answers %d", w.PID(), want), func() bool {
		if !w.Alive() {
			w.rig.Fatalf("the worker ended: %v\n%s", w.Err(), process.LogTail(w.Log))
		}
		got, _ := w.Get(w.rig.Context(), "/readyz")
		return got == want
	})
	if got, text := w.Get(w.rig.Context(), "/healthz"); got != http.StatusOK {
		w.rig.Errorf("/healthz answers %d: %s", got, text)
	}
}

// kills ends the worker as kill -9 does, stops by SIGTERM: then it must end by itself, with exit code 0.
func (w *worker) kills() {
	w.rig.Helper()
	check.Must(w.rig, w.Kill())
}

func (w *worker) stops() {
	w.rig.Helper()
	check.Must(w.rig, w.Stop())
}
