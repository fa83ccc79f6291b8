//go:build soak

package chaos

import (
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/test/chaos/proxy"
)

// fault is one kind of what is done in a soak. happens returns when the fault is over, and says by a count that it was.
type fault struct {
	row     int
	name    string
	happens func(*soak) (evidence int, what string)
}

// soakFaults are all of them, by the rows of the matrix that they are from.
var soakFaults = []fault{
	{1, "worker killed", (*soak).workerIsKilled},
	{2, "worker stopped", (*soak).workerIsStopped},
	{3, "broker killed", (*soak).brokerIsKilled},
	{4, "gateway unreachable", (*soak).gatewayIsUnreachable},
	{5, "black hole in a poll", (*soak).pollsGoIntoABlackHole},
	{6, "reset within a reply", (*soak).repliesAreCut},
	{7, "replies swallowed", (*soak).repliesAreSwallowed},
	{8, "slow network", (*soak).networkIsSlow},
	{9, "back-pressure", (*soak).brokerHoldsOff},
	{18, "PostgreSQL stopped", (*soak).postgresIsStopped},
	{18, "PostgreSQL killed", (*soak).postgresIsKilled},
	{18, "connections to PostgreSQL cut", (*soak).postgresIsCutOff},
	{19, "queue away", (*soak).queueIsAway},
	{19, "acknowledgements lost", (*soak).acknowledgementsAreLost},
}

// atWork gives the workers more than they can do at once, and returns when they have begun.
func (s *soak) atWork() {
	s.Helper()
	s.submit(soakBurst)
	completed := s.jobEvents("completed")
	s.until("the workers are at work", func() bool { return s.jobEvents("completed") > completed })
}

// lasts lets a fault go on for 1 to 5 s, in the long form for up to 30 s.
func (s *soak) lasts() {
	most := 5 * time.Second
	if long {
		most = 30 * time.Second
	}
	s.pass(time.Second + time.Duration(s.random.Int64N(int64(most-time.Second))))
}

func (s *soak) workerIsKilled() (int, string) {
	s.atWork()
	s.other.kills()
	s.other = s.start(s.settings...)
	return 1, "kills"
}

func (s *soak) workerIsStopped() (int, string) {
	s.atWork()
	s.other.stops()
	s.other = s.start(s.settings...)
	return 1, "stops"
}

func (s *soak) brokerIsKilled() (int, string) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	s.submit(2 * chunk) // so that some are left for afterwards
	s.must(s.broker.Kill())
	s.gatewayIs(0)
	s.must(s.broker.Restart())
	s.broker.Conn.ResetConnectBackoff()
	// A broker that calls itself ready goes through its log first. What is sent to it until then may be done or not.
	s.until("the workers work again", func() bool { return s.jobEvents("completed") > 0 || s.open() == 0 })
	return 1, "kills"
}

// gatewayIs waits until the veteran's metrics say whether the gateway is there.
func (s *soak) gatewayIs(up float64) {
	s.Helper()
	s.until("the metrics show whether the gateway is there", func() bool { return s.veteran.metric("retry_gateway_up") == up })
}

func (s *soak) gatewayIsUnreachable() (int, string) {
	before := s.proxy.Counts().Refused
	s.proxy.Set(proxy.Faults{Refuse: true})
	s.proxy.ResetAll()
	s.gatewayIs(0)
	s.lasts()
	s.proxy.Set(proxy.Faults{})
	return int(s.proxy.Counts().Refused - before), "dials refused"
}

func (s *soak) pollsGoIntoABlackHole() (int, string) {
	before := s.proxy.Counts().BlackHoled[proxy.ToClient]
	s.losesPolls(func() {})
	s.lasts()
	s.leavesBlackHole()
	return int(s.proxy.Counts().BlackHoled[proxy.ToClient] - before), "connections half-open"
}

func (s *soak) repliesAreCut() (int, string) {
	before := s.proxy.Counts().Cut[proxy.ToClient]
	for range 5 {
		s.cutsReply(1 + s.random.Int64N(2000))
	}
	return int(s.proxy.Counts().Cut[proxy.ToClient] - before), "connections cut"
}

func (s *soak) repliesAreSwallowed() (int, string) {
	s.atWork()
	return s.losesReplies(s.proxy, func() {}), "bytes swallowed"
}

func (s *soak) networkIsSlow() (int, string) {
	before := s.proxy.Counts()
	s.proxy.Set(slowNetwork)
	s.atWork()
	s.lasts()
	s.proxy.Set(proxy.Faults{})
	return int(s.proxy.Counts().Delayed - before.Delayed), "pieces of data delayed"
}

func (s *soak) brokerHoldsOff() (int, string) {
	before := s.dropped()
	for s.dropped() == before {
		var flood errgroup.Group
		for range 8 {
			flood.Go(func() error { return s.trySubmit(chunkSingle) })
		}
		s.must(flood.Wait())
	}
	return s.dropped() - before, "requests dropped"
}

func (s *soak) postgresIsStopped() (int, string) { return s.postgresIsAway(s.postgres.Stop) }
func (s *soak) postgresIsKilled() (int, string)  { return s.postgresIsAway(s.postgres.Kill) }

func (s *soak) postgresIsAway(end func() error) (int, string) {
	s.atWork()
	s.must(end())
	s.veteran.answersStatus("/readyz", http.StatusServiceUnavailable)
	s.lasts()
	s.must(s.postgres.Restart(s.Context()))
	return 1, "times away"
}

func (s *soak) postgresIsCutOff() (int, string) {
	resets := 0
	for range 5 {
		s.atWork()
		resets += s.way.ResetAll()
	}
	return resets, "connections reset"
}

func (s *soak) queueIsAway() (int, string) {
	s.must(s.kafka.Kill())
	waiting := 0.0
	s.until("events wait", func() bool { waiting = s.veteran.metric("retry_outbox_pending"); return waiting > 0 })
	s.lasts()
	waiting = s.veteran.metric("retry_outbox_pending")
	s.must(s.kafka.Restart(s.Context()))
	return int(waiting), "events waited"
}

func (s *soak) acknowledgementsAreLost() (int, string) {
	return s.losesReplies(s.kafka.proxy, func() {}), "bytes of acknowledgements lost"
}
