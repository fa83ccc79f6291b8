package chaos

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/proxy"
)

// soak is the stage of TestSoak: two replicas on PostgreSQL, with a queue.
type soak struct {
	*rig
	random   *rand.Rand
	postgres *devpostgres.Server
	way      *proxy.Proxy // to PostgreSQL
	settings []string
	// veteran lives through all of it, other is the one that is killed and stopped.
	veteran, other *worker
}

// soakFaults are what is done to workers that are at work. Each returns when its fault is over.
var soakFaults = []struct {
	name    string
	happens func(*soak)
}{
	// See TestKilledWorkerLosesNothingAndDecidesNothingTwice.
	{"worker killed", func(s *soak) {
		s.other.kills()
		s.other = s.start(s.settings...)
	}},
	// Its jobs are answered or released before it ends.
	{"worker ended", func(s *soak) {
		s.other.stops()
		s.other = s.start(s.settings...)
	}},
	// Two replicas hold a job: the store lets the first decide, and both answer that. Seen to fail without: where each answers
	// its own decision, jobs are answered with what the store does not hold.
	{"worker stopped for longer than its locks", func(s *soak) {
		s.broker.SetPace(4 * time.Millisecond) // a broker that syncs each command: many answers are on their way
		timedOut := s.look().timedOut()
		for s.ledger.timedOut() == timedOut { // where all were answered already: once more
			s.untilAtWork(4 * chunk)
			check.Must(s, s.other.Signal(syscall.SIGSTOP))
			s.pass(6 * time.Second)
			check.Must(s, s.other.Signal(syscall.SIGCONT))
			s.look()
		}
		s.broker.SetPace(0)
	}},
	// The job loop takes any failure of a poll or an answer for one that passes. Seen to fail without: a loop that ends when the
	// gateway is lost does not work again.
	{"broker killed", func(s *soak) {
		s.broker.Kill()
		s.lasts()
		check.Must(s, s.broker.Restart())
	}},
	// The pauses between dials grow: the first follow one another from 50 ms up; from 5 s on it is one every 4 to 6 s. Seen to fail
	// without: 1,035 dials in a minute.
	{"gateway unreachable", func(s *soak) {
		refused, began := s.proxy.Did().Refused, time.Now()
		s.proxy.Set(proxy.Faults{Refuse: true})
		s.proxy.ResetAll()
		s.veteran.is(http.StatusServiceUnavailable)
		s.pass(10 * time.Second)
		dials := s.proxy.Did().Refused - refused
		if most := 2 * int(12+time.Since(began)/(4*time.Second)); dials > most {
			s.Errorf("%d dials of two workers, want at most %d", dials, most)
		}
		s.happened(dials, "dials refused")
		s.proxy.Set(proxy.Faults{})
	}},
	// A lock is reckoned by the worker's monotonic clock and a decision by its wall clock, never by the broker's. Seen to fail
	// without: a broker that is an hour behind gets no answer, because every lock seems to be over.
	{"broker's clock jumps", func(s *soak) {
		for _, by := range []time.Duration{-time.Hour, 2 * time.Hour, -2 * time.Hour, time.Hour} { // forward at last, so that locks end
			check.Must(s, s.broker.Advance(s.Context(), by))
			s.untilAtWork(2 * chunk)
		}
	}},
	// An answer whose reply is lost is sent again as it was, and a job that is gone by then counts as answered. Seen to fail
	// without: 106 decisions are recorded as undelivered that the broker has taken.
	{"replies lost", func(s *soak) { s.losesReplies(s.proxy) }},
	// The recorder's error releases jobs instead of answering them (see TestFullDiskIsWaitedOut), here and in the next three.
	{"PostgreSQL stopped", func(s *soak) {
		check.Must(s, s.postgres.Stop())
		s.veteran.is(http.StatusServiceUnavailable)
		check.Must(s, s.postgres.Restart(s.Context()))
	}},
	{"connections to PostgreSQL cut", func(s *soak) { s.happened(s.way.ResetAll(), "connections to PostgreSQL cut") }},
	// Every question to the store has a time limit. Seen to fail without: the worker waits endlessly.
	{"connections to PostgreSQL half-open", func(s *soak) {
		s.way.Set(proxy.Faults{Hole: [2]bool{true, true}})
		s.veteran.is(http.StatusServiceUnavailable)
		s.way.ResetAll()
		s.way.Set(proxy.Faults{})
	}},
	// The probe takes the locks that an append takes. Seen to fail without: behind a lock the worker calls itself ready, and takes
	// 105 jobs in eight seconds.
	{"PostgreSQL locked", func(s *soak) {
		commit := s.holdsCommits()
		s.veteran.is(http.StatusServiceUnavailable)
		commit()
	}},
	// Nothing that decides waits for the queue. Seen to fail without: where handing the relay a record waits for a queue that is
	// lost, the first jobs that come while it is away are not answered.
	{"queue away", func(s *soak) {
		check.Must(s, s.queue.Kill())
		done := s.done()
		s.submit(chunk) // or there may be none left
		check.Await(s, "claims are decided and their events wait", func() bool { return s.done() > done+chunk/2 && s.backlog() > 0 })
		s.veteran.is(http.StatusOK)
		check.Must(s, s.queue.Restart(s.Context()))
	}},
	// An event leaves the outbox only when the queue has acknowledged it. Seen to fail without: some never come.
	{"acknowledgements lost", func(s *soak) {
		s.submit(chunk)
		s.losesReplies(s.queue.way)
	}},
}

