package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/devqueue"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// queue is where the events of a row go.
type queue struct {
	rig *rig
	url string // for the worker
	// read returns all messages that the queue has taken, repeats included, those of a claim in its order.
	read func() [][]byte
}

// kafka is a Kafka in this process, and a proxy before it.
type kafka struct {
	*devqueue.Kafka
	proxy *proxy.Proxy
}

func (r *rig) startsKafka() kafka {
	r.Helper()
	address, err := process.FreeAddress()
	r.must(err)
	p, err := proxy.Start(address, 19)
	r.must(err)
	r.Cleanup(func() { r.check(p.Close()) })
	running, err := devqueue.StartKafkaBehind(address, p.Address())
	r.must(err)
	r.Cleanup(func() { r.check(running.Close()) })
	return kafka{running, p}
}

// topic is a topic of its own for a row, which the worker makes.
func (k kafka) topic(r *rig, name string) *queue {
	return r.sendsTo(k.URL()+"?topic="+name, func() (all [][]byte) {
		r.Helper()
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		records, err := k.Records(ctx, name)
		r.must(err)
		for _, record := range records {
			all = append(all, record.Value)
		}
		return all
	})
}

// rabbit is a RabbitMQ, and a proxy before it.
type rabbit struct {
	*devqueue.RabbitMQ
	proxy *proxy.Proxy
}

func (r *rig) startsRabbitMQ() rabbit {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	running, err := devqueue.StartRabbitMQ(ctx)
	r.must(err)
	r.Cleanup(func() { r.check(running.Close()) })
	p, err := proxy.Start(running.Address(), 19)
	r.must(err)
	r.Cleanup(func() { r.check(p.Close()) })
	return rabbit{running, p}
}

// behind is the server's URL by way of the proxy.
func (m rabbit) behind() string { return strings.Replace(m.URL(), m.Address(), m.proxy.Address(), 1) }

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
	return q.rig.until("the outbox is drained", func() bool { return q.rig.backlog() == 0 && w.Alive() })
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
	onBothStores(t, setup{row: 19, what: "Kafka away, then slow, then silent"}, func(r *rig) {
		kafka := r.startsKafka()
		r.oddClaims = true // there are several decisions of a claim
		q := kafka.topic(r, "away")
		w := r.start("RETRY_EVENTS_URL=" + q.url)
		r.again(20, 1)
		q.drains(w)

		// Away.
		r.must(kafka.Kill())
		began := time.Now()
		r.submit(either(200, 9000))
		r.again(20, 7)
		r.until("sendings fail", func() bool { return w.metric("retry_events_failed_total") > 0 })
		r.pass(time.Duration(either(0, 600))*time.Second - time.Since(began))
		away := time.Since(began)
		backlog := 0.0
		r.until("the metrics show the backlog", func() bool {
			backlog = w.metric("retry_outbox_pending")
			return int(backlog) >= len(r.claims)-20 && sample(w.scraped, "retry_outbox_oldest_seconds") > away.Seconds()/2
		})
		w.answersStatus("/readyz", 200) // the worker can do all that its jobs need
		r.must(kafka.Restart(r.Context()))
		drained := q.drains(w)

		// Slow.
		kafka.proxy.Set(proxy.Faults{Latency: 200 * time.Millisecond, Jitter: 200 * time.Millisecond})
		r.again(20, 2)
		r.submit(either(100, 1000))
		r.untilDone()

		// It takes what is sent and its answers are lost, so that everything is sent again.
		lost := r.losesReplies(kafka.proxy, func() { r.again(20, 2) })
		q.drains(w)
		r.until("the metrics show that all is published", func() bool {
			return w.metric("retry_outbox_pending") == 0 && sample(w.scraped, "retry_outbox_oldest_seconds") == 0
		})
		r.until("the heads of the trail are in the queue, where a check finds them by itself", func() bool {
			command := r.command("audit", "verify", "--json")
			command.Env = append(command.Env, "RETRY_EVENTS_URL="+q.url)
			said, err := command.Output()
			r.must(err)
			return strings.Contains(string(said), `"queueHeads": `) && !strings.Contains(string(said), `"queueHeads": 0`)
		})
		invariants(r)
		r.happened(int(backlog), fmt.Sprintf("events waited (%.0f s, drained in %.1f s)", away.Seconds(), drained.Seconds()))
		r.happened(int(kafka.proxy.Counts().Delayed), "delays")
		r.happened(lost, "bytes of acknowledgements lost")
	})
}

// Row 19, with RabbitMQ, which is killed while it takes events, and whose confirmations are lost. The guards are the
// publisher's wait for confirmations, that its messages are persistent, that an event is sent until it is confirmed, and that its
// ID comes from its record. Seen to fail without: without either of the first two, events that had left the outbox were not in
// the queue after the kill; where events leave the outbox unacknowledged, none waits; where each sending makes a new ID, the
// events in the queue belong to no record.
func TestEventsWaitForRabbitMQ(t *testing.T) {
	r := newRig(t, setup{row: 19, what: "RabbitMQ killed, then silent", store: inSQLite})
	r.oddClaims = true
	rabbit := r.startsRabbitMQ()
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
	q.drains(w)
	losses := 0
	for range either(3, 30) {
		r.losesReplies(rabbit.proxy, func() {
			r.submit(50)
			r.untilDone()
		})
		losses++
		q.drains(w)
	}
	invariants(r)
	r.happened(int(backlog), "events waited")
	r.happened(losses, "times confirmations were lost")
	r.happened(r.repeated, "events came again")
}

// messages takes all messages out of a queue.
func (m rabbit) messages(r *rig, name string) (all [][]byte) {
	r.Helper()
	conn, err := amqp.Dial(m.URL())
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
