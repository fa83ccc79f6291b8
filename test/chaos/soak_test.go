//go:build soak

package chaos

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// The soak's load, and what it holds its worker to.
const (
	// soakLoad claims come every soakEvery, no matter what is broken, and soakBurst where a fault is to hit workers at work. All
	// records of the broker are kept in memory: an hour has some tens of thousands of jobs.
	soakLoad  = 30
	soakEvery = 6 * time.Second
	soakBurst = 60
	// spareMemory is how much more memory, in bytes, the worker that lives through all of it may hold in the end than after
	// its first jobs: heap that the runtime keeps, and buffers of connections.
	spareMemory = 32 << 20
	// maxSlope is by how much its memory may grow in an hour, in bytes, once soakWarm is over. A shorter soak than slopeFor
	// cannot tell a slope from noise.
	maxSlope = 1 << 20
	soakWarm = 10 * time.Minute
	slopeFor = 50 * time.Minute
)

// soak is the stage of row 32.
type soak struct {
	*rig
	random   *rand.Rand
	settings []string
	postgres *devpostgres.Server
	way      *proxy.Proxy // to PostgreSQL
	kafka    kafka
	// veteran lives through all of it, other is the one that is killed and stopped.
	veteran, other *worker
	// submitting is held where a process instance that is started might be lost: while the broker is away.
	submitting sync.Mutex
	loaded     chan error // how the load has ended
	began      time.Time
	tallies    map[string]*tally
	samples    []sampled
}

// tally is what has become of one kind of fault. Recovery is the longest time until both workers were ready and had caught up.
type tally struct {
	times, evidence int
	what            string
	recovery        time.Duration
}

// sampled is the memory of the veteran in a pause.
type sampled struct {
	after  time.Duration // the beginning of the soak
	memory float64
}

// Row 32. Two replicas on PostgreSQL, with a queue, work a steady load while faults of rows 1 to 9, 18 and 19 come one
// after the other, in an order and with lengths drawn from a seed, each kind once before any comes again. SOAK is how long
// (5m), SOAK_SEED the seed of an earlier run. The guards are those of the rows; what only a soak sees is what they leave behind.
// Seen to fail without: where each failed poll leaves a goroutine, 293 are left of 159.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(cmp.Or(os.Getenv("SOAK"), "5m"))
	if err != nil {
		t.Fatalf("SOAK: %v", err)
	}
	seed := rand.Uint64()
	if text := os.Getenv("SOAK_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SOAK_SEED: %v", err)
		}
	}
	s := newSoak(t, seed)
	t.Logf("%v with SOAK_SEED=%d", length, seed)
	baseline := s.veteran.usage()

	loading, stop := context.WithCancel(t.Context())
	go func() { s.loaded <- s.load(loading) }()
	t.Cleanup(stop)
	for deck := []fault(nil); time.Since(s.began) < length || len(s.tallies) < len(soakFaults); deck = deck[1:] {
		if len(deck) == 0 {
			deck = slices.Clone(soakFaults)
			s.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		s.suffers(deck[0])
	}
	stop()
	s.must(<-s.loaded)
	s.untilDone()
	s.queue.drains(s.veteran)
	s.veteranIsWell(baseline)
	s.report()
	s.what += fmt.Sprintf(", %v, seed %d", time.Since(s.began).Round(time.Second), seed)
	invariants(s.rig)
	s.happened(len(s.claims), "jobs")
}

func newSoak(t *testing.T, seed uint64) *soak {
	t.Helper()
	s := &soak{random: rand.New(rand.NewPCG(32, seed)), tallies: map[string]*tally{}, loaded: make(chan error, 1)}
	s.rig = newRig(t, setup{
		row: 32, what: "soak with faults of rows 1 to 9, 18 and 19", store: inPostgres,
		brokerFaults: "limit=40", // so that a flood is held off
	})
	var setting string
	s.postgres, s.way, setting = s.ownPostgres()
	s.kafka = s.startsKafka()
	s.kafka.topic(s.rig, "soak")
	s.settings = []string{setting, "RETRY_EVENTS_URL=" + s.queue.url}
	s.veteran = s.start(s.settings...)
	s.other = s.start(s.settings...)
	s.submit(3 * chunk)
	s.untilDone()
	s.queue.drains(s.veteran)
	s.began = time.Now()
	return s
}