// lasts lets a fault go on for up to 3 s.
func (s *soak) lasts() { s.pass(time.Duration(s.random.Int64N(int64(3 * time.Second)))) }

// The faults come one after the other, in an order and with lengths drawn from a seed, each once before any comes again, for
// SOAK (1m). SOAK_SEED repeats a run. What only a soak sees is what faults leave behind: where each failed poll leaves a
// goroutine, 293 are left of 159.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(cmp.Or(os.Getenv("SOAK"), "1m"))
	if err != nil {
		t.Fatalf("SOAK: %v", err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SOAK_SEED"), strconv.FormatUint(rand.Uint64(), 10)), 10, 64)
	if err != nil {
		t.Fatalf("SOAK_SEED: %v", err)
	}
	s := &soak{rig: newRig(t), random: rand.New(rand.NewPCG(32, seed))}
	t.Logf("%v with SOAK_SEED=%d", length, seed)
	s.postgres, err = devpostgres.Start(t.Context())
	check.Must(s, err)
	t.Cleanup(func() { check.Must(s, s.postgres.Close()) })
	s.url, err = s.postgres.NewDatabase(t.Context())
	check.Must(s, err)
	s.way = s.before(s.postgres.Address())
	s.settings = []string{
		"RETRY_DATABASE_URL=" + strings.Replace(s.url, s.postgres.Address(), s.way.Address(), 1), s.startsQueue().setting,
	}
	s.veteran, s.other = s.warm(s.settings...), s.start(s.settings...)
	n := 0
	for began, order := time.Now(), []int(nil); time.Since(began) < length || n < len(soakFaults); n++ {
		if len(order) == 0 {
			order = s.random.Perm(len(soakFaults))
		}
		s.untilAtWork(2 * chunk)
		t.Logf("%3.0f s: %s", time.Since(began).Seconds(), soakFaults[order[0]].name)
		soakFaults[order[0]].happens(s)
		for _, w := range []*worker{s.veteran, s.other} {
			w.is(http.StatusOK)
		}
		order = order[1:]
	}
	invariants(s.rig)
	s.happened(n, "faults")
	s.happened(s.ledger.timedOut(), "locks ran out")
	s.happened(s.logged("answer_repeated"), "jobs that had been decided")
	s.happened(len(s.claims), "jobs")
}
