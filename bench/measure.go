package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/prometheus/procfs"

	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/testing/process"
)

// runTimeout bounds the run of one worker: one that loses a job would keep it open for ever.
const runTimeout = 3 * time.Minute

// sample is what one worker did in one round. What the system does not say is 0.
type sample struct {
	// cpu is the CPU time of the worker's whole life by the jobs it worked, in microseconds; server that of PostgreSQL meanwhile.
	cpu, server float64
	// throughput is in jobs a second, from the first poll to the last answer.
	throughput float64
	// memory is the most that the worker held at a time, in MiB; start is from its start to its first poll, in milliseconds.
	memory, start float64
}

// measure lets one worker work so many jobs on a store of its own, and checks every answer. A worker with a store has worked
// those of the past before, which are not measured.
func (b *bench) measure(ctx context.Context, w contender) (s sample, err error) {
	gateway := enginetest.New()
	defer gateway.Close()
	address, err := gateway.Listen()
	if err != nil {
		return s, err
	}
	// Nothing of the caller's environment: a GOGC or a GOMAXPROCS there would be measured.
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	if w.store == nil {
		w.argv = append(slices.Clip(w.argv), address)
		return b.run(ctx, w, gateway, env, mixed(0, jobs))
	}
	settings, err := w.store(ctx)
	if err != nil {
		return s, err
	}
	env = append(env, settings...)
	env = append(env, "ZEEBE_ADDRESS="+address, "ZEEBE_INSECURE_CONNECTION=true", "RETRY_HTTP_ADDRESS=127.0.0.1:0",
		"RETRY_MAX_JOBS_ACTIVE="+strconv.Itoa(maxJobsActive))
	for _, claims := range past(before) {
		if _, err := b.run(ctx, w, gateway, env, claims); err != nil {
			return s, fmt.Errorf("the past: %w", err)
		}
	}
	return b.run(ctx, w, gateway, env, mixed(before, jobs))
}

// run lets a worker work a job of each of these claims.
func (b *bench) run(ctx context.Context, w contender, gateway *enginetest.Gateway, env []string, claims []claim) (s sample, err error) {
	queued := make([]enginetest.Job, len(claims))
	for i, c := range claims {
		queued[i] = enginetest.Job{
			Type: c.jobType, Variables: c.variables(), ProcessID: "process-" + c.jobType, ElementID: "Task_AnalyzeRetry",
		}
	}
	calls, done := len(gateway.Calls()), ended(gateway)+len(claims)
	keys := gateway.Add(queued...)
	argv := append(b.pinned.prefix(), w.argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	served, started := familyTicks(b.server.PID()), time.Now()
	child, err := process.Start(cmd)
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	if err = child.Await(ctx, func(context.Context) bool { return ended(gateway) >= done }); err != nil {
		err = fmt.Errorf("at %+v: %w", gateway.Counts(), err)
	}
	s.memory = peak(child.PID())
	stopped := child.Stop(10 * time.Second)
	state := cmd.ProcessState
	if err = errors.Join(err, stopped); err != nil || !state.Success() {
		return s, fmt.Errorf("%v %w: %s", state, err, stderr.String()[max(0, stderr.Len()-2000):])
	}
	worked := float64(len(claims))
	s.cpu = micros(state.UserTime()+state.SystemTime()) / worked
	s.server = float64(familyTicks(b.server.PID())-served) * tickMicros / worked
	first, last, err := checkCalls(gateway.Calls()[calls:], w, keys, claims)
	s.start, s.throughput = micros(first.Sub(started))/1000, worked/last.Sub(first).Seconds()
	return s, err
}

// ended is how many jobs have come to an end.
func ended(gateway *enginetest.Gateway) int {
	counts := gateway.Counts()
	return counts.Completed + counts.Thrown + counts.Incident
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// checkCalls checks that every job got one answer and that it is the right one. It returns when the first poll and when the
// last answer arrived.
func checkCalls(calls []enginetest.Call, w contender, keys []int64, claims []claim) (first, last time.Time, err error) {
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
			return first, last, fmt.Errorf("failed job %d: %s", r.JobKey, r.ErrorMessage)
		default: // the worker asks for the topology
			continue
		}
		c, is := open[key]
		if !is {
			return first, last, fmt.Errorf("answered job %d once more, or a job that does not exist", key)
		}
		delete(open, key)
		if w.decides {
			if err := c.check(code, variables); err != nil {
				return first, last, err
			}
		}
		last = call.At
	}
	if len(open) > 0 {
		return first, last, fmt.Errorf("%d jobs were not answered", len(open))
	}
	return first, last, nil
}

// tickMicros is the unit of the CPU times in /proc, the same on all of Linux.
const tickMicros = 1e6 / 100

// familyTicks is the CPU time so far of a process and of its children, those that have ended included.
func familyTicks(pid int) (total int) {
	family, _ := procfs.NewProc(pid) // there is none but on Linux
	stat, _ := family.Stat()
	total = stat.CUTime + stat.CSTime
	for _, p := range append(process.Children(pid), family) {
		stat, _ := p.Stat()
		total += int(stat.UTime + stat.STime)
	}
	return total
}

// peak is the most memory that a process ever held at a time, in MiB.
func peak(pid int) float64 {
	p, _ := procfs.NewProc(pid) // there is none but on Linux
	status, _ := p.NewStatus()
	return float64(status.VmHWM) / (1 << 20)
}