// load starts process instances until ctx ends.
func (s *soak) load(ctx context.Context) error {
	tick := time.NewTicker(soakEvery)
	defer tick.Stop()
	for {
		s.submitting.Lock()
		err := s.trySubmit(soakLoad)
		s.submitting.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// suffers lets a fault happen, and then the workers recover and work for a while.
func (s *soak) suffers(f fault) {
	s.Helper()
	s.Logf("%v: %s", time.Since(s.began).Round(time.Second), f.name)
	evidence, what := f.happens(s)
	if evidence <= 0 {
		s.Errorf("the soak proves nothing: %s, %d %s", f.name, evidence, what)
	}
	over := time.Now()
	for _, w := range []*worker{s.veteran, s.other} {
		if !w.Alive() {
			s.Fatalf("worker %d ended: %v", w.PID(), w.Err())
		}
		w.answersStatus("/readyz", http.StatusOK)
	}
	s.until("the workers have caught up", func() bool { return s.open() <= 2*soakLoad })
	recovery := time.Since(over)
	completed := s.jobEvents("completed")
	s.until("the load goes on", func() bool {
		select {
		case err := <-s.loaded:
			s.Fatalf("the load has ended: %v", err)
		default:
		}
		return s.jobEvents("completed") > completed+soakLoad/4 // most of the others end in an error
	})
	s.samples = append(s.samples, sampled{time.Since(s.began), s.veteran.usage().memory})
	if s.tallies[f.name] == nil {
		s.tallies[f.name] = &tally{}
	}
	sum := s.tallies[f.name]
	sum.times++
	sum.evidence += evidence
	sum.what = what
	sum.recovery = max(sum.recovery, recovery)
}

// veteranIsWell holds I6 over the whole life of one process.
func (s *soak) veteranIsWell(baseline usage) {
	s.Helper()
	usual.Store(s.setup.store, baseline) // what the resources are waited for to come back to
	s.resources()
	now := s.veteran.usage()
	s.Logf("the worker that lived through it held %.0f goroutines, %.0f files, %.1f MiB after its first jobs, and %.0f, %.0f, %.1f in the end",
		baseline.goroutines, baseline.files, baseline.memory/(1<<20), now.goroutines, now.files, now.memory/(1<<20))
	if now.goroutines > baseline.goroutines+spareGoroutines || now.files > baseline.files+spareFiles || now.memory > baseline.memory+spareMemory {
		s.Errorf("I6: more than %d goroutines, %d files and %d MiB above it", spareGoroutines, spareFiles, spareMemory>>20)
	}
	late := slices.DeleteFunc(slices.Clone(s.samples), func(x sampled) bool { return x.after < soakWarm })
	if len(late) < 6 {
		return
	}
	third := len(late) / 3
	first, last := median(late[:third]), median(late[len(late)-third:])
	slope := (last.memory - first.memory) / (last.after - first.after).Hours()
	s.Logf("its memory grew by %.2f MiB an hour after %v (%d samples)", slope/(1<<20), soakWarm, len(late))
	if slope > maxSlope && late[len(late)-1].after > slopeFor {
		s.Errorf("I6: its memory grew by %.2f MiB an hour", slope/(1<<20))
	}
}

// median is the median memory of samples, at the middle of their time.
func median(of []sampled) sampled {
	memory := make([]float64, len(of))
	for i, x := range of {
		memory[i] = x.memory
	}
	slices.Sort(memory)
	return sampled{of[len(of)/2].after, memory[len(memory)/2]}
}

// report prints what was done.
func (s *soak) report() {
	fmt.Fprintln(os.Stderr, "\n| of row | fault | times | evidence | slowest recovery, s |\n|---|---|---|---|---|")
	for _, f := range soakFaults {
		sum := s.tallies[f.name]
		fmt.Fprintf(os.Stderr, "| %d | %s | %d | %d %s | %.1f |\n", f.row, f.name, sum.times, sum.evidence, sum.what, sum.recovery.Seconds())
		s.happened(sum.times, "times "+f.name)
	}
}
