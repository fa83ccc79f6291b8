package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/prometheus/procfs"

	"hospital.example/analyze-retry/internal/testing/engine"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/testing/process"
)

// runTimeout bounds the run of one worker: one that loses a job would keep it open for ever.
const runTimeout = 3 * time.Minute

// sample is what one worker did in one round. What the system does not say is 0.
type sample struct {
	// cpu is the CPU time of the worker's whole life by the jobs it worked, in microseconds.
	cpu float64
	// throughput is in jobs a second, from the first poll to the last answer, p99 how long all but one job in a hundred are with the
	// worker at most, in milliseconds.
	throughput, p99 float64
	// memory is the most that the worker held at a time, in MiB; start is from its start to its first poll, in milliseconds.
	memory, start float64
}

// fill lets a worker record the past, which is not measured.
func (b *bench) fill(argv, settings []string) error {
	gateway := enginetest.New()
	defer gateway.Close()
	for _, claims := range past(before) {
		if _, err := b.run(context.Background(), contender{argv: argv, processes: 1}, gateway, settings, claims); err != nil {
			return err
		}
	}
	return nil
}

// measure lets one worker work so many jobs on a store of its own, and checks every answer.
func (b *bench) measure(ctx context.Context, w contender) (s sample, err error) {
	gateway := enginetest.New()
	defer gateway.Close()
	gateway.Locked(func(e *engine.Engine) { e.Keys = 1 << 40 }) // behind all that the past has
	var settings []string
	if w.store != nil {
		if settings, err = w.store(ctx); err != nil {
			return s, err
		}
	}
	return b.run(ctx, w, gateway, settings, mixed(before, cmp.Or(w.jobs, jobs)))
}

// run lets a worker work a job of each of these claims.
func (b *bench) run(ctx context.Context, w contender, gateway *enginetest.Gateway, settings []string, claims []claim) (s sample, err error) {
	address, err := gateway.Listen()
	if err != nil {
		return s, err
	}
	queued := make([]enginetest.Job, len(claims))
	for i, c := range claims {
		queued[i] = enginetest.Job{
			Type: c.jobType, Variables: c.variables(), ProcessID: "process-" + c.jobType, ElementID: "Task_AnalyzeRetry",
		}
	}
	calls, done := len(gateway.Calls()), ended(gateway)+len(claims)
	keys := gateway.Add(queued...)
	given := map[int64]time.Time{}
	gateway.Deliver(func(j *pb.ActivatedJob) { given[j.Key] = time.Now() })
	started := time.Now()
	var workers []*running
	for range w.processes {
		r, err := b.start(w, address, settings)
		if err != nil {
			return s, err
		}
		workers = append(workers, r)
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	worked := float64(len(claims))
	err = workers[0].child.Await(ctx, func(context.Context) bool { return ended(gateway) >= done })
	if err != nil {
		err = fmt.Errorf("at %+v: %w", gateway.Counts(), err)
	}
	for _, r := range workers {
		s.memory = max(s.memory, peak(r.child.PID()))
		took, stopped := r.stop()
		s.cpu += micros(took) / worked
		err = errors.Join(err, stopped)
	}
	if err != nil {
		return s, err
	}
	gateway.Deliver(nil)
	first, last, waits, err := checkCalls(gateway.Calls()[calls:], w.store != nil, keys, claims, given)
	if err != nil {
		return s, err
	}
	slices.Sort(waits)
	s.p99 = micros(waits[len(waits)*99/100]) / 1000
	s.start, s.throughput = micros(first.Sub(started))/1000, worked/last.Sub(first).Seconds()
	return s, nil
}

// running is a process of a worker.
type running struct {
	cmd    *exec.Cmd
	child  *process.Process
	stderr bytes.Buffer
}

// start starts one process on the workers' core.
func (b *bench) start(w contender, address string, settings []string) (r *running, err error) {
	argv := append(b.pinned.prefix(), w.argv...)
	if len(settings) == 0 || strings.HasPrefix(settings[0], firstStore) {
		argv = append(argv, address)
	}
	r = &running{cmd: exec.Command(argv[0], argv[1:]...)}
	// Nothing of the caller's environment: a GOGC or a GOMAXPROCS there would be measured.
	r.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "ZEEBE_ADDRESS=" + address, "ZEEBE_INSECURE_CONNECTION=true",
		"RETRY_HTTP_ADDRESS=127.0.0.1:0", "RETRY_MAX_JOBS_ACTIVE=" + strconv.Itoa(maxJobsActive),
	}, settings...)
	r.cmd.Stderr = &r.stderr
	r.child, err = process.Start(r.cmd)
	return r, err
}

// stop stops the process, and returns the CPU time of its whole life.
func (r *running) stop() (time.Duration, error) {
	err := r.child.Stop(10 * time.Second)
	state := r.cmd.ProcessState
	if err != nil || !state.Success() {
		return 0, fmt.Errorf("%v %w: %s", state, err, r.stderr.String()[max(0, r.stderr.Len()-2000):])
	}
	return state.UserTime() + state.SystemTime(), nil
}

// ended is how many jobs have come to an end.
func ended(gateway *enginetest.Gateway) int {
	counts := gateway.Counts()
	return counts.Completed + counts.Thrown + counts.Incident
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// checkCalls checks that every job got one answer and that it is the right one. It returns when the first poll and when the
// last answer arrived, and how long each job was with the worker.
func checkCalls(
	calls []enginetest.Call, decides bool, keys []int64, claims []claim, given map[int64]time.Time,
) (first, last time.Time, waits []time.Duration, err error) {
	open := make(map[int64]claim, len(keys))
	for i, key := range keys {
		open[key] = claims[i]
	}
	for _, call := range calls {
		var key int64
		var code, variables string
		switch r := call.Request.(type) {
		case *pb.ActivateJobsRequest:
			if first.IsZero() {
				first = call.At
			}
			continue
		case *pb.CompleteJobRequest:
			key, variables = r.JobKey, r.Variables
		case *pb.ThrowErrorRequest:
			key, code, variables = r.JobKey, r.ErrorCode, r.Variables
		case *pb.FailJobRequest:
			return first, last, nil, fmt.Errorf("failed job %d: %s", r.JobKey, r.ErrorMessage)
		default: // the worker asks for the topology
			continue
		}
		c, is := open[key]
		if !is {
			return first, last, nil, fmt.Errorf("answered job %d once more, or a job that does not exist", key)
		}
		delete(open, key)
		if decides {
			if err := c.check(code, variables); err != nil {
				return first, last, nil, err
			}
		}
		last = call.At
		waits = append(waits, call.At.Sub(given[key]))
	}
	if len(open) > 0 {
		return first, last, nil, fmt.Errorf("%d jobs were not answered", len(open))
	}
	return first, last, waits, nil
}

// peak is the most memory that a process ever held at a time, in MiB.
func peak(pid int) float64 {
	p, _ := procfs.NewProc(pid) // there is none but on Linux
	status, _ := p.NewStatus()
	return float64(status.VmHWM) / (1 << 20)
}
