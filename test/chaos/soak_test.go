package chaos

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

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
	{"worker killed", func(s *soak) {
		s.other.kills()
		s.other = s.start(s.settings...)
	}},
	{"worker stopped", func(s *soak) {
		s.other.stops()
		s.other = s.start(s.settings...)
	}},
	{"broker killed", func(s *soak) {
		s.must(s.broker.Kill())
		s.lasts()
		s.must(s.broker.Restart())
		s.broker.Conn.ResetConnectBackoff()
	}},
	{"gateway unreachable", func(s *soak) {
		s.proxy.Set(proxy.Faults{Refuse: true})
		s.proxy.ResetAll()
		s.veteran.answersStatus("/readyz", http.StatusServiceUnavailable)
		s.proxy.Set(proxy.Faults{})
	}},
	{"poll lost", func(s *soak) { s.losesPolls() }},
	{"reply cut", func(s *soak) {
		cut := s.proxy.Did().Cut[proxy.ToClient]
		s.proxy.Set(proxy.Faults{CutAfter: [2]int{proxy.ToClient: 1 + s.random.IntN(2000)}})
		s.proxy.ResetAll() // bytes are counted from the beginning of a connection
		s.until("a reply is cut", func() bool { return s.proxy.Did().Cut[proxy.ToClient] > cut })
		s.proxy.Set(proxy.Faults{})
	}},
	{"replies swallowed", func(s *soak) { s.losesReplies(s.proxy) }},
	{"PostgreSQL stopped", func(s *soak) {
		s.must(s.postgres.Stop())
		s.veteran.answersStatus("/readyz", http.StatusServiceUnavailable)
		s.must(s.postgres.Restart(s.Context()))
	}},
	{"connections to PostgreSQL cut", func(s *soak) { s.happened(s.way.ResetAll(), "connections to PostgreSQL cut") }},
	{"queue away", func(s *soak) {
		s.must(s.queue.Kill())
		s.until("events wait", func() bool { return s.backlog() > 0 })
		s.lasts()
		s.must(s.queue.Restart(s.Context()))
	}},
}

// lasts lets a fault go on for up to 3 s.
func (s *soak) lasts() { s.pass(time.Duration(s.random.Int64N(int64(3 * time.Second)))) }

// The faults of the other tests come one after the other, in an order and with lengths drawn from a seed, each once before
// any comes again, for SOAK (1m). SOAK_SEED repeats a run. The guards are those of the other tests; what only a soak sees is
// what faults leave behind. Seen to fail without: where each failed poll leaves a goroutine, 293 are left of 159.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(cmp.Or(os.Getenv("SOAK"), "1m"))
	if err != nil {
		t.Fatalf("SOAK: %v", err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SOAK_SEED"), strconv.FormatUint(rand.Uint64(), 10)), 10, 64)
	if err != nil {
		t.Fatalf("SOAK_SEED: %v", err)
	}
	s := &soak{rig: newRig(t, inPostgres, true, ""), random: rand.New(rand.NewPCG(32, seed))}
	t.Logf("%v with SOAK_SEED=%d", length, seed)
	server, way, setting := s.ownPostgres()
	s.postgres, s.way, s.settings = server, way, []string{setting, s.startsQueue().setting}
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
			if !w.Alive() {
				t.Fatalf("worker %d ended: %v", w.PID(), w.Err())
			}
			w.answersStatus("/readyz", http.StatusOK)
		}
		order = order[1:]
	}
	invariants(s.rig)
	s.happened(n, "faults")
	s.happened(len(s.claims), "jobs")
}
