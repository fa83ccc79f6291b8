package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/devqueue"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// server is a queue, and a proxy before it.
type server struct {
	*devqueue.Server
	proxy *proxy.Proxy
}

// startsServer starts a queue for the row.
func (r *rig) startsServer(start func(context.Context) (*devqueue.Server, error)) server {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	running, err := start(ctx)
	r.must(err)
	r.Cleanup(func() { r.check(running.Close()) })
	p, err := proxy.Start(running.Address(), 19)
	r.must(err)
	r.Cleanup(func() { r.check(p.Close()) })
	return server{running, p}
}

func (r *rig) startsNATS() server {
	r.Helper()
	return r.startsServer(devqueue.StartNATS)
}

// behind is the server's URL by way of the proxy.
func (s server) behind() string { return strings.Replace(s.URL(), s.Address(), s.proxy.Address(), 1) }

// queue is where the events of a row go.
type queue struct {
	rig *rig
	url string // for the worker
	// read returns all messages that the queue has taken, in its order, repeats included.
	read func() [][]byte
}

// stream is a stream of its own for a row, which the worker makes.
func (s server) stream(r *rig, name string) *queue {
	read := func() (all [][]byte) {
		r.Helper()
		stream, err := s.jetStream(r).Stream(r.Context(), name)
		r.must(err)
		consumer, err := stream.OrderedConsumer(r.Context(), jetstream.OrderedConsumerConfig{})
		r.must(err)
		for n := int(stream.CachedInfo().State.Msgs); len(all) < n; {
			message, err := consumer.Next(jetstream.FetchMaxWait(patience))
			r.must(err)
			all = append(all, message.Data())
		}
		return all
	}
	return r.sendsTo(s.behind()+"?stream="+name+"&subject="+name, read)
}

// jetStream is a connection to the server, past the proxy.
func (s server) jetStream(r *rig) jetstream.JetStream {
	r.Helper()
	conn, err := natsclient.Connect(s.URL())
	r.must(err)
	r.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	r.must(err)
	return js
}

// sendsTo names the queue of a row.
func (r *rig) sendsTo(url string, read func() [][]byte) *queue {
	r.queue = &queue{r, url, read}
	return r.queue
}

// seen is one event as a consumer sees it.
type seen struct{ ID, Type, Subject string }

// hasAll holds I4: the events in the queue are those of the records, each at least once, and for each claim in the order
// of its records, which is given by event. It returns how many came more than once.
func (q *queue) hasAll(order map[string]int64) (repeated int) {
	r := q.rig
	r.Helper()
	got, latest := map[string]bool{}, map[string]int64{}
	for _, message := range q.read() {
		var e seen
		r.must(json.Unmarshal(message, &e))
		if e.Type == events.TypeAuditHead {
			continue // it is of no record
		}
		id, known := order[e.ID]
		switch {
		case !known:
			r.Errorf("I4: event %s of %s belongs to no record", e.ID, e.Subject)
		case got[e.ID]:
			repeated++
		case e.Subject != "" && id < latest[e.Subject]:
			r.Errorf("I4: events of %s came in the wrong order", e.Subject)
		}
		if got[e.ID] = true; id > latest[e.Subject] {
			latest[e.Subject] = id
		}
	}
	for id, record := range order {
		if !got[id] {
			r.Errorf("I4: the event of record %d was never published", record)
		}
	}
	return repeated
}

// drains waits until nothing is left to publish.
func (q *queue) drains(w *worker) time.Duration {
	q.rig.Helper()
	return q.rig.within(patience, "the outbox is drained", func() bool { return q.rig.backlog() == 0 && w.Alive() })
}

// again submits the next failure of each of some claims, so many times: several records of one claim, one after the other.
func (r *rig) again(claims, times int) {
	r.Helper()
	for range times {
		for i := range claims {
			c := claim{ID: fmt.Sprintf("CLM-%s-again-%d", r.name, i), Error: passing[i%len(passing)], kind: audit.KindRetry}
			r.must(r.create(oneTask, c))
			r.mu.Lock()
			r.claims[fmt.Sprint(c.ID, "#", len(r.claims))] = c
			r.mu.Unlock()
		}
		r.untilDone()
	}
}

