package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/testing/devqueue"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

func TestQueueHeadsRevealARolledBackStore(t *testing.T) {
	a, s := archived(t, week()), eventstest.Start(t, devqueue.StartNATS)
	a.settings = append(a.settings, "RETRY_EVENTS_URL="+s.URL())
	a.prints(t, []string{"audit", "verify"}, "The queue holds 0 heads of this key.")
	publisher := s.With(t, "")
	store := a.open(t)
	heads := headsOf(t, store)
	closed(t, store)
	other, err := audit.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	publish := func(secret *audit.Secret, heads ...audit.Head) events.Event {
		t.Helper()
		event, err := events.FromHeads("zeebe", secret.Public(), heads)
		if err != nil {
			t.Fatal(err)
		}
		eventstest.Await(t, "it is published", func() bool { return publisher.Publish(t.Context(), []events.Event{event})[0] == nil })
		return event
	}
	publish(a.secret, heads...)
	publish(other, other.Head(audit.ChainAt(1, 99, audit.Hash{}), today)) // another store on the same queue
	a.prints(t, []string{"audit", "verify"}, "1 known head agreed with it.", "The queue holds 1 head of this key.")

	event := publish(a.secret, a.secret.Head(audit.ChainAt(1, 20, heads[0].Hash), today))
	file := filepath.Join(t.TempDir(), "events.jsonl")
	write(t, file, string(event.JSON)+"\n")
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--heads", file}} {
		a.fails(t, 1, "record 17: removed: the chain had 20 records", args...)
	}
	// A person has restored a backup, and the key goes on without the four.
	given := audit.State{At: today, Heads: heads, GivenUp: []audit.GivenUp{{At: today.Add(time.Hour), Why: audit.Restored, From: heads}}}
	saveState(t, a.secret, a.path+".key.state", given)
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--heads", file}} {
		a.prints(t, args, "1 known head not compared: a person has given up those records.", "(restored)")
	}
}

func TestAQueueThatCannotBeReadIsAWarning(t *testing.T) {
	a := archived(t, week())
	settings := a.settings
	for url, want := range map[string]string{
		"amqp://user:secret@127.0.0.1:1/": "RabbitMQ cannot be read without taking the events",
		"kafka://127.0.0.1:1":             "connect to Kafka",
		"nats://127.0.0.1:1":              "NATS is not connected",
	} {
		a.settings = append(slices.Clip(settings), "RETRY_EVENTS_URL="+url)
		var got struct {
			OK       bool
			Warnings []string
		}
		stdout, stderr := a.decodes(t, 0, &got, "audit", "verify")
		if !got.OK || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], want) ||
			!strings.Contains(stderr, "the heads in the queue were not compared") || strings.Contains(stderr+stdout, "secret") {
			t.Errorf("%s: output %s, complaint %q", url, stdout, stderr)
		}
	}
}
