package audittest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// keep notes a retention and compares the floor.
func (s *subject) keep(t *testing.T, months, want int) {
	t.Helper()
	floor, err := s.Keep(t.Context(), months)
	check.Must(t, err)
	same(t, fmt.Sprintf("the floor after %d months", months), floor, want)
	if floor, err = s.Floor(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "the floor that is read", floor, want)
}

// announce announces what was decided before a cutoff and returns how long ago that was first done.
func (s *subject) announce(t *testing.T, cutoff time.Time) time.Duration {
	t.Helper()
	ago, err := s.Note(t.Context(), "announced "+cutoff.Format(time.DateOnly))
	check.Must(t, err)
	return ago
}

// announcedAgo makes an announcement an older one.
func (s *subject) announcedAgo(t *testing.T, cutoff time.Time, ago time.Duration) {
	t.Helper()
	s.database.Tamper(t, fmt.Sprintf("UPDATE meta SET value = '%s' WHERE name = 'announced %s'",
		time.Now().UTC().Add(-ago).Format(time.RFC3339), cutoff.Format(time.DateOnly)))
}

// about reports whether a duration is another one, but for what a test takes.
func about(got, want time.Duration) bool {
	return got >= want-2*time.Second && got < want+5*time.Minute
}

var floorFacts = []fact{
	{"the floor is the longest retention that a worker was set to", func(t *testing.T, s *subject) {
		s.keep(t, 60, 60)
		s.keep(t, 72, 72)
		s.keep(t, 5, 72)
		s.reopen(t)
		s.keep(t, 60, 72)
	}},
	{"a record younger than the floor is never removed", func(t *testing.T, s *subject) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		old, young := Record(0), Record(1)
		old.At, young.At = now.AddDate(0, -62, 0), now.AddDate(0, -58, 0)
		s.settle(t, IDs(s.append(t, old, young)))
		s.keep(t, 60, 60)
		short := audit.RetentionAt(now, 5, true)
		tombstones, err := audit.Retain(t.Context(), s, s.secret, short)
		if err == nil || !strings.Contains(err.Error(), "RETRY_AUDIT_RETENTION") || !strings.Contains(err.Error(), "worker audit purge --shorten") {
			t.Errorf("%v, want a refusal that says what to do", err)
		}
		same(t, "how many runs went", len(tombstones), 1) // what is old enough goes all the same
		s.mustVerify(t, 1)
		s.keep(t, 600, 600)
		if _, err := audit.Retain(t.Context(), s, s.secret, short); err == nil {
			t.Error("removed what is younger than 50 years")
		}
		s.mustVerify(t, 1)
	}},
	{"a store without a floor keeps five years", func(t *testing.T, s *subject) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		young := Record(0)
		young.At = now.AddDate(0, -58, 0)
		s.settle(t, IDs(s.append(t, young)))
		if _, err := audit.Retain(t.Context(), s, s.secret, audit.RetentionAt(now, 5, true)); err == nil {
			t.Error("removed")
		}
		s.mustVerify(t, 1)
	}},
	{"what is to be removed is announced once for each month", func(t *testing.T, s *subject) {
		november, december := time.Date(2021, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2021, 12, 1, 0, 0, 0, 0, time.UTC)
		if ago := s.announce(t, november); !about(ago, 0) {
			t.Errorf("announced now, and said to be %v ago", ago)
		}
		for _, ago := range []time.Duration{30 * time.Hour, -30 * time.Hour} { // the other one after the clock was put back
			s.announcedAgo(t, november, ago)
			s.reopen(t)
			if got := s.announce(t, november); !about(got, ago) {
				t.Errorf("announced %v ago, and said to be %v ago", ago, got)
			}
		}
		if ago := s.announce(t, december); !about(ago, 0) {
			t.Errorf("the next month was announced %v ago", ago)
		}
	}},
	{"a clock that jumped years ahead with the broker's is for a person to judge", func(t *testing.T, s *subject) {
		trust := func(host time.Time, want string) {
			t.Helper()
			err := audit.TrustClock(t.Context(), s, s.secret.Public(), host, host)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("by a clock at %v: %v, want %q", host, err, want)
			}
		}
		confirmed := func(want string) {
			t.Helper()
			noted, err := s.Noted(t.Context(), "confirmed ")
			check.Must(t, err)
			same(t, "confirmed", noted, want)
		}
		now := time.Now().UTC()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		trust(now, "") // nothing is there that could be removed
		confirmed("")
		s.append(t, Record(0))
		for range 2 {
			check.Must(t, audit.ConfirmByHead(t.Context(), s, s.secret.Public()))
			confirmed(month.Format("confirmed 2006-01"))
		}
		trust(now.AddDate(5, 0, 0), "last found right")
		s.reopen(t)
		trust(now.AddDate(5, 0, 0), "last found right") // not by trying again
		confirmed(month.Format("confirmed 2006-01"))
		trust(month.AddDate(0, 3, 0), "")
		confirmed(month.AddDate(0, 3, 0).Format("confirmed 2006-01"))
		trust(month.AddDate(0, 6, 0), "")
		trust(now.AddDate(5, 0, 0), "last found right")
		if err := audit.Confirm(t.Context(), s, now.AddDate(5, 0, 0)); err != nil { // a person says so
			t.Fatal(err)
		}
		trust(now.AddDate(5, 0, 0), "")
	}},
	{"what is announced waits for 20 hours", func(t *testing.T, s *subject) {
		s.settle(t, IDs(s.append(t, Records(0, 10)...)))
		now := time.Now().UTC()
		r := audit.Retention{Now: now, Cutoff: minute(5), Publish: true}
		holds := func(r audit.Retention, records int64, wait time.Duration) {
			t.Helper()
			tombstones, left, err := audit.Announce(t.Context(), s, r)
			var n int64
			for _, tombstone := range tombstones {
				n += tombstone.Through - tombstone.From + 1
			}
			if err != nil || n != records || !about(left, wait) && !about(wait, left) {
				t.Errorf("%d records are to go in %v, %v; want %d in %v", n, left, err, records, wait)
			}
		}
		holds(audit.Retention{Now: now, Cutoff: minute(0), Publish: true}, 0, 0)
		holds(r, 5, 20*time.Hour)
		for ago, wait := range map[time.Duration]time.Duration{
			19 * time.Hour: time.Hour, -time.Hour: 20 * time.Hour,
		} {
			s.announcedAgo(t, r.Cutoff, ago)
			holds(r, 5, wait)
		}
		s.announcedAgo(t, r.Cutoff, 20*time.Hour+time.Second)
		holds(r, 0, 0)
		s.mustVerify(t, 10)
	}},
}