// Row 19. The guards: an event leaves the outbox only when the queue has acknowledged it, an event that has not been
// holds back those of its claim (events.Relay), and nothing that decides waits for the queue. For the first see row 14. Seen
// to fail without: where an event holds back no other, those of a claim come in the wrong order (on one store of two: it depends on
// whose turn it is when the queue is back); where handing the relay a record waits for a queue that is lost, the first jobs that
// come while it is away are not answered.
func TestEventsWaitForTheirQueueAndDecisionsDoNot(t *testing.T) {
	onBothStores(t, setup{row: 19, what: "NATS away, then slow, then silent"}, func(r *rig) {
		nats := r.startsNATS()
		r.oddClaims = true // there are several decisions of a claim
		q := nats.stream(r, "away")
		w := r.start("RETRY_EVENTS_URL=" + q.url)
		r.again(20, 1)
		q.drains(w)

		// Away.
		r.must(nats.Kill())
		began := time.Now()
		r.submit(either(200, 9000))
		r.again(20, 7)
		r.pass(time.Duration(either(5, 600))*time.Second - time.Since(began))
		away := time.Since(began)
		backlog := 0.0
		r.until("the metrics show the backlog", func() bool {
			backlog = w.metric("retry_outbox_pending")
			return int(backlog) >= len(r.claims)-20 && sample(w.scraped, "retry_outbox_oldest_seconds") > away.Seconds()/2
		})
		w.answersStatus("/readyz", 200) // the worker can do all that its jobs need
		r.must(nats.Restart(r.Context()))
		drained := q.drains(w)

		// Slow.
		nats.proxy.Set(proxy.Faults{Latency: 200 * time.Millisecond, Jitter: 200 * time.Millisecond})
		r.again(20, 2)
		r.submit(either(100, 1000))
		r.untilDone()

		// It takes what is sent and its answers are lost, so that everything is sent again.
		r.losesReplies(nats.proxy, func() { r.again(20, 2) })
		q.drains(w)
		r.until("the metrics show that all is published", func() bool {
			return w.metric("retry_outbox_pending") == 0 && sample(w.scraped, "retry_outbox_oldest_seconds") == 0
		})
		failed := w.metric("retry_events_failed_total")
		invariants(r)
		r.happened(int(backlog), fmt.Sprintf("events waited (%.0f s, drained in %.1f s)", away.Seconds(), drained.Seconds()))
		r.happened(int(nats.proxy.Counts().Delayed), "delays")
		r.happened(int(failed), "events sent again")
	})
}

// Row 19, with a stream that does not drop repeats itself: a consumer gets them, and knows them by their ID. The guards are
// that an event is sent until it is acknowledged, and that its ID comes from its record. Seen to fail without: where an event
// leaves the outbox unacknowledged, three events of the 200 never came and none came again; where each sending makes a new ID,
// the events in the queue belong to no record.
func TestRepeatedEventHasTheIDOfTheFirst(t *testing.T) {
	r := newRig(t, setup{row: 19, what: "lost acknowledgements", store: inSQLite})
	nats := r.startsNATS()
	q := nats.stream(r, "repeats")
	nats.makesStream(r, "repeats")
	q.url += "&create=false"
	w := r.warm(50, "RETRY_EVENTS_URL="+q.url)
	q.drains(w)
	losses := 0
	for range either(3, 30) {
		r.losesReplies(nats.proxy, func() {
			r.submit(50)
			r.untilDone()
		})
		losses++
		q.drains(w)
	}
	invariants(r)
	r.until("the heads of the trail are in the queue, where a check finds them by itself", func() bool {
		command := r.command("audit", "verify", "--json")
		command.Env = append(command.Env, "RETRY_EVENTS_URL="+q.url)
		said, err := command.Output()
		r.must(err)
		return strings.Contains(string(said), `"queueHeads": `) && !strings.Contains(string(said), `"queueHeads": 0`)
	})
	r.happened(losses, "times acknowledgements were lost")
	r.happened(r.repeated, "events came again")
}

// makesStream makes a stream that knows repeats for a tenth of a second only.
func (s server) makesStream(r *rig, name string) {
	r.Helper()
	_, err := s.jetStream(r).CreateStream(r.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Duplicates: 100 * time.Millisecond})
	r.must(err)
}

// Row 19, with RabbitMQ, which is killed while it takes events. The guards are the publisher's wait for confirmations, and
// that its messages are persistent. Seen to fail without: without either, events that had left the outbox were not in the
// queue after the kill; where events leave the outbox unacknowledged, none waits.
func TestEventsWaitForRabbitMQ(t *testing.T) {
	r := newRig(t, setup{row: 19, what: "RabbitMQ killed", store: inSQLite})
	r.oddClaims = true
	rabbit := r.startsServer(devqueue.StartRabbitMQ)
	q := r.sendsTo(rabbit.behind()+"/?exchange=chaos&queue=chaos", func() [][]byte { return rabbit.messages(r, "chaos") })
	w := r.start("RETRY_EVENTS_URL=" + q.url)
	r.again(20, 1)
	q.drains(w)
	// The declaration of a durable queue is not flushed at once, and a kill would lose the queue with all it has.
	r.must(rabbit.Restart(t.Context()))
	published := w.metric("retry_events_published_total")
	submitted := make(chan error, 1)
	go func() { submitted <- r.trySubmit(either(200, 2000)) }()
	r.until("events are published", func() bool { return w.metric("retry_events_published_total") > published })
	r.must(rabbit.Kill())
	r.must(<-submitted)
	r.again(20, 1)
	backlog := 0.0
	r.until("the metrics show the backlog", func() bool {
		backlog = w.metric("retry_outbox_pending")
		return backlog >= 20
	})
	r.must(rabbit.Restart(t.Context()))
	invariants(r)
	r.happened(int(backlog), "events waited")
}

// messages takes all messages out of a queue.
func (s server) messages(r *rig, name string) (all [][]byte) {
	r.Helper()
	conn, err := amqp.Dial(s.URL())
	r.must(err)
	defer func() { r.check(conn.Close()) }()
	channel, err := conn.Channel()
	r.must(err)
	for {
		message, more, err := channel.Get(name, true)
		r.must(err)
		if !more {
			return all
		}
		all = append(all, message.Body)
	}
}
