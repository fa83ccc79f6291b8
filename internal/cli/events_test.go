package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/check"
)

// subjects are the claims of the events in the lines, in order; - for an event of no claim.
func subjects(t *testing.T, lines string) (claims []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		claims = append(claims, subject(t, line))
	}
	return claims
}

func subject(t *testing.T, line string) string {
	t.Helper()
	var e struct{ Specversion, Subject string }
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Specversion != "1.0" {
		t.Fatalf("no CloudEvent: %s (%v)", line, err)
	}
	if e.Subject == "" {
		return "-"
	}
	return e.Subject
}

func TestTailBeginsAtTheGivenTime(t *testing.T) {
	a := archived(t, week())
	for args, want := range map[string][]string{
		"":                                    {waiting},
		"--since 3h":                          {overdue, waiting},
		"--since 1m":                          nil,
		"--claim " + permanent:                {permanent, permanent}, // a claim is shown from its beginning
		"--claim CLM-none-1 --all":            nil,
		"--claim " + waiting + " --since 10m": nil,
		"--claim " + waiting + " --since 90m": {waiting},
	} {
		got := subjects(t, a.must(t, append([]string{"events", "tail"}, strings.Fields(args)...)...))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("tail %s: %v, want %v", args, got, want)
		}
	}
	if got := subjects(t, a.must(t, "events", "tail", "--all")); len(got) != len(week()) || got[0] != accepted || got[12] != "-" {
		t.Errorf("tail --all: %v", got)
	}
}

func TestTailShowsEachEventOnce(t *testing.T) {
	const records = 2500 // more than two pages, and many at the same time
	var all []audit.Record
	for i := range records {
		r := rejected("", "2026-01-12T09:30:00Z")
		r.ClaimID, r.At = fmt.Sprintf("CLM-many-%d", i), r.At.Add(time.Duration(i/400)*time.Microsecond)
		r.Inputs[1] = byte(i / 256)
		all = append(all, r)
	}
	all = keyed(all)
	got := subjects(t, archived(t, all).must(t, "events", "tail"))
	if len(got) != records {
		t.Fatalf("%d lines for %d records", len(got), records)
	}
	for i, claim := range got {
		if want := fmt.Sprintf("CLM-many-%d", i); claim != want {
			t.Fatalf("line %d is about %s, want %s", i, claim, want)
		}
	}
}

func TestTailShowsUnpublishedEvents(t *testing.T) {
	a := archived(t, week())
	store := a.open(t)
	check.Must(t, store.Published(t.Context(), a.ids[:13]))
	closed(t, store)
	if got := fmt.Sprint(subjects(t, a.must(t, "events", "tail", "--unpublished"))); got != fmt.Sprint([]string{hostile, overdue, waiting}) {
		t.Error(got)
	}
	if got := fmt.Sprint(subjects(t, a.must(t, "events", "tail", "--unpublished", "--claim", overdue))); got != fmt.Sprint([]string{overdue}) {
		t.Error(got)
	}
}

func TestTailFollowsLateEventsUntilStopped(t *testing.T) {
	for _, claim := range []string{"", "CLM-late-1"} {
		t.Run("claim "+claim, func(t *testing.T) {
			a := archived(t, week())
			store := a.open(t)
			defer store.Close()
			set(t, a.settings...)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			r, w := io.Pipe()
			ended := make(chan int, 1)
			go func() {
				args := []string{"events", "tail", "--follow", "--claim", claim}
				ended <- cli.RunAt(ctx, func() time.Time { return today }, args, w, io.Discard)
				_ = w.Close() // it ends the reader, and never fails
			}()
			lines := bufio.NewScanner(r)
			next := func() string {
				t.Helper()
				if !lines.Scan() {
					t.Fatalf("the tail has ended: %v", lines.Err())
				}
				return subject(t, lines.Text())
			}
			add := func(n int, at string) {
				t.Helper()
				late := rejected("CLM-late-1", at)
				late.Cluster, late.JobKey = "zeebe", int64(n)
				a.add(t, store, late)
			}
			if claim == "" {
				if got := next(); got != waiting {
					t.Errorf("first %s", got)
				}
			}
			add(1, "2026-01-12T10:00:05Z")
			if got := next(); got != "CLM-late-1" {
				t.Errorf("then %s", got)
			}
			add(2, "2026-01-12T09:59:55Z") // decided before the one that is shown, stored after it
			add(3, "2026-01-12T10:00:06Z")
			for range 2 {
				if got := next(); got != "CLM-late-1" {
					t.Errorf("then %s", got)
				}
			}
			stop()
			if lines.Scan() {
				t.Errorf("shown twice, or more than there is: %s", lines.Text())
			}
			if code := <-ended; code != 0 {
				t.Errorf("exit code %d, want 0: it was stopped as asked", code)
			}
		})
	}
}
